//! What a start is busy with, where that takes long enough to be told.

use std::fmt;

use crate::server::Release;

/// Something a start takes time for, told when it begins. Each happens once a machine and release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another run is at it; this one waits for it.
    Waiting,
    /// The package client downloads the release.
    Fetching {
        /// The release.
        release: Release,
        /// The size of the package, in megabytes.
        megabytes: u32,
    },
    /// The package is unpacked.
    Unpacking(Release),
    /// A cluster is made, of which every later server is a copy.
    MakingCluster(Release),
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => write!(f, "waiting for another run that fetches or makes it"),
            Self::Fetching { release, megabytes } => {
                write!(f, "fetching PostgreSQL {release} (once, {megabytes} MB)")
            }
            Self::Unpacking(release) => write!(f, "unpacking PostgreSQL {release} (once)"),
            Self::MakingCluster(release) => {
                write!(f, "making a cluster of PostgreSQL {release} (once)")
            }
        }
    }
}

/// Who is told.
pub(super) type Reporter<'a> = &'a (dyn Fn(Progress) + Send + Sync);
