//! Servers from a package of PostgreSQL's own programs, each in a private folder for one run.

mod account;
mod cache;
mod environment;
mod error;
mod fetch;
mod folder;
mod keeper;
mod pip;
mod programs;
mod progress;
mod start;
mod sweep;
mod template;
mod unpack;

pub use environment::{Environment, cache_folder};
pub use error::{ServerError, ServerErrorKind};
pub use progress::Progress;
pub use start::{Server, fetch, is_at_hand, start};

use super::randomness::{hex, random, secret};
use start::blocking;
