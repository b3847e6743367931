//! What happened, as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{AnswerDocument, answer_documents};
use super::session_name;
use crate::scenario::{Blocker, Bound, Param, Sending, SessionIndex, Shutdown};
use crate::transcript::volatile::Volatile;
use crate::transcript::{EventKind, Lock, LockTarget, TransactionStatus, Transcript};

/// One thing that happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventDocument {
    /// The position of its step in the scenario, counted from 0.
    pub step: usize,
    /// Milliseconds from the beginning of the case until it was known.
    pub at_ms: f64,
    /// What it was.
    pub event: EventData,
}

/// What happened. A session that is `null` is the outside observer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventData {
    /// A session began a step.
    Sent {
        /// The session.
        session: Option<String>,
        /// How it sends it: `statements`, `message`, `bound`, `prepare`, `execute`, `pipeline`
        /// or `copy`.
        how: &'static str,
        /// The SQL, as written in the scenario.
        sql: Vec<String>,
        /// The parameters of each statement that may have some.
        parameters: Vec<Vec<Option<String>>>,
        /// The name of a statement that is kept or runs.
        name: Option<String>,
        /// The data of COPY … FROM STDIN.
        data: Option<String>,
    },
    /// The outside observer asked for a `check` step.
    Checked {
        /// The SQL of the step.
        sql: String,
        /// The name of the invariant, where it is one.
        invariant: Option<String>,
    },
    /// The server answered one statement of the step.
    Answered {
        /// The session.
        session: Option<String>,
        /// The statement.
        statement: String,
        /// What came, in order.
        answers: Vec<AnswerDocument>,
        /// Whether the session was in a transaction afterwards: `idle`, `in_transaction` or
        /// `failed`; `null` where the server did not say.
        transaction: Option<&'static str>,
    },
    /// The session's statement is proven to wait.
    Waits {
        /// The session.
        session: Option<String>,
        /// Whom it waits for, directly.
        blockers: Vec<BlockerDocument>,
        /// The lock that it awaits, if it is one.
        lock: Option<AwaitedDocument>,
    },
    /// The session's statement may have ended, but the schedule has it reported later.
    HeldBack {
        /// The session.
        session: Option<String>,
    },
    /// A statement that waited has ended; its answers follow.
    Continues {
        /// The session.
        session: Option<String>,
    },
    /// The virtual clock moved.
    Advanced {
        /// By so many milliseconds.
        by_ms: f64,
        /// To this time.
        to: String,
    },
    /// Real time passed.
    Slept {
        /// At least so many milliseconds.
        ms: f64,
    },
    /// The session's client went away without a goodbye.
    Disconnected {
        /// The session.
        session: Option<String>,
    },
    /// The backend of the connection that the session has just lost goes on.
    Lingers {
        /// The session.
        session: Option<String>,
        /// Whom it waits for, directly.
        blockers: Vec<BlockerDocument>,
    },
    /// The session has a fresh connection.
    Connected {
        /// The session.
        session: Option<String>,
    },
    /// The server was asked to interrupt what the session runs.
    CancelRequested {
        /// The session.
        session: Option<String>,
    },
    /// The session's backend was told to end.
    Terminated {
        /// The session.
        session: Option<String>,
    },
    /// The server stopped and is up again.
    Restarted {
        /// `fast`, or `immediate` for a crash.
        shutdown: &'static str,
    },
    /// The locks that the sessions hold and await after the step.
    Locks {
        /// The locks, by session.
        locks: Vec<LockDocument>,
    },
}

/// Whom a session waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockerDocument {
    /// A session.
    Session {
        /// Its name; `null` is the outside observer.
        session: Option<String>,
    },
    /// The backend of a connection that a session lost, and that has not noticed.
    LostConnection {
        /// The session.
        session: Option<String>,
    },
    /// A prepared transaction.
    PreparedTransaction,
    /// No lock at all.
    WaitEvent {
        /// The server's wait event: `SyncRep`.
        wait_event: String,
    },
}

/// A lock that a session holds or awaits.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LockDocument {
    /// The session; `null` is the outside observer.
    pub session: Option<String>,
    /// Whether it holds the lock; else it awaits it.
    pub granted: bool,
    /// `AccessShareLock`, `ExclusiveLock`, …
    pub mode: String,
    /// What is locked.
    pub on: TargetDocument,
}

/// The lock that a session awaits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AwaitedDocument {
    /// `ShareLock`, `AccessExclusiveLock`, …
    pub mode: String,
    /// What is locked.
    pub on: TargetDocument,
}

/// What a lock is on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TargetDocument {
    /// A table, index, sequence, ….
    Relation {
        /// Its name as SQL in the case's database writes it, or its oid where the transaction that
        /// made it is still open.
        relation: String,
    },
    /// A row version.
    Tuple {
        /// The table.
        relation: String,
        /// Its block.
        page: i32,
        /// Its place in the block.
        tuple: i16,
    },
    /// A transaction, which others wait for to end.
    Transaction {
        /// Its number.
        xid: u32,
        /// Whose it is, where that is known.
        session: Option<String>,
    },
    /// A virtual transaction.
    VirtualTransaction {
        /// Its number: `3/17`.
        virtual_transaction: String,
        /// Whose it is, where that is known.
        session: Option<String>,
    },
    /// The key of an advisory lock.
    Advisory {
        /// One number or two, as the scenario gave them.
        key: Vec<i64>,
    },
    /// Anything else.
    Other {
        /// The server's word for it, and its numbers.
        what: String,
    },
}

/// The events of a transcript.
pub(super) fn event_documents(transcript: &Transcript) -> Vec<EventDocument> {
    let writer = Writer {
        transcript,
        volatile: Volatile::of(transcript),
    };
    let events = transcript.events.iter().enumerate();
    events
        .map(|(at, event)| EventDocument {
            step: event.step,
            at_ms: milliseconds(event.at),
            event: writer.event(at, &event.kind),
        })
        .collect()
}

struct Writer<'a> {
    transcript: &'a Transcript,
    volatile: Volatile<'a>,
}

impl Writer<'_> {
    fn event(&self, at: usize, kind: &EventKind) -> EventData {
        match kind {
            EventKind::Sent { session, sending } => EventData::Sent {
                session: self.name(*session),
                how: how(sending),
                sql: sending.sql().iter().map(|sql| sql.text.clone()).collect(),
                parameters: parameters(sending),
                name: name_of_statement(sending),
                data: match sending {
                    Sending::Copy { data, .. } => Some(data.text.clone()),
                    _ => None,
                },
            },
            EventKind::Checked { sql, invariant } => EventData::Checked {
                sql: sql.clone(),
                invariant: invariant.clone(),
            },
            EventKind::Answered {
                session,
                statement,
                answers,
                status,
                ..
            } => EventData::Answered {
                session: session.and_then(|session| self.name(session)),
                statement: statement.text.clone(),
                answers: answer_documents(answers, &self.volatile.answers(answers), |pid| {
                    let backends = &self.transcript.backends;
                    let (_, session) = backends.iter().rev().find(|(other, _)| *other == pid)?;
                    self.name(*session)
                }),
                transaction: status.map(|status| match status {
                    TransactionStatus::Idle => "idle",
                    TransactionStatus::InTransaction => "in_transaction",
                    TransactionStatus::Failed => "failed",
                }),
            },
            EventKind::Waits { session, blockers } => EventData::Waits {
                session: self.name(*session),
                blockers: blockers.iter().map(|whom| self.blocker(whom)).collect(),
                lock: self.awaited(at, *session),
            },
            EventKind::HeldBack { session } => EventData::HeldBack {
                session: self.name(*session),
            },
            EventKind::Continues { session } => EventData::Continues {
                session: self.name(*session),
            },
            EventKind::Advanced { by, to } => EventData::Advanced {
                by_ms: milliseconds(*by),
                to: to.to_string(),
            },
            EventKind::Slept(time) => EventData::Slept {
                ms: milliseconds(*time),
            },
            EventKind::Disconnected(session) => EventData::Disconnected {
                session: self.name(*session),
            },
            EventKind::Lingers { session, blockers } => EventData::Lingers {
                session: self.name(*session),
                blockers: blockers.iter().map(|whom| self.blocker(whom)).collect(),
            },
            EventKind::Connected(session) => EventData::Connected {
                session: self.name(*session),
            },
            EventKind::CancelRequested(session) => EventData::CancelRequested {
                session: self.name(*session),
            },
            EventKind::Terminated(session) => EventData::Terminated {
                session: self.name(*session),
            },
            EventKind::Restarted(shutdown) => EventData::Restarted {
                shutdown: match shutdown {
                    Shutdown::Fast => "fast",
                    Shutdown::Immediate => "immediate",
                },
            },
            EventKind::Locks(locks) => EventData::Locks {
                locks: locks.iter().map(|lock| self.lock(lock)).collect(),
            },
        }
    }

    /// What a session awaits at the look after the event that says it waits.
    fn awaited(&self, at: usize, session: SessionIndex) -> Option<AwaitedDocument> {
        let later = &self.transcript.events[at..];
        let locks = later.iter().find_map(|event| match &event.kind {
            EventKind::Locks(locks) => Some(locks),
            _ => None,
        })?;
        let lock = locks
            .iter()
            .find(|lock| lock.session == session && !lock.granted)?;
        Some(AwaitedDocument {
            mode: lock.mode.clone(),
            on: self.target(&lock.target),
        })
    }

    fn lock(&self, lock: &Lock) -> LockDocument {
        LockDocument {
            session: self.name(lock.session),
            granted: lock.granted,
            mode: lock.mode.clone(),
            on: self.target(&lock.target),
        }
    }

    fn target(&self, target: &LockTarget) -> TargetDocument {
        match target {
            LockTarget::Relation(relation) => TargetDocument::Relation {
                relation: relation.clone(),
            },
            LockTarget::Tuple {
                relation,
                page,
                tuple,
            } => TargetDocument::Tuple {
                relation: relation.clone(),
                page: *page,
                tuple: *tuple,
            },
            LockTarget::Transaction { xid } => TargetDocument::Transaction {
                xid: *xid,
                session: self.owner(&self.transcript.transactions, &u64::from(*xid)),
            },
            LockTarget::VirtualTransaction(vxid) => TargetDocument::VirtualTransaction {
                virtual_transaction: vxid.clone(),
                session: self.owner(&self.transcript.virtual_transactions, vxid),
            },
            LockTarget::Advisory(key) => TargetDocument::Advisory { key: key.clone() },
            LockTarget::Other(what) => TargetDocument::Other { what: what.clone() },
        }
    }

    fn owner<T: PartialEq>(&self, owners: &[(T, SessionIndex)], number: &T) -> Option<String> {
        let (_, session) = owners.iter().find(|(other, _)| other == number)?;
        self.name(*session)
    }

    fn blocker(&self, blocker: &Blocker) -> BlockerDocument {
        match blocker {
            Blocker::Session(session) => BlockerDocument::Session {
                session: self.name(*session),
            },
            Blocker::LostConnection(session) => BlockerDocument::LostConnection {
                session: self.name(*session),
            },
            Blocker::PreparedTransaction => BlockerDocument::PreparedTransaction,
            Blocker::WaitEvent(event) => BlockerDocument::WaitEvent {
                wait_event: event.clone(),
            },
        }
    }

    fn name(&self, session: SessionIndex) -> Option<String> {
        session_name(&self.transcript.sessions, session)
    }
}

const fn how(sending: &Sending) -> &'static str {
    match sending {
        Sending::Statements(_) => "statements",
        Sending::Message(_) => "message",
        Sending::Bound(_) => "bound",
        Sending::Prepare { .. } => "prepare",
        Sending::Execute { .. } => "execute",
        Sending::Pipeline(_) => "pipeline",
        Sending::Copy { .. } => "copy",
    }
}

fn parameters(sending: &Sending) -> Vec<Vec<Param>> {
    match sending {
        Sending::Bound(Bound { params, .. }) | Sending::Execute { params, .. } => {
            vec![params.clone()]
        }
        Sending::Pipeline(list) => list.iter().map(|bound| bound.params.clone()).collect(),
        _ => Vec::new(),
    }
}

fn name_of_statement(sending: &Sending) -> Option<String> {
    match sending {
        Sending::Prepare { name, .. } | Sending::Execute { name, .. } => Some(name.value.clone()),
        _ => None,
    }
}

/// To the microsecond.
fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
