//! Where a release runs.

mod database;
#[cfg(unix)]
pub mod embedded;
mod endpoint;
mod pins;
mod pool;
mod provider;
mod recipe;
mod release;
mod roles;
mod running;

pub use database::{CaseDatabase, DatabaseError, Databases, Reach};
pub use endpoint::{Address, Endpoint};
pub use pins::{Client, Package, PackageFile, Pin, Pins, this_platform};
pub use pool::Pool;
pub use provider::{ParseProviderError, Provider, StartError, start};
pub use recipe::Recipe;
pub use release::{ParseReleaseError, Release};
pub use running::Server;
