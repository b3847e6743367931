//! The list of events that a transcript is.

use std::time::Duration;

use super::answer::Answer;
use crate::scenario::{SessionIndex, Statement};

/// What was observed in one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The names of the sessions; a [`SessionIndex`] points into them. The one behind the last is
    /// the observer that `check` steps ask through.
    pub sessions: Vec<String>,
    /// The process ids of their backends, in the order in which they connected.
    pub backends: Vec<(i32, SessionIndex)>,
    /// What happened, in the order in which it is reported.
    pub events: Vec<Event>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The position in the scenario's steps of the step it belongs to.
    pub step: usize,
    /// When it was known, from the beginning of the case.
    pub at: Duration,
    /// What it was.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A session began a step; the SQL as written in the scenario.
    Sent {
        /// The session.
        session: SessionIndex,
        /// The whole SQL of the step.
        sql: String,
    },
    /// The observer asked for a `check` step.
    Checked {
        /// The SQL of the step.
        sql: String,
    },
    /// The server answered one statement of the step: all that came for it, in order.
    Answered {
        /// The session; `None` is the observer of a `check` step.
        session: Option<SessionIndex>,
        /// The statement; error positions count from the beginning of its text.
        statement: Statement,
        /// What came.
        answers: Vec<Answer>,
    },
    /// The session's statement is proven to wait.
    Waits {
        /// The session.
        session: SessionIndex,
        /// Whom it waits for, directly.
        blockers: Vec<Blocker>,
    },
    /// A statement that waited has ended; its answers follow.
    Continues {
        /// The session.
        session: SessionIndex,
    },
}

/// What a statement waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// A session of the scenario.
    Session(SessionIndex),
    /// A prepared transaction: nobody's backend holds the lock.
    PreparedTransaction,
    /// No lock at all; the server's wait event, such as `SyncRep`.
    WaitEvent(String),
}
