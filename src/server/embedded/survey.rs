//! What is at hand of the pinned releases, without fetching any.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::client::PackageClient;
use super::environment::{Environment, cache_folder};
use super::programs::{self, Programs};
use crate::server::{Client, Pin, Pins, Release};

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

/// Looks at what is at hand of the pinned releases; nothing is fetched or changed.
pub async fn survey(pins: &Pins, environment: &Environment) -> Survey {
    let cache = cache_folder(environment);
    let mut clients = Vec::new();
    for client in [Client::Pip, Client::Npm] {
        if let Some(found) = PackageClient::find(client, environment).await {
            clients.push(FoundClient {
                client,
                program: found.program().to_owned(),
                version: found.version().to_owned(),
            });
        }
    }
    let mut releases = Vec::new();
    for pin in pins.iter() {
        let at_hand = at_hand(pin, &cache, &clients, environment).await;
        releases.push((pin.release, at_hand));
    }
    let measured = cache.clone();
    let bytes = super::blocking(move || size(&measured)).await;
    Survey {
        cache,
        bytes,
        clients,
        releases,
    }
}

async fn at_hand(
    pin: &Pin,
    cache: &Path,
    clients: &[FoundClient],
    environment: &Environment,
) -> AtHand {
    if let Some(programs) = Programs::in_cache(pin, cache) {
        return AtHand::Fetched(programs.folder);
    }
    if let Some(programs) = programs::find(pin, cache, environment).await {
        return AtHand::Installed(programs.folder);
    }
    let package = pin.package.as_ref();
    match package.and_then(|package| Some((package.client, package.file_for_this_platform()?))) {
        None => AtHand::NoPackage,
        Some((client, file)) if clients.iter().any(|found| found.client == client) => {
            AtHand::Fetchable {
                client,
                megabytes: file.megabytes,
            }
        }
        Some((client, _)) => AtHand::NeedsClient(client),
    }
}

/// How much of the disk a file, or a folder with all in it, takes; what cannot be read counts
/// nothing.
pub(super) fn size(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else {
        return 0;
    };
    let inside: u64 = if found.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| size(&entry.path())).sum()
    } else {
        0
    };
    // The unit of the count, whatever the file system's own is.
    found.blocks() * 512 + inside
}
