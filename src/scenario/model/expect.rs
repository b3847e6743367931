//! What a scenario expects of its steps.

use super::super::source::{Span, Spanned};
use super::SessionIndex;
use super::release::ReleaseRange;

/// What must come out of a step on some releases.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The releases it is for.
    pub releases: ReleaseRange,
    /// The outcomes that are allowed, at least one (`one_of:`); the step must have one of them.
    pub outcomes: Vec<Expect>,
}

/// One outcome that a step may have. A step of several statements is held to the
/// rows of the last one that returned rows, and to the command tag of the last one.
#[derive(Debug, Clone)]
pub struct Expect {
    /// The whole expectation in the file.
    pub span: Span,
    /// The rows, as PostgreSQL prints the values.
    pub rows: Option<ExpectedRows>,
    /// The names of the columns.
    pub columns: Option<Spanned<Vec<String>>>,
    /// How many rows were returned or, where none are, touched.
    pub row_count: Option<Spanned<u64>>,
    /// The command tag: `UPDATE 1`, `ROLLBACK`.
    pub tag: Option<Spanned<String>>,
    /// The error. A step without this expectation must not err.
    pub error: Option<ExpectedError>,
    /// Whether, and for whom, the step waits.
    pub waits: Option<Spanned<Waits>>,
    /// The messages of the notices, in order, each a glob in which `*` stands for any text.
    pub notices: Option<Spanned<Vec<String>>>,
    /// Whether no row came back.
    pub empty: Option<Spanned<bool>>,
}

impl Expect {
    /// That no row comes back, which is written at a place.
    pub(crate) const fn no_row(span: Span) -> Self {
        Self {
            span,
            rows: None,
            columns: None,
            row_count: None,
            tag: None,
            error: None,
            waits: None,
            notices: None,
            empty: Some(Spanned { value: true, span }),
        }
    }
}

/// Rows that must come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedRows {
    /// Where they are written.
    pub span: Span,
    /// The rows; `None` is SQL NULL. Each row has its own place.
    pub rows: Vec<Spanned<Vec<Option<String>>>>,
    /// Whether any order will do.
    pub unordered: bool,
}

/// An error that must come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedError {
    /// Where it is written.
    pub span: Span,
    /// The SQLSTATE, five characters.
    pub code: Option<String>,
    /// The primary message, a glob in which `*` stands for any text.
    pub message: Option<String>,
}

/// Whether a step waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// It must finish without waiting.
    No,
    /// It must wait, for whomever.
    Yes,
    /// It must wait for exactly these.
    For(Vec<Blocker>),
}

/// What a statement waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// A session of the scenario.
    Session(SessionIndex),
    /// The backend of a connection that a session had and lost: it has not noticed yet.
    LostConnection(SessionIndex),
    /// A prepared transaction: nobody's backend holds the lock.
    PreparedTransaction,
    /// No lock at all; the server's wait event, such as `SyncRep`.
    WaitEvent(String),
}
