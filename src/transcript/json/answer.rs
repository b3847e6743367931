//! What the server answered, as data.

use schemars::JsonSchema;
use serde::Serialize;
use tokio_postgres::types::Type;

use super::deadlock::{DeadlockedDocument, circle};
use crate::transcript::{Answer, Notification, ResultSet, ServerMessage};

/// One thing the server sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnswerDocument {
    /// What it was, as the text shows it.
    pub shown: AnswerData,
    /// What it was on the wire, where the text shows something else; else `null`.
    pub raw: Option<AnswerData>,
}

/// What the server sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerData {
    /// Rows.
    Rows {
        /// The columns.
        columns: Vec<ColumnDocument>,
        /// The values in PostgreSQL's text form; `null` is SQL NULL.
        rows: Vec<Vec<Option<String>>>,
        /// The command tag: `SELECT 1`.
        tag: String,
    },
    /// A command that returns no rows ended.
    Command {
        /// Its command tag: `UPDATE 1`.
        tag: String,
    },
    /// An empty statement.
    Empty,
    /// A notice, warning, info, log or debug message.
    Notice {
        /// The message.
        message: MessageDocument,
    },
    /// An error.
    Error {
        /// The message.
        message: MessageDocument,
        /// Who waited for whom in the deadlock that it has broken, once around, from the one that
        /// was given up on; `null` for other errors.
        deadlock: Option<Vec<DeadlockedDocument>>,
    },
    /// What a session said with NOTIFY.
    Notification {
        /// The notification.
        notification: NotificationDocument,
    },
    /// A piece of COPY … TO STDOUT.
    CopyOut {
        /// The data; what is not UTF-8 is replaced.
        data: String,
    },
    /// The server asks for the data of COPY … FROM STDIN.
    CopyIn,
    /// A statement was parsed and is kept.
    Prepared,
    /// The statement did not run, because one before it in the same pipeline failed.
    Skipped,
    /// The connection ended.
    ConnectionLost,
    /// The scenario had the connection end before the client could read an answer.
    ReplyLost,
}

/// A column.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ColumnDocument {
    /// Its name.
    pub name: String,
    /// The oid of its type.
    pub type_oid: u32,
    /// The name of its type in `pg_type`, where it is one that every server has.
    pub type_name: Option<String>,
}

/// An error or notice, with all fields that came.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "they are the protocol's own fields")]
pub struct MessageDocument {
    /// `ERROR`, `FATAL`, `NOTICE`, …
    pub severity: &'static str,
    /// The SQLSTATE.
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// The character in the statement, counted from 1.
    pub position: Option<u32>,
    pub internal_position: Option<u32>,
    pub internal_query: Option<String>,
    pub context: Option<String>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub datatype: Option<String>,
    pub constraint: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub routine: Option<String>,
}

/// NOTIFY, received.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotificationDocument {
    /// The process that sent it.
    pub pid: i32,
    /// Its session; `null` where it is none of the scenario's.
    pub session: Option<String>,
    /// The channel.
    pub channel: String,
    /// The payload; empty if there was none.
    pub payload: String,
}

/// Answers as they are shown, each beside what came where that differs.
pub(super) fn answer_documents(
    raw: &[Answer],
    shown: &[Answer],
    session: impl Fn(i32) -> Option<String>,
) -> Vec<AnswerDocument> {
    raw.iter()
        .zip(shown)
        .map(|(raw, shown)| {
            // Names stand in the place of the processes in what is shown.
            let deadlock = circle(raw, &session);
            AnswerDocument {
                shown: data(shown, &deadlock, &session),
                raw: (raw != shown).then(|| data(raw, &deadlock, &session)),
            }
        })
        .collect()
}

fn data(
    answer: &Answer,
    deadlock: &Option<Vec<DeadlockedDocument>>,
    session: &impl Fn(i32) -> Option<String>,
) -> AnswerData {
    match answer {
        Answer::Rows(ResultSet { columns, rows, tag }) => AnswerData::Rows {
            columns: columns
                .iter()
                .map(|column| ColumnDocument {
                    name: column.name.clone(),
                    type_oid: column.type_oid,
                    type_name: Type::from_oid(column.type_oid).map(|kind| kind.name().to_owned()),
                })
                .collect(),
            rows: rows.clone(),
            tag: tag.clone(),
        },
        Answer::Command(tag) => AnswerData::Command { tag: tag.clone() },
        Answer::Empty => AnswerData::Empty,
        Answer::Notice(notice) => AnswerData::Notice {
            message: message(notice),
        },
        Answer::Error(error) => AnswerData::Error {
            message: message(error),
            deadlock: deadlock.clone(),
        },
        Answer::Notification(Notification {
            pid,
            channel,
            payload,
        }) => AnswerData::Notification {
            notification: NotificationDocument {
                pid: *pid,
                session: session(*pid),
                channel: channel.clone(),
                payload: payload.clone(),
            },
        },
        Answer::CopyOut(data) => AnswerData::CopyOut {
            data: String::from_utf8_lossy(data).into_owned(),
        },
        Answer::CopyIn => AnswerData::CopyIn,
        Answer::Prepared => AnswerData::Prepared,
        Answer::Skipped => AnswerData::Skipped,
        Answer::ConnectionLost => AnswerData::ConnectionLost,
        Answer::ReplyLost => AnswerData::ReplyLost,
    }
}

fn message(message: &ServerMessage) -> MessageDocument {
    let message = message.clone();
    MessageDocument {
        severity: message.severity.as_str(),
        code: message.code,
        message: message.message,
        detail: message.detail,
        hint: message.hint,
        position: message.position,
        internal_position: message.internal_position,
        internal_query: message.internal_query,
        context: message.context,
        schema: message.schema,
        table: message.table,
        column: message.column,
        datatype: message.datatype,
        constraint: message.constraint,
        file: message.file,
        line: message.line,
        routine: message.routine,
    }
}
