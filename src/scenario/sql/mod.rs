//! SQL, cut into statements as psql cuts it.

mod cluster_wide;
mod copy;
mod lexer;
mod parameter;
mod prepare;
mod problem;
mod signals;
mod split;
mod statement;
mod tables;
mod traces;
mod virtual_clock;

pub(crate) use cluster_wide::{ClusterWide, cluster_wide, reaches_beyond_its_database};
pub(crate) use copy::copy_from_stdin;
pub(crate) use lexer::token_at;
pub(crate) use parameter::highest_parameter;
pub(crate) use prepare::{prepared_name, prepared_transactions};
pub use problem::{SplitProblem, SplitProblemKind};
pub(crate) use signals::Signals;
pub use split::{as_one_message, split};
pub use statement::Statement;
pub(crate) use tables::{FilledTables, dropped_tables, filled_tables};
pub(crate) use traces::{changes_rows_only, leaves_no_trace};
pub(crate) use virtual_clock::{Uncaught, uncaught};
