//! A byte stream to a server, whatever carries it.

use std::io;
use std::path::{Path, PathBuf};

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::error::ConnectErrorKind;
use crate::server::{Address, Tls, TlsToHost};

/// The half that is read. The stream is closed when both halves are gone.
pub(super) type ReadHalf = Box<dyn AsyncRead + Send + Sync + Unpin>;
/// The half that is written. Dropping it tells the server that nothing more will come, unless the
/// stream is encrypted.
pub(super) type WriteHalf = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// Opens a stream.
pub(super) async fn open(
    address: &Address,
    tls: &Tls,
) -> Result<(ReadHalf, WriteHalf), ConnectErrorKind> {
    match address {
        Address::Unix { directory, port } => open_unix(&socket(directory, *port)).await,
        Address::Tcp { host, port } => {
            let mut stream = TcpStream::connect((host.as_str(), *port))
                .await
                .map_err(ConnectErrorKind::Io)?;
            // A statement is one small packet that must not wait for the answer to another.
            stream.set_nodelay(true).map_err(ConnectErrorKind::Io)?;
            let Some(tls) = tls.to_host(host) else {
                let (read, write) = stream.into_split();
                return Ok((Box::new(read), Box::new(write)));
            };
            let tls = tls.map_err(|error| {
                ConnectErrorKind::Encryption(io::Error::new(io::ErrorKind::InvalidInput, error))
            })?;
            ask_for_encryption(&mut stream).await?;
            encrypt(tls, stream).await
        }
    }
}

/// Asks the server to go on encrypted. Exactly one byte is read: what somebody between may have put
/// behind it is no answer of the server, and makes the handshake fail.
async fn ask_for_encryption(stream: &mut TcpStream) -> Result<(), ConnectErrorKind> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream
        .write_all(&request)
        .await
        .map_err(ConnectErrorKind::Io)?;
    match stream.read_u8().await {
        Ok(b'S') => Ok(()),
        Ok(b'N') => Err(ConnectErrorKind::NoEncryption),
        Ok(_) => Err(ConnectErrorKind::Malformed(
            "a server says whether it encrypts, first of all".to_owned(),
        )),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(ConnectErrorKind::Closed),
        Err(error) => Err(ConnectErrorKind::Io(error)),
    }
}

async fn encrypt(
    tls: TlsToHost,
    stream: TcpStream,
) -> Result<(ReadHalf, WriteHalf), ConnectErrorKind> {
    let stream = tls
        .encrypt(stream)
        .await
        .map_err(ConnectErrorKind::Encryption)?;
    let (read, write) = tokio::io::split(stream);
    Ok((Box::new(read), Box::new(write)))
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
fn socket(directory: &Path, port: u16) -> PathBuf {
    directory.join(format!(".s.PGSQL.{port}"))
}
