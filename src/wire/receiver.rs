//! The half of a connection that receives.

use std::fmt;
use std::io;

use tokio::sync::oneshot;

use super::decode::Decoder;
use super::stream::ReadHalf;
use crate::transcript::{Answer, ServerMessage, TransactionStatus};

/// How many bytes a server may answer to one statement, unless [`Receiver::set_limit`] says
/// otherwise: 64 MiB.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// One thing that came from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is matched at once, never kept"
)]
pub enum Incoming {
    /// A piece of the answer. Rows come once they are complete, everything else as it comes.
    Answer(Answer),
    /// The server is ready for the next statement.
    Ready(TransactionStatus),
    /// The connection is over; nothing follows.
    Closed(Closing),
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// The server went away; what it said last, if anything, came before.
    Server,
    /// The [`Sender`](super::Sender) was dropped without a goodbye.
    Client,
    /// More came in answer to one statement than the limit allows.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// What came is not PostgreSQL's protocol.
    Malformed(String),
    /// The connection broke.
    Io(io::ErrorKind),
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("the server closed the connection"),
            Self::Client => f.write_str("the client closed the connection"),
            Self::TooLarge { limit } => {
                write!(f, "the answer takes more than {} of memory", size(*limit))
            }
            Self::Malformed(what) => write!(f, "the answer is not PostgreSQL's protocol: {what}"),
            Self::Io(kind) => write!(f, "the connection broke: {kind}"),
        }
    }
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

/// How the [`Sender`](super::Sender) tells its receiver that it said goodbye. Being dropped
/// without this message says that it did not.
#[derive(Debug)]
pub(super) struct Goodbye;

/// The half of a connection that receives. It can be moved into a task of its own.
pub struct Receiver {
    decoder: Decoder,
    greeting: Vec<ServerMessage>,
    /// `None` once the connection is over.
    stream: Option<ReadHalf>,
    /// `None` once the sender has said goodbye: the server then ends the connection.
    sender: Option<oneshot::Receiver<Goodbye>>,
}

impl Receiver {
    pub(super) fn new(
        decoder: Decoder,
        greeting: Vec<ServerMessage>,
        stream: ReadHalf,
        sender: oneshot::Receiver<Goodbye>,
    ) -> Self {
        Self {
            decoder,
            greeting,
            stream: Some(stream),
            sender: Some(sender),
        }
    }

    /// What came next; `None` after [`Incoming::Closed`].
    ///
    /// It is cancel-safe: nothing is lost when the future is dropped before it is ready.
    pub async fn next(&mut self) -> Option<Incoming> {
        loop {
            let stream = self.stream.as_mut()?;
            let closing = match self.decoder.next() {
                Ok(Some(incoming)) => return Some(incoming),
                Ok(None) => match read(stream, &mut self.decoder, &mut self.sender).await {
                    Ok(()) => continue,
                    Err(closing) => closing,
                },
                Err(closing) => closing,
            };
            self.stream = None;
            return Some(Incoming::Closed(closing));
        }
    }

    /// The notices that came while the connection was made; login triggers write such.
    #[must_use]
    pub fn greeting(&self) -> &[ServerMessage] {
        &self.greeting
    }

    /// A setting the server reports by itself, such as `server_version` or
    /// `standard_conforming_strings`; the value it had when the last message was decoded.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.decoder.parameters.get(name).map(String::as_str)
    }

    /// Changes how many bytes the server may answer to one statement (counted from one
    /// [`Incoming::Ready`] to the next, with an allowance for what values cost in memory beside
    /// their text). What exceeds it ends the connection with [`Closing::TooLarge`].
    pub fn set_limit(&mut self, bytes: usize) {
        self.decoder.begin(bytes);
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("open", &self.stream.is_some())
            .finish_non_exhaustive()
    }
}

/// Waits for more bytes, or for the sender to be dropped.
async fn read(
    stream: &mut ReadHalf,
    decoder: &mut Decoder,
    sender: &mut Option<oneshot::Receiver<Goodbye>>,
) -> Result<(), Closing> {
    loop {
        let dropped = async {
            match sender.as_mut() {
                Some(sender) => sender.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // First, so that a client that is gone does not see an answer that was about to come.
            biased;
            said = dropped => match said {
                Ok(Goodbye) => *sender = None,
                Err(_) => return Err(Closing::Client),
            },
            count = read_more(stream, decoder) => return count,
        }
    }
}

async fn read_more(stream: &mut ReadHalf, decoder: &mut Decoder) -> Result<(), Closing> {
    match decoder.read(stream).await {
        Ok(0) => Err(Closing::Server),
        Ok(_) => Ok(()),
        // Whether a dead server's socket gives an end or a reset depends on what it had left unread;
        // on an encrypted one the end comes without a goodbye.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
            ) =>
        {
            Err(Closing::Server)
        }
        Err(error) => Err(Closing::Io(error.kind())),
    }
}
