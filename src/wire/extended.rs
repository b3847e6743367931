//! The extended protocol: statements with parameters, kept statements, pipelines.

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::error::SendError;
use super::sender::{Sender, refuse_length, refuse_nul};

/// One message of the extended protocol. Parameters and results are in text format.
///
/// The server answers in the order of the requests; after an error it passes over all of them up to
/// the next [`Sync`](Self::Sync), which it answers with
/// [`Incoming::Ready`](super::Incoming::Ready).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// Parses a statement and keeps it under a name; the types of its parameters are the server's
    /// choice. An empty name is the unnamed statement, which the next one replaces.
    Parse {
        /// The name.
        name: &'a str,
        /// The statement.
        sql: &'a str,
    },
    /// Makes the unnamed portal, from a kept statement and its parameters.
    Bind {
        /// The name of the statement.
        statement: &'a str,
        /// The values of `$1`, `$2`, …; `None` is SQL NULL.
        params: &'a [Option<String>],
    },
    /// Asks for the columns of the unnamed portal; without it, rows have none and are refused.
    Describe,
    /// Runs the unnamed portal.
    Execute {
        /// How many rows may come; 0 is all of them.
        max_rows: u16,
    },
    /// Forgets a kept statement.
    Close {
        /// The name of the statement.
        statement: &'a str,
    },
    /// Ends a series of requests. Outside a transaction block they are one transaction.
    Sync,
}

impl Request<'_> {
    fn check(&self) -> Result<(), SendError> {
        match self {
            Self::Parse { name, sql } => {
                refuse_nul(name)?;
                refuse_nul(sql)?;
                refuse_length(name.len() + sql.len())
            }
            Self::Bind { statement, params } => {
                refuse_nul(statement)?;
                // A count of parameters has two bytes.
                if params.len() > usize::from(u16::MAX) {
                    return Err(SendError::TooManyParameters {
                        count: params.len(),
                    });
                }
                let mut length = statement.len() + params.len() * 4;
                for value in params.iter().flatten() {
                    refuse_nul(value)?;
                    length += value.len();
                }
                refuse_length(length)
            }
            Self::Close { statement } => refuse_nul(statement),
            Self::Describe | Self::Execute { .. } | Self::Sync => Ok(()),
        }
    }

    fn write(&self, out: &mut BytesMut) -> Result<(), SendError> {
        match self {
            Self::Parse { name, sql } => frontend::parse(name, sql, [], out),
            Self::Bind { statement, params } => frontend::bind(
                "",
                statement,
                [],
                params.iter(),
                |value: &Option<String>, out: &mut BytesMut| {
                    Ok(value.as_ref().map_or(IsNull::Yes, |value| {
                        out.extend_from_slice(value.as_bytes());
                        IsNull::No
                    }))
                },
                [],
                out,
            )
            .map_err(|error| match error {
                frontend::BindError::Conversion(error) => std::io::Error::other(error),
                frontend::BindError::Serialization(error) => error,
            }),
            Self::Describe => frontend::describe(b'P', "", out),
            Self::Execute { max_rows } => frontend::execute("", i32::from(*max_rows), out),
            Self::Close { statement } => frontend::close(b'S', statement, out),
            Self::Sync => {
                frontend::sync(out);
                Ok(())
            }
        }
        .map_err(SendError::Io)
    }
}

impl Sender {
    /// Sends requests of the extended protocol. Nothing is answered for certain before a
    /// [`Request::Sync`].
    ///
    /// ```no_run
    /// # async fn example(mut sender: lockstep::wire::Sender) -> Result<(), lockstep::wire::SendError> {
    /// use lockstep::wire::Request;
    ///
    /// let params = [Some("1".to_owned()), None];
    /// sender
    ///     .request(&[
    ///         Request::Parse { name: "", sql: "SELECT $1::int + $2" },
    ///         Request::Bind { statement: "", params: &params },
    ///         Request::Describe,
    ///         Request::Execute { max_rows: 0 },
    ///         Request::Sync,
    ///     ])
    ///     .await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When a text holds a NUL byte, is longer than the protocol allows, or there are more parameters
    /// than it can count (nothing is sent then), and when the connection is gone.
    pub async fn request(&mut self, requests: &[Request<'_>]) -> Result<(), SendError> {
        for request in requests {
            request.check()?;
        }
        for request in requests {
            request.write(&mut self.outgoing)?;
        }
        self.flush().await
    }
}
