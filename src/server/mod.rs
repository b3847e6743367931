//! Where a release runs.

mod database;
#[cfg(unix)]
pub mod embedded;
mod endpoint;
mod pins;
mod provider;
mod release;
mod roles;
mod running;

pub use database::{CaseDatabase, DatabaseError, Databases};
pub use endpoint::{Address, Endpoint};
pub use pins::{Client, Package, PackageFile, Pin, Pins, this_platform};
pub use provider::{ParseProviderError, Provider, StartError, start};
pub use release::{ParseReleaseError, Release};
pub use running::Server;
