//! Where a release runs.

mod auto;
#[cfg(feature = "container")]
mod conf;
#[cfg(feature = "container")]
pub mod container;
mod database;
pub mod embedded;
mod endpoint;
pub mod external;
mod local;
mod pins;
mod pool;
mod progress;
mod provider;
mod randomness;
mod recipe;
mod release;
mod roles;
mod running;
mod settings;
mod tls;
mod tls_control;
mod verifier;
mod version;

pub use database::{CaseDatabase, DatabaseError, Databases, Reach};
pub(crate) use database::{identifier, literal};
pub use endpoint::{Address, Endpoint};
pub use local::{Local, LocalError};
pub use pins::{
    Client, Image, PINS_FILE, Package, PackageFile, Pin, Pins, PinsError, this_platform,
};
pub use pool::Pool;
pub use progress::{Choice, Progress};
pub use provider::{Environment, ParseProviderError, Provider, StartError, start};
pub use recipe::Recipe;
pub use release::{ParseReleaseError, Release};
pub use running::{RestartError, Server};
pub(crate) use tls::TlsToHost;
pub use tls::{Tls, TlsError, TlsFiles, Verification};
