//! What a scenario is, once its file has been read and found right.

use std::time::Duration;

use super::source::{SourceFile, Span, Spanned, SqlText};

/// One scenario file.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file it was read from.
    pub source: SourceFile,
    /// A line that names the race.
    pub title: String,
    /// A sentence or two on what it shows.
    pub summary: Option<String>,
    /// Words to select scenarios by.
    pub tags: Vec<String>,
    /// The releases it is meaningful on.
    pub postgres: ReleaseRange,
    /// Where the behaviour is documented.
    pub sources: Vec<Source>,
    /// SQL that makes the tables, run before the sessions connect.
    pub setup: Option<SqlText>,
    /// SQL run after the last step.
    pub teardown: Option<SqlText>,
    /// The sessions, in the order of the file.
    pub sessions: Vec<Session>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What the scenario demonstrates.
    pub claims: Vec<Claim>,
    /// What it does not show.
    pub limits: Vec<String>,
    /// How long one step, the set-up or the tear-down may take; `None` is the runner's default.
    pub timeout: Option<Duration>,
    /// The server of its own that it asks for; `None` where it is content with a database.
    pub own_server: Option<OwnServer>,
}

impl Scenario {
    /// Every piece of SQL in the scenario, in the order in which they run.
    pub fn all_sql(&self) -> impl Iterator<Item = &SqlText> {
        let steps = self.steps.iter().filter_map(|step| match &step.action {
            Action::Statement { sql, .. } | Action::Check(sql) => Some(sql),
            Action::Say(_) | Action::WaitFor(_) => None,
        });
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

/// The releases a scenario is meaningful on: every comparison of the list must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseRange {
    /// Comparisons such as `>=9.5`; none means every release.
    pub comparisons: Vec<ReleaseComparison>,
}

/// One comparison of a [`ReleaseRange`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseComparison {
    /// How the release compares with the bound.
    pub operator: ReleaseOperator,
    /// The parts of the bound: `[9, 5]`, `[15]`, `[18, 6]`. A release is cut to the same number of
    /// parts before it is compared, so `<=15` holds for 15.18.
    pub bound: Vec<u32>,
}

/// The operator of a [`ReleaseComparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseOperator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=` (also written without an operator)
    Equal,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
}

impl ReleaseRange {
    /// Whether a release, such as `[18, 6]`, lies in the range.
    #[must_use]
    pub fn contains(&self, release: &[u32]) -> bool {
        self.comparisons.iter().all(|comparison| {
            let bound = &comparison.bound;
            let cut = &release[..release.len().min(bound.len())];
            match comparison.operator {
                ReleaseOperator::Less => cut < bound.as_slice(),
                ReleaseOperator::LessOrEqual => cut <= bound.as_slice(),
                ReleaseOperator::Equal => cut == bound.as_slice(),
                ReleaseOperator::GreaterOrEqual => cut >= bound.as_slice(),
                ReleaseOperator::Greater => cut > bound.as_slice(),
            }
        })
    }
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub struct Step {
    /// The whole step in the file.
    pub span: Span,
    /// What happens.
    pub action: Action,
    /// Its name, unique in the scenario.
    pub id: Option<Spanned<String>>,
    /// The short text in the swimlane.
    pub label: Option<String>,
    /// A remark shown under the statement.
    pub note: Option<String>,
    /// What must come out.
    pub expect: Option<Expect>,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Prose between the steps, in Markdown; nothing runs.
    Say(String),
    /// A session runs SQL.
    Statement {
        /// The session.
        session: SessionIndex,
        /// The SQL; the text under `statements:` when the step names one.
        sql: SqlText,
    },
    /// An outside observer, in no session's transaction, asks the database.
    Check(SqlText),
    /// Nothing is sent; the step ends when the session's running statement does.
    WaitFor(SessionIndex),
}

/// What must come out of a step, on every release. A step of several statements is held to the
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
    /// It must wait for exactly these sessions.
    For(Vec<SessionIndex>),
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
