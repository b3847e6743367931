//! Holds what was observed against what a scenario expects.

mod error;
mod glob;
mod notices;
mod observed;
mod outcomes;
mod place;
mod result;
mod rows;
mod unmet;
mod waits;

#[cfg(test)]
mod fixture;

pub(crate) use error::expects;
pub use error::server_error;
pub use observed::{Answered, Observed};
pub use outcomes::{allowed_in, chosen_in};
pub use unmet::{unmet, unmet_in};
