//! Where a release runs.

mod database;
pub mod embedded;
mod endpoint;
mod local;
mod pins;
mod provider;
mod release;
mod roles;
mod running;
mod version;

pub use database::{CaseDatabase, DatabaseError, Databases};
pub use endpoint::{Address, Endpoint};
pub use local::{Local, LocalError};
pub use pins::{
    Client, Image, PINS_FILE, Package, PackageFile, Pin, Pins, PinsError, this_platform,
};
pub use provider::{ParseProviderError, Provider, StartError, start};
pub use release::{ParseReleaseError, Release};
pub use running::Server;
