//! Where a release runs.

mod database;
#[cfg(unix)]
pub mod embedded;
mod endpoint;
pub mod external;
mod pins;
mod pool;
mod provider;
mod recipe;
mod release;
mod roles;
mod running;
mod settings;
mod tls;
mod tls_control;

pub use database::{CaseDatabase, DatabaseError, Databases, Reach};
pub use endpoint::{Address, Endpoint};
pub use pins::{Client, Package, PackageFile, Pin, Pins, this_platform};
pub use pool::Pool;
pub use provider::{ParseProviderError, Provider, StartError, start};
pub use recipe::Recipe;
pub use release::{ParseReleaseError, Release};
pub use running::Server;
pub(crate) use tls::TlsToHost;
pub use tls::{Tls, TlsError, TlsFiles, Verification};
