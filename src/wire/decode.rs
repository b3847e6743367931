//! Bytes from the server → pieces of a transcript.

use std::collections::HashMap;
use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{
    DataRowBody, Header, Message, NotificationResponseBody, RowDescriptionBody,
};
use tokio::io::AsyncReadExt;

use super::fields::server_message;
use super::receiver::{Closing, Incoming};
use super::stream::ReadHalf;
use crate::transcript::{Answer, Column, Notification, ResultSet, Severity, TransactionStatus};

/// What a value costs in memory beside its bytes, roughly; so that a limit on many tiny values is
/// a limit on memory too.
const VALUE_OVERHEAD: usize = 32;

/// How much is read at a time, at least.
const READ_SIZE: usize = 16 << 10;

/// Turns bytes into [`Incoming`]s. It keeps the rows of the result set that is under way.
#[derive(Debug)]
pub(super) struct Decoder {
    /// What has come and is not decoded yet.
    incoming: BytesMut,
    /// The latest value of each parameter the server reports.
    pub(super) parameters: HashMap<String, String>,
    /// How many bytes may come between two times that the server is ready.
    limit: usize,
    used: usize,
    rows: Option<ResultSet>,
}

impl Decoder {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            incoming: BytesMut::new(),
            parameters: HashMap::new(),
            limit,
            used: 0,
            rows: None,
        }
    }

    /// Reads what the server sends next; gives how many bytes came, 0 at the end. Cancel-safe.
    pub(super) async fn read(&mut self, stream: &mut ReadHalf) -> io::Result<usize> {
        self.incoming.reserve(READ_SIZE);
        stream.read_buf(&mut self.incoming).await
    }

    /// Begins to count anew, to another limit.
    pub(super) const fn begin(&mut self, limit: usize) {
        self.limit = limit;
        self.used = 0;
    }

    /// The next thing that has come whole, or `None` when more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Incoming>, Closing> {
        while let Some(message) = self.message()? {
            if let Some(incoming) = self.accept(message)? {
                return Ok(Some(incoming));
            }
        }
        Ok(None)
    }

    /// The next protocol message that has come whole.
    pub(super) fn message(&mut self) -> Result<Option<Message>, Closing> {
        let Some(header) = Header::parse(&self.incoming).map_err(malformed)? else {
            return Ok(None);
        };
        // Asked before the message is there: making room for it would be the harm.
        let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
        if length > self.limit.saturating_sub(self.used) {
            return Err(Closing::TooLarge { limit: self.limit });
        }
        let message = Message::parse(&mut self.incoming).map_err(malformed)?;
        if message.is_some() {
            self.used += length;
        }
        Ok(message)
    }

    fn accept(&mut self, message: Message) -> Result<Option<Incoming>, Closing> {
        let answer = match message {
            Message::RowDescription(body) => {
                self.rows = Some(ResultSet {
                    columns: columns(&body).map_err(malformed)?,
                    rows: Vec::new(),
                    tag: String::new(),
                });
                return Ok(None);
            }
            Message::DataRow(body) => {
                self.add_row(&body)?;
                return Ok(None);
            }
            Message::CommandComplete(body) => {
                let tag = body.tag().map_err(malformed)?.to_owned();
                match self.rows.take() {
                    Some(rows) => Answer::Rows(ResultSet { tag, ..rows }),
                    None => Answer::Command(tag),
                }
            }
            // There would be more rows; no tag says how many there were.
            Message::PortalSuspended => match self.rows.take() {
                Some(rows) => Answer::Rows(rows),
                None => return Ok(None),
            },
            Message::EmptyQueryResponse => Answer::Empty,
            Message::ParseComplete => Answer::Prepared,
            Message::NoData => {
                self.rows = None;
                return Ok(None);
            }
            Message::BindComplete | Message::CloseComplete | Message::ParameterDescription(_) => {
                return Ok(None);
            }
            Message::ErrorResponse(body) => {
                // Rows before the error never reach a client that waits for the result.
                self.rows = None;
                Answer::Error(server_message(body.fields(), Severity::Error).map_err(malformed)?)
            }
            Message::NoticeResponse(body) => {
                Answer::Notice(server_message(body.fields(), Severity::Notice).map_err(malformed)?)
            }
            Message::NotificationResponse(body) => {
                Answer::Notification(notification(&body).map_err(malformed)?)
            }
            Message::CopyOutResponse(_) => Answer::CopyOut(Vec::new()),
            Message::CopyDone => return Ok(None),
            Message::CopyData(body) => Answer::CopyOut(body.data().to_vec()),
            Message::CopyInResponse(_) => Answer::CopyIn,
            Message::ReadyForQuery(body) => {
                self.used = 0;
                self.rows = None;
                return TransactionStatus::from_byte(body.status())
                    .map(|status| Some(Incoming::Ready(status)))
                    .ok_or_else(|| {
                        Closing::Malformed(format!(
                            "unknown transaction status `{}`",
                            body.status().escape_ascii()
                        ))
                    });
            }
            Message::ParameterStatus(body) => {
                let name = body.name().map_err(malformed)?.to_owned();
                let value = body.value().map_err(malformed)?.to_owned();
                self.parameters.insert(name, value);
                return Ok(None);
            }
            _ => {
                return Err(Closing::Malformed(
                    "a message that no statement is answered with".to_owned(),
                ));
            }
        };
        Ok(Some(Incoming::Answer(answer)))
    }

    fn add_row(&mut self, body: &DataRowBody) -> Result<(), Closing> {
        let Some(result) = &mut self.rows else {
            return Err(Closing::Malformed("a row without columns".to_owned()));
        };
        self.used += VALUE_OVERHEAD * (result.columns.len() + 1);
        if self.used > self.limit {
            return Err(Closing::TooLarge { limit: self.limit });
        }
        let row = body
            .ranges()
            .map(|range| {
                // UTF8 is what was asked for, but a SQL_ASCII database, or a session that changes
                // its client_encoding, sends what it likes.
                Ok(range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned()))
            })
            .collect::<Vec<_>>()
            .map_err(malformed)?;
        if row.len() != result.columns.len() {
            return Err(Closing::Malformed(format!(
                "a row of {} values under {} columns",
                row.len(),
                result.columns.len()
            )));
        }
        result.rows.push(row);
        Ok(())
    }
}

fn columns(body: &RowDescriptionBody) -> io::Result<Vec<Column>> {
    body.fields()
        .map(|field| {
            Ok(Column {
                name: field.name().to_owned(),
                type_oid: field.type_oid(),
            })
        })
        .collect()
}

fn notification(body: &NotificationResponseBody) -> io::Result<Notification> {
    Ok(Notification {
        pid: body.process_id(),
        channel: body.channel()?.to_owned(),
        payload: body.message()?.to_owned(),
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn malformed(error: io::Error) -> Closing {
    Closing::Malformed(error.to_string())
}

#[cfg(test)]
mod tests;
