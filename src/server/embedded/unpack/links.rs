//! The symbolic links of npm's packages. npm packs none, so these packages list theirs in a file,
//! from which a script of the package makes them; Lockstep runs no script.

use std::path::PathBuf;

use serde::Deserialize;

/// Where the list is in the archive.
pub(super) const LIST: &str = "package/native/pg-symlinks.json";

/// The folder that its paths start from.
const BASE: &str = "package";

/// One link.
#[derive(Debug, Deserialize)]
pub(super) struct Link {
    /// What it leads to.
    source: PathBuf,
    /// Where it is.
    target: PathBuf,
}

impl Link {
    /// Where it is in the archive.
    pub(super) fn place(&self) -> PathBuf {
        PathBuf::from(BASE).join(&self.target)
    }

    /// What it leads to in the archive.
    pub(super) fn goal(&self) -> PathBuf {
        PathBuf::from(BASE).join(&self.source)
    }
}
