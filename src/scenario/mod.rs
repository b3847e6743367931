//! Scenario files: the model, the loader that finds every mistake with its place, the SQL splitter.

mod diagnostic;
mod discover;
mod load;
mod model;
mod render;
mod source;
mod sql;
mod virtual_time;

pub use diagnostic::Diagnostic;
pub(crate) use discover::discover_where;
pub use discover::{DiscoverError, discover};
pub use load::{
    LoadError, Loaded, ParseDurationError, ReadError, ReadErrorKind, SERVER_SETTINGS,
    SUPERUSER_SETTINGS, load, load_all, parse, parse_duration, read,
};
pub(crate) use load::{Mistake, Mistakes, closest, is_name, is_step_key, suggestion};
pub use model::{
    Action, Blocker, Bound, Claim, Difference, Expect, Expectation, ExpectedError, ExpectedRows,
    InOrder, Isolation, OwnServer, Param, Redaction, ReleaseComparison, ReleaseOperator,
    ReleaseRange, Reply, Role, Scenario, Sending, Session, SessionIndex, Setting, Shutdown, Source,
    Step, Waits,
};
pub use render::{RenderStyle, render};
pub use source::{SourceFile, Span, Spanned, SqlText};
pub(crate) use sql::{
    FilledTables, Signals, changes_rows_only, dropped_tables, filled_tables, leaves_no_trace,
    prepared_transactions, reaches_beyond_its_database, token_at,
};
pub use sql::{SplitProblem, SplitProblemKind, Statement, as_one_message, split};
pub use virtual_time::VirtualTime;
