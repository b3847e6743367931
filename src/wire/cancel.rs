//! Cancel requests.

use std::fmt;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::error::{CancelError, ConnectErrorKind};
use super::stream;
use crate::server::{Address, Tls};

/// What cancels the statement that a connection runs, from anywhere and at any time.
#[derive(Clone, PartialEq, Eq)]
pub struct CancelToken {
    address: Address,
    tls: Tls,
    pid: i32,
    key: i32,
}

impl CancelToken {
    pub(super) const fn new(address: Address, tls: Tls, pid: i32, key: i32) -> Self {
        Self {
            address,
            tls,
            pid,
            key,
        }
    }

    /// The server's process that serves the connection.
    #[must_use]
    pub const fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks the server, over a connection of its own, to interrupt what the backend runs. It is
    /// back when the server has dealt with the request; whether the request found a statement to
    /// interrupt shows only in that statement's answer.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached.
    pub async fn cancel(&self) -> Result<(), CancelError> {
        self.request().await.map_err(|kind| CancelError {
            pid: self.pid,
            kind,
        })
    }

    async fn request(&self) -> Result<(), ConnectErrorKind> {
        let (mut read, mut write) = stream::open(&self.address, &self.tls).await?;
        let mut request = BytesMut::new();
        frontend::cancel_request(self.pid, self.key, &mut request);
        write
            .write_all(&request)
            .await
            .map_err(ConnectErrorKind::Io)?;
        write.flush().await.map_err(ConnectErrorKind::Io)?;
        // The server answers nothing; it closes the connection once the signal is on its way. How
        // it closes does not matter.
        let _ = read.read(&mut [0; 1]).await;
        Ok(())
    }
}

impl fmt::Debug for CancelToken {
    /// Leaves the key out: who knows it can cancel.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("address", &self.address)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
