//! A byte stream to a server, whatever carries it.

use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::error::ConnectErrorKind;
use crate::server::Address;

/// The half that is read. The stream is closed when both halves are gone.
pub(super) type ReadHalf = Box<dyn AsyncRead + Send + Sync + Unpin>;
/// The half that is written. Dropping it tells the server that nothing more will come.
pub(super) type WriteHalf = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// Opens a stream.
pub(super) async fn open(address: &Address) -> Result<(ReadHalf, WriteHalf), ConnectErrorKind> {
    match address {
        Address::Unix { directory, port } => open_unix(&socket(directory, *port)).await,
        Address::Tcp { host, port } => {
            let stream = TcpStream::connect((host.as_str(), *port))
                .await
                .map_err(ConnectErrorKind::Io)?;
            // A statement is one small packet that must not wait for the answer to another.
            stream.set_nodelay(true).map_err(ConnectErrorKind::Io)?;
            let (read, write) = stream.into_split();
            Ok((Box::new(read), Box::new(write)))
        }
    }
}

#[cfg(unix)]
async fn open_unix(socket: &Path) -> Result<(ReadHalf, WriteHalf), ConnectErrorKind> {
    let stream = tokio::net::UnixStream::connect(socket)
        .await
        .map_err(ConnectErrorKind::Io)?;
    let (read, write) = stream.into_split();
    Ok((Box::new(read), Box::new(write)))
}

#[cfg(not(unix))]
async fn open_unix(_socket: &Path) -> Result<(ReadHalf, WriteHalf), ConnectErrorKind> {
    Err(ConnectErrorKind::NoUnixSockets)
}

/// The path of the socket that a server with this port number makes in a folder.
pub(super) fn socket(directory: &Path, port: u16) -> PathBuf {
    directory.join(format!(".s.PGSQL.{port}"))
}
