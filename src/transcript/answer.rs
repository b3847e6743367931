//! What the server answered, piece by piece, in the order in which it came.

/// One thing the server sent in answer to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Rows, and the command tag that ended them.
    Rows(ResultSet),
    /// A command that returns no rows ended; its command tag.
    Command(String),
    /// An empty statement.
    Empty,
    /// A notice, warning, info, log or debug message.
    Notice(ServerMessage),
    /// An error, or a FATAL that ends the connection.
    Error(ServerMessage),
    /// What another session (or this one) said with NOTIFY.
    Notification(Notification),
    /// A piece of COPY … TO STDOUT, as it came; the first one is empty and says that data follows,
    /// if there is any.
    CopyOut(Vec<u8>),
    /// The server asks for the data of COPY … FROM STDIN.
    CopyIn,
    /// A statement was parsed and is kept; nothing is shown.
    Prepared,
    /// The statement did not run, because one before it in the same pipeline failed.
    Skipped,
    /// The connection ended without (further) word.
    ConnectionLost,
    /// The scenario had the connection end before the client could read an answer: whether the
    /// server got the statement is not known to the session.
    ReplyLost,
}

/// Rows with their columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultSet {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The rows, values in text form; `None` is SQL NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// The command tag: `SELECT 1`, `INSERT 0 1`, `FETCH 2`.
    pub tag: String,
}

/// A column of a [`ResultSet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The oid of its type.
    pub type_oid: u32,
}

/// NOTIFY, received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The backend that sent it.
    pub pid: i32,
    /// The channel.
    pub channel: String,
    /// The payload; empty if there was none.
    pub payload: String,
}

/// How bad a [`ServerMessage`] is; from the field that is never translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are PostgreSQL's own words")]
pub enum Severity {
    Panic,
    Fatal,
    Error,
    Warning,
    Notice,
    Debug,
    Info,
    Log,
}

impl Severity {
    /// The word as psql prints it before the colon.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Panic => "PANIC",
            Self::Fatal => "FATAL",
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
            Self::Notice => "NOTICE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Log => "LOG",
        }
    }
}

/// An error or notice with all its fields, as the protocol's ErrorResponse and NoticeResponse
/// carry them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerMessage {
    /// How bad it is.
    pub severity: Severity,
    /// The SQLSTATE, five characters.
    pub code: String,
    /// The primary message.
    pub message: String,
    /// `DETAIL:`
    pub detail: Option<String>,
    /// `HINT:`
    pub hint: Option<String>,
    /// The character (not byte) in the statement where the error is, counted from 1.
    pub position: Option<u32>,
    /// The character in `internal_query` where the error is, counted from 1.
    pub internal_position: Option<u32>,
    /// The text of a query that the server, not the client, made.
    pub internal_query: Option<String>,
    /// `CONTEXT:`
    pub context: Option<String>,
    /// The schema of the object concerned.
    pub schema: Option<String>,
    /// The table concerned.
    pub table: Option<String>,
    /// The column concerned.
    pub column: Option<String>,
    /// The data type concerned.
    pub datatype: Option<String>,
    /// The constraint concerned.
    pub constraint: Option<String>,
    /// The server's source file.
    pub file: Option<String>,
    /// The line in the server's source file.
    pub line: Option<u32>,
    /// The server's routine.
    pub routine: Option<String>,
}

impl ServerMessage {
    /// A message that says no more than this.
    #[must_use]
    pub fn new(severity: Severity, code: &str, message: &str) -> Self {
        Self {
            severity,
            code: code.to_owned(),
            message: message.to_owned(),
            detail: None,
            hint: None,
            position: None,
            internal_position: None,
            internal_query: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            datatype: None,
            constraint: None,
            file: None,
            line: None,
            routine: None,
        }
    }
}

/// Whether a session is in a transaction, as the server says whenever it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// In no transaction.
    Idle,
    /// In a transaction.
    InTransaction,
    /// In a transaction that can only be rolled back.
    Failed,
}

impl TransactionStatus {
    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b'I' => Some(Self::Idle),
            b'T' => Some(Self::InTransaction),
            b'E' => Some(Self::Failed),
            _ => None,
        }
    }
}
