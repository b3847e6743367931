//! What can go wrong on the wire before, and while, something is sent.

use std::io;

use crate::server::Address;
use crate::transcript::ServerMessage;

/// A connection could not be made. Reads well after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("connect to {address} as `{user}`")]
pub struct ConnectError {
    /// Where the server was looked for.
    pub address: Address,
    /// The role that was to log in.
    pub user: String,
    /// What went wrong.
    #[source]
    pub kind: ConnectErrorKind,
}

impl ConnectError {
    /// The server's own words, when it was the server that refused.
    #[must_use]
    pub const fn refusal(&self) -> Option<&ServerMessage> {
        match &self.kind {
            ConnectErrorKind::Refused(message) => Some(message),
            _ => None,
        }
    }
}

/// Why a connection could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectErrorKind {
    /// The server answered with an error.
    #[error("the server refused: {}: {} ({})", .0.severity.as_str(), .0.message, .0.code)]
    Refused(Box<ServerMessage>),
    /// Nobody listens there, or the connection broke.
    #[error("the connection failed")]
    Io(#[source] io::Error),
    /// The connection is to be encrypted, and the server does not do that.
    #[error("the server does not encrypt connections")]
    NoEncryption,
    /// The connection could not be encrypted; a certificate that is not trusted is such a case.
    #[error("the connection could not be encrypted")]
    Encryption(#[source] io::Error),
    /// The server closed the connection before it was ready.
    #[error("the server closed the connection before it was ready")]
    Closed,
    /// The server asks for a way to authenticate that this frontend does not have.
    #[error("the server asks for {0} authentication, which is not supported")]
    UnsupportedAuthentication(String),
    /// The server could not prove that it knows the password, or broke the rules of SASL.
    #[error("the SCRAM exchange failed")]
    Scram(#[source] io::Error),
    /// What came is not PostgreSQL's protocol.
    #[error("the answer is not PostgreSQL's protocol: {0}")]
    Malformed(String),
    /// A start-up parameter, or the password, holds a NUL byte.
    #[error("a start-up parameter or the password holds a NUL byte")]
    NulByte,
    /// This platform has no Unix sockets.
    #[error("Unix sockets are not supported on this platform")]
    NoUnixSockets,
}

/// Something could not be sent. Reads well after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The text holds a NUL byte, which would end it early; nothing was sent.
    #[error("send SQL that holds a NUL byte (at byte {offset})")]
    NulByte {
        /// The offset of the NUL byte in the text.
        offset: usize,
    },
    /// A message cannot be so long; nothing was sent.
    #[error("send a message of {length} bytes: too long for the protocol")]
    TooLong {
        /// The length of the text or the data, in bytes.
        length: usize,
    },
    /// The protocol cannot count so many parameters; nothing was sent.
    #[error("send {count} parameters: the protocol allows for 65535")]
    TooManyParameters {
        /// How many there are.
        count: usize,
    },
    /// The connection is gone. What the server said before it went is still to be received.
    #[error("send to the server")]
    Io(#[source] io::Error),
}

/// A cancel request could not be delivered. Reads well after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("send a cancel request for backend {pid}")]
pub struct CancelError {
    /// The backend that was to be interrupted.
    pub pid: i32,
    /// What went wrong.
    #[source]
    pub kind: ConnectErrorKind,
}
