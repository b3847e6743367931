//! The steps of a scenario.

use std::time::Duration;

use super::super::source::{Span, Spanned, SqlText};
use super::super::virtual_time::VirtualTime;
use super::SessionIndex;
use super::expect::Expectation;
use crate::schedule::{Marker, StepPlace};

/// One thing that happens.
#[derive(Debug, Clone)]
pub struct Step {
    /// The whole step in the file.
    pub span: Span,
    /// What happens.
    pub action: Action,
    /// What it is in the scenario.
    pub role: Role,
    /// Its name, unique in the scenario.
    pub id: Option<Spanned<String>>,
    /// The short text in the swimlane.
    pub label: Option<String>,
    /// A remark shown under the statement.
    pub note: Option<String>,
    /// What must come out; of several, the first that holds for the release. None at all, or none
    /// for the release, still means that the step must not err, unless a session owns it.
    pub expect: Vec<Expectation>,
}

/// What a step is in its scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Role {
    /// One of the scenario's `steps:`, which come in their order.
    #[default]
    Ordered,
    /// One of a session's own steps, which schedules put in an order. It may end in any way where
    /// nothing is expected of it: that depends on the order.
    Owned {
        /// Which one of which session.
        place: StepPlace,
        /// What delays its report in the schedule that is played.
        markers: Vec<Marker>,
    },
    /// What must return no row after the last step; its name.
    Invariant(String),
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Prose between the steps, in Markdown; nothing runs.
    Say(String),
    /// A session sends something to the server.
    Send {
        /// The session.
        session: SessionIndex,
        /// What it sends, and how.
        sending: Sending,
        /// How the answer is waited for.
        reply: Reply,
    },
    /// An outside observer, in no session's transaction, asks the database.
    Check(SqlText),
    /// Nothing is sent; the step ends when the session's running statement does.
    WaitFor(SessionIndex),
    /// Nothing is sent; the step ends when the server has closed the session's connection.
    WaitForClose(SessionIndex),
    /// The virtual clock moves.
    Advance {
        /// By so much.
        by: Duration,
        /// To this time.
        to: VirtualTime,
    },
    /// Real time passes.
    Sleep(Duration),
    /// The session's client goes away without a goodbye; its backend may not notice for long.
    Disconnect(SessionIndex),
    /// The session gets a fresh connection.
    Connect(SessionIndex),
    /// The session's client asks the server to interrupt the running statement.
    Cancel(SessionIndex),
    /// The session's backend is told to end (`pg_terminate_backend`).
    Terminate(SessionIndex),
    /// The server stops and starts again.
    Restart(Shutdown),
}

/// How a server stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Transactions are aborted and connections ended (`pg_ctl stop -m fast`).
    Fast,
    /// As when the power fails (`pg_ctl stop -m immediate`): recovery follows at the start.
    Immediate,
}

/// What a session sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sending {
    /// SQL, one statement after the other, each as a simple query of its own, as psql does.
    Statements(SqlText),
    /// SQL of any number of statements as one simple query, which is one implicit transaction.
    Message(SqlText),
    /// One statement with parameters, through the extended protocol's unnamed statement.
    Bound(Bound),
    /// One statement is parsed and kept under a name by the extended protocol.
    Prepare {
        /// The name.
        name: Spanned<String>,
        /// The statement.
        sql: SqlText,
    },
    /// A statement kept by the extended protocol runs.
    Execute {
        /// Its name.
        name: Spanned<String>,
        /// Its parameters.
        params: Vec<Param>,
    },
    /// Statements through the extended protocol, with one Sync behind the last.
    Pipeline(Vec<Bound>),
    /// COPY … FROM STDIN, or more data for one that is open.
    Copy {
        /// The statement; `None` goes on with the one that is open.
        sql: Option<SqlText>,
        /// The data, as it goes over the wire.
        data: SqlText,
        /// Whether the stream stays open behind the data.
        more: bool,
    },
}

/// A value of a parameter in text format; `None` is SQL NULL.
pub type Param = Option<String>;

/// A statement with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The statement.
    pub sql: SqlText,
    /// The values of `$1`, `$2`, …
    pub params: Vec<Param>,
}

/// How the answer to what a session sends is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reply {
    /// The step ends when the answer is there, or the session is proven to wait.
    #[default]
    Awaited,
    /// The next step begins at once; the answer is seen where the session acts next, or is waited
    /// for (`async: true`).
    Later,
    /// The server gets it and is done with it, but the connection is gone before the client reads
    /// the answer (`reply: lost`).
    Lost,
    /// The connection is gone before the server gets it (`reply: unsent`).
    Unsent,
}

impl Action {
    /// Every piece of SQL in it, in order.
    pub fn sql(&self) -> Vec<&SqlText> {
        match self {
            Self::Check(sql) => vec![sql],
            Self::Send { sending, .. } => sending.sql(),
            _ => Vec::new(),
        }
    }
}

impl Sending {
    /// Every piece of SQL in it, in order.
    #[must_use]
    pub fn sql(&self) -> Vec<&SqlText> {
        match self {
            Self::Statements(sql) | Self::Message(sql) | Self::Prepare { sql, .. } => vec![sql],
            Self::Bound(bound) => vec![&bound.sql],
            Self::Pipeline(list) => list.iter().map(|bound| &bound.sql).collect(),
            Self::Copy { sql, .. } => sql.iter().collect(),
            Self::Execute { .. } => Vec::new(),
        }
    }
}
