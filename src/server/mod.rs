//! Where a release runs.

mod auto;
#[cfg(feature = "container")]
pub mod container;
mod database;
#[cfg(unix)]
pub mod embedded;
mod endpoint;
mod local;
mod pins;
mod progress;
mod provider;
mod randomness;
mod release;
mod roles;
mod running;
#[cfg(feature = "container")]
mod settings;
mod version;

pub use database::{CaseDatabase, DatabaseError, Databases};
pub use endpoint::{Address, Endpoint};
pub use local::{Local, LocalError};
pub use pins::{
    Client, Image, PINS_FILE, Package, PackageFile, Pin, Pins, PinsError, this_platform,
};
pub use progress::{Choice, Progress};
pub use provider::{Environment, ParseProviderError, Provider, StartError, start};
pub use release::{ParseReleaseError, Release};
pub use running::Server;
