//! What is at hand of the pinned releases.

use std::path::PathBuf;

use crate::server::{Client, Release};

/// What is at hand of the pinned releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The cache folder, which may not be there yet.
    pub cache: PathBuf,
    /// How much of the disk it takes, in bytes.
    pub bytes: u64,
    /// The package clients that answer.
    pub clients: Vec<FoundClient>,
    /// The pinned releases, oldest first.
    pub releases: Vec<(Release, AtHand)>,
}

/// A package client that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundClient {
    /// Which it is.
    pub client: Client,
    /// Its program.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
}

/// Whether a release is at hand; a folder is that of its programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtHand {
    /// It was fetched into the cache.
    Fetched(PathBuf),
    /// It is installed on the machine.
    Installed(PathBuf),
    /// It can be fetched.
    Fetchable {
        /// With which client.
        client: Client,
        /// The size of the package.
        megabytes: u32,
    },
    /// It could be fetched if this client were there.
    NeedsClient(Client),
    /// There is no package of it for this platform.
    NoPackage,
}
