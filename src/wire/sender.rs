//! The half of a connection that sends.

use std::fmt;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;

use super::cancel::CancelToken;
use super::error::SendError;
use super::receiver::Goodbye;
use super::stream::WriteHalf;

/// The longest message PostgreSQL accepts is shorter than this: 1 GiB.
const MAX_MESSAGE: usize = 1 << 30;

/// The half of a connection that sends.
///
/// Dropping it closes the connection without a goodbye, as a client does that crashes or loses its
/// network: the [`Receiver`](super::Receiver), when it is next polled, gives
/// [`Closing::Client`](super::Closing::Client) and lets go of the socket.
///
/// A call that is dropped half-way has sent its message to the end before the next call's message
/// begins, so the stream never goes out of step; whether the server saw it all is not known.
pub struct Sender {
    stream: WriteHalf,
    pub(super) outgoing: BytesMut,
    receiver: oneshot::Sender<Goodbye>,
    cancel: CancelToken,
}

impl Sender {
    pub(super) fn new(
        stream: WriteHalf,
        receiver: oneshot::Sender<Goodbye>,
        cancel: CancelToken,
    ) -> Self {
        Self {
            stream,
            outgoing: BytesMut::new(),
            receiver,
            cancel,
        }
    }

    /// The server's process that serves this connection.
    #[must_use]
    pub const fn pid(&self) -> i32 {
        self.cancel.pid()
    }

    /// What cancels this connection's running statement.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Sends SQL as one simple query.
    ///
    /// # Errors
    ///
    /// When the SQL holds a NUL byte or is longer than the protocol allows (nothing is sent then),
    /// and when the connection is gone.
    pub async fn query(&mut self, sql: &str) -> Result<(), SendError> {
        refuse_nul(sql)?;
        refuse_length(sql.len())?;
        frontend::query(sql, &mut self.outgoing).map_err(SendError::Io)?;
        self.flush().await
    }

    /// Sends a piece of the data that [`Answer::CopyIn`](crate::transcript::Answer::CopyIn) asks
    /// for.
    ///
    /// # Errors
    ///
    /// When the piece is longer than the protocol allows, and when the connection is gone.
    pub async fn copy_data(&mut self, data: &[u8]) -> Result<(), SendError> {
        refuse_length(data.len())?;
        frontend::CopyData::new(data)
            .map_err(SendError::Io)?
            .write(&mut self.outgoing);
        self.flush().await
    }

    /// Ends the data of a COPY.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub async fn copy_done(&mut self) -> Result<(), SendError> {
        frontend::copy_done(&mut self.outgoing);
        self.flush().await
    }

    /// Gives up a COPY that asks for data: the server answers with an error that quotes `reason`.
    ///
    /// # Errors
    ///
    /// When the reason holds a NUL byte, and when the connection is gone.
    pub async fn copy_fail(&mut self, reason: &str) -> Result<(), SendError> {
        refuse_nul(reason)?;
        refuse_length(reason.len())?;
        frontend::copy_fail(reason, &mut self.outgoing).map_err(SendError::Io)?;
        self.flush().await
    }

    /// Says goodbye, as a client does that quits. The server then ends the connection, which the
    /// receiver gives as [`Closing::Server`](super::Closing::Server).
    ///
    /// # Errors
    ///
    /// When the connection is already gone.
    pub async fn terminate(mut self) -> Result<(), SendError> {
        frontend::terminate(&mut self.outgoing);
        let sent = self.flush().await;
        // The receiver may be gone; there is nobody to tell then.
        let _ = self.receiver.send(Goodbye);
        sent
    }

    pub(super) async fn flush(&mut self) -> Result<(), SendError> {
        self.stream
            .write_all_buf(&mut self.outgoing)
            .await
            .map_err(SendError::Io)?;
        self.stream.flush().await.map_err(SendError::Io)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

pub(super) fn refuse_nul(text: &str) -> Result<(), SendError> {
    match text.find('\0') {
        Some(offset) => Err(SendError::NulByte { offset }),
        None => Ok(()),
    }
}

pub(super) const fn refuse_length(length: usize) -> Result<(), SendError> {
    if length > MAX_MESSAGE - 16 {
        return Err(SendError::TooLong { length });
    }
    Ok(())
}
