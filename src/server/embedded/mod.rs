//! Servers from a package of PostgreSQL's own programs, each in a private folder for one run.

mod account;
mod cache;
mod client;
mod environment;
mod error;
mod fetch;
mod folder;
mod keeper;
mod lock;
mod programs;
mod progress;
mod prune;
mod start;
mod survey;
mod sweep;
mod template;
mod unpack;
mod workshop;

pub use environment::{Environment, cache_folder};
pub use error::{ServerError, ServerErrorKind};
pub use progress::Progress;
pub use prune::{Needless, Pruned, Removed, prune};
pub use start::{Server, fetch, is_at_hand, prepare, start, start_installed};
pub use survey::{AtHand, FoundClient, Survey, survey};

use super::randomness::{hex, random, secret};
use start::blocking;
