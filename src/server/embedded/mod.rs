//! Servers from a package of PostgreSQL's own programs, each in a private folder for one run.

mod at_hand;
mod environment;
mod error;
mod progress;
mod pruned;

#[cfg(not(unix))]
mod elsewhere;

#[cfg(unix)]
mod account;
#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod client;
#[cfg(unix)]
mod fetch;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod log;
#[cfg(unix)]
mod programs;
#[cfg(unix)]
mod prune;
#[cfg(unix)]
mod search;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod survey;
#[cfg(unix)]
mod sweep;
#[cfg(unix)]
mod template;
#[cfg(unix)]
mod unpack;
#[cfg(unix)]
mod workshop;

pub use at_hand::{AtHand, FoundClient, Survey};
pub use environment::Environment;
pub use error::{ServerError, ServerErrorKind};
pub use progress::Progress;
pub use pruned::{Needless, Pruned, Removed};

#[cfg(not(unix))]
pub use elsewhere::{Server, fetch, is_at_hand, prepare, prune, start, start_installed, survey};

#[cfg(unix)]
pub use cache::cache_folder;
#[cfg(unix)]
pub use prune::prune;
#[cfg(unix)]
pub use start::{Server, fetch, is_at_hand, prepare, start, start_installed};
#[cfg(unix)]
pub use survey::survey;

#[cfg(unix)]
use super::randomness::{hex, random, secret};
#[cfg(unix)]
use start::blocking;
