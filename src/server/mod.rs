//! Where a release runs.

mod endpoint;
mod release;

pub use endpoint::{Address, Endpoint};
pub use release::Release;
