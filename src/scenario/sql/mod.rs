//! SQL, cut into statements as psql cuts it.

mod lexer;
mod problem;
mod split;
mod statement;

pub(crate) use lexer::token_at;
pub use problem::{SplitProblem, SplitProblemKind};
pub use split::split;
pub use statement::Statement;
