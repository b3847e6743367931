//! What a scenario is, once its file has been read and found right.

mod expect;
mod release;
mod scheduled;
mod step;

use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use super::source::{SourceFile, Span, Spanned, SqlText};
use super::virtual_time::VirtualTime;
use crate::schedule::Schedules;

pub use expect::{Blocker, Expect, Expectation, ExpectedError, ExpectedRows, Waits};
pub use release::{ReleaseComparison, ReleaseOperator, ReleaseRange};
pub use scheduled::InOrder;
pub use step::{Action, Bound, Param, Reply, Role, Sending, Shutdown, Step};

/// One scenario file or, where it has a matrix, what it is for one combination of the values.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file it was read from.
    pub source: SourceFile,
    /// The name of the case: `default`, or the values of the matrix.
    pub case: String,
    /// The matrix values that were put in, by name: `isolation`, `read committed`.
    pub matrix: Vec<(String, String)>,
    /// A line that names the race.
    pub title: String,
    /// A sentence or two on what it shows.
    pub summary: Option<String>,
    /// Words to select scenarios by.
    pub tags: Vec<String>,
    /// The releases it is meaningful on.
    pub postgres: ReleaseRange,
    /// What some of these do otherwise.
    pub differences: Vec<Difference>,
    /// Where the behaviour is documented.
    pub sources: Vec<Source>,
    /// SQL that makes the tables, run block by block before the sessions connect.
    pub setup: Vec<SqlText>,
    /// SQL run after the last step.
    pub teardown: Option<SqlText>,
    /// The sessions, in the order of the file.
    pub sessions: Vec<Session>,
    /// The steps, in order; where there are [`Scenario::schedules`], those that the sessions own, in
    /// the order of the file, and behind them what comes after every schedule.
    pub steps: Vec<Step>,
    /// The orders in which the sessions' own steps are played; `None` where the scenario has its
    /// steps in one order.
    pub schedules: Option<Arc<Schedules>>,
    /// Whether schedules are played in one database and through the same connections, so that each
    /// finds what the tear-downs of the one before have left.
    pub carries_over: bool,
    /// What the scenario demonstrates.
    pub claims: Vec<Claim>,
    /// What it does not show.
    pub limits: Vec<String>,
    /// How long one step, the set-up or the tear-down may take; `None` is the runner's default.
    pub timeout: Option<Duration>,
    /// The server of its own that it asks for; `None` where it is content with a database.
    pub own_server: Option<OwnServer>,
    /// Where the virtual clock stands at first; `None` is real time.
    pub clock: Option<VirtualTime>,
    /// What is replaced in what the server sends.
    pub redactions: Vec<Redaction>,
    /// Where it asks for its SQL to run as a superuser; `None` where it is content to own its
    /// database.
    pub superuser: Option<Span>,
}

impl Scenario {
    /// Every piece of SQL in the scenario, in the order in which they run.
    pub fn all_sql(&self) -> impl Iterator<Item = &SqlText> {
        let steps = self.steps.iter().flat_map(|step| step.action.sql());
        self.setup
            .iter()
            .chain(
                self.sessions
                    .iter()
                    .filter_map(|session| session.setup.as_ref()),
            )
            .chain(steps)
            .chain(
                self.sessions
                    .iter()
                    .filter_map(|session| session.teardown.as_ref()),
            )
            .chain(&self.teardown)
    }
}

/// A server that one case has to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnServer {
    /// Where it is asked for.
    pub span: Span,
    /// What is set when the server starts.
    pub settings: Vec<Setting>,
}

/// Text in the server's answers that is different in each run, and what is shown instead.
#[derive(Debug, Clone)]
pub struct Redaction {
    /// Where it is written.
    pub span: Span,
    /// What is replaced.
    pub pattern: Regex,
    /// What is put in its place; `$1` stands for the pattern's first group.
    pub replacement: String,
}

impl PartialEq for Redaction {
    /// Two are equal when they were written alike.
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span
            && self.pattern.as_str() == other.pattern.as_str()
            && self.replacement == other.replacement
    }
}

impl Eq for Redaction {}

/// What some releases do otherwise than the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where it is written.
    pub span: Span,
    /// The releases.
    pub releases: ReleaseRange,
    /// What they do, in a line.
    pub what: String,
}

/// A link to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What it is called.
    pub title: String,
    /// Its address.
    pub url: Option<String>,
}

/// The position of a session in [`Scenario::sessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionIndex(pub usize);

/// One named database connection.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its name, as steps and the transcript use it.
    pub name: Spanned<String>,
    /// A longer name for the published lesson.
    pub title: Option<String>,
    /// The isolation level its transactions get (`default_transaction_isolation`).
    pub isolation: Option<Isolation>,
    /// GUCs, set before the first statement.
    pub settings: Vec<Setting>,
    /// SQL the session runs before the first step.
    pub setup: Option<SqlText>,
    /// SQL the session runs after the last step.
    pub teardown: Option<SqlText>,
    /// The role it takes with `SET ROLE`.
    pub role: Option<Spanned<String>>,
}

/// A server setting and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name, in lower case.
    pub name: Spanned<String>,
    /// The value as it is given to `SET`.
    pub value: String,
}

/// A transaction isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// PostgreSQL treats it as read committed.
    ReadUncommitted,
    /// Each statement sees what was committed before it began.
    ReadCommitted,
    /// Each transaction sees what was committed before its first statement.
    RepeatableRead,
    /// As if transactions ran one after another.
    Serializable,
}

impl Isolation {
    /// The level as SQL spells it, in lower case: `read committed`.
    #[must_use]
    pub const fn as_sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// A sentence that the scenario demonstrates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The sentence.
    pub claim: String,
    /// Positions in [`Scenario::steps`] of the steps that demonstrate it.
    pub steps: Vec<usize>,
    /// Positions in [`Scenario::sources`] of where it is documented.
    pub sources: Vec<usize>,
}
