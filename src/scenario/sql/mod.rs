//! SQL, cut into statements as psql cuts it.

mod cluster_wide;
mod copy;
mod lexer;
mod parameter;
mod problem;
mod split;
mod statement;

pub(crate) use cluster_wide::{ClusterWide, cluster_wide};
pub(crate) use copy::copy_from_stdin;
pub(crate) use lexer::token_at;
pub(crate) use parameter::highest_parameter;
pub use problem::{SplitProblem, SplitProblemKind};
pub use split::{as_one_message, split};
pub use statement::Statement;
