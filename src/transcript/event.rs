//! The list of events that a transcript is.

use std::time::Duration;

use super::answer::{Answer, TransactionStatus};
use super::schedules::PlayedSchedules;
use crate::scenario::{
    Blocker, Redaction, Sending, SessionIndex, Shutdown, Statement, VirtualTime,
};

/// What was observed in one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The names of the sessions; a [`SessionIndex`] points into them. The one behind the last is
    /// the observer that `check` steps ask through.
    pub sessions: Vec<String>,
    /// The process ids of their backends, in the order in which they connected.
    pub backends: Vec<(i32, SessionIndex)>,
    /// The transactions of the sessions, where the runner asked the server for them while they ran.
    pub transactions: Vec<(u64, SessionIndex)>,
    /// Their virtual transactions, likewise: `3/17`.
    pub virtual_transactions: Vec<(String, SessionIndex)>,
    /// What the scenario asks to replace in the text.
    pub redactions: Vec<Redaction>,
    /// What happened, in the order in which it is reported.
    pub events: Vec<Event>,
    /// What came of the scenario's schedules, each of which has a transcript of its own; there are no
    /// events then.
    pub schedules: Option<PlayedSchedules>,
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
    /// A session began a step.
    Sent {
        /// The session.
        session: SessionIndex,
        /// What it sends, as written in the scenario.
        sending: Sending,
    },
    /// The observer asked for a `check` step.
    Checked {
        /// The SQL of the step.
        sql: String,
        /// The name of the invariant, where it is one.
        invariant: Option<String>,
    },
    /// The server answered one statement of the step: all that came for it, in order.
    Answered {
        /// The session; `None` is the observer of a `check` step.
        session: Option<SessionIndex>,
        /// Which piece of the step's SQL the statement is from, as [`Sending::sql`] counts them.
        part: usize,
        /// The statement; error positions count from the beginning of its text.
        statement: Statement,
        /// What came.
        answers: Vec<Answer>,
        /// Whether the session was in a transaction afterwards; `None` where the server did not
        /// say, because more is to come or the connection is lost.
        status: Option<TransactionStatus>,
    },
    /// The session's statement is proven to wait.
    Waits {
        /// The session.
        session: SessionIndex,
        /// Whom it waits for, directly.
        blockers: Vec<Blocker>,
    },
    /// The session's statement may have ended, but the schedule has it reported later.
    HeldBack {
        /// The session.
        session: SessionIndex,
    },
    /// A statement that waited has ended; its answers follow.
    Continues {
        /// The session.
        session: SessionIndex,
    },
    /// The virtual clock moved.
    Advanced {
        /// By so much.
        by: Duration,
        /// To this time.
        to: VirtualTime,
    },
    /// Real time passed, at least so much.
    Slept(Duration),
    /// The session's client went away without a goodbye.
    Disconnected(SessionIndex),
    /// The backend of the connection that the session has just lost goes on, since it is proven to
    /// wait.
    Lingers {
        /// The session.
        session: SessionIndex,
        /// Whom it waits for, directly.
        blockers: Vec<Blocker>,
    },
    /// The session has a fresh connection.
    Connected(SessionIndex),
    /// The server was asked to interrupt what the session runs.
    CancelRequested(SessionIndex),
    /// The session's backend was told to end.
    Terminated(SessionIndex),
    /// The server stopped in this way, and is up again.
    Restarted(Shutdown),
    /// The locks of the case's sessions after a step, where they were asked for.
    Locks(Vec<Lock>),
}

/// A lock that a session holds or awaits, as `pg_locks` shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lock {
    /// The session.
    pub session: SessionIndex,
    /// Whether it holds the lock; else it awaits it.
    pub granted: bool,
    /// `AccessShareLock`, `ExclusiveLock`, …
    pub mode: String,
    /// What is locked.
    pub target: LockTarget,
}

/// What a [`Lock`] is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockTarget {
    /// A table, index, sequence, …; its name.
    Relation(String),
    /// A row version, while a session waits for its lock or is about to take it.
    Tuple {
        /// The name of the table.
        relation: String,
        /// Its block.
        page: i32,
        /// Its place in the block.
        tuple: i16,
    },
    /// A transaction, which holds the lock until it ends.
    Transaction {
        /// Its number.
        xid: u32,
    },
    /// A virtual transaction: `3/17`.
    VirtualTransaction(String),
    /// An advisory lock's key: one number, or two.
    Advisory(Vec<i64>),
    /// Anything else: the type and the numbers that `pg_locks` gives.
    Other(String),
}
