//! What was removed from the cache.

use std::path::PathBuf;

/// What was removed from the cache, and what was left because a run uses it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// What was removed.
    pub removed: Vec<Removed>,
    /// What would have been removed if it were not in use.
    pub in_use: Vec<PathBuf>,
}

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Where it was.
    pub path: PathBuf,
    /// How much of the disk it took, in bytes.
    pub bytes: u64,
    /// Why it was not needed.
    pub why: Needless,
}

/// Why something in the cache is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needless {
    /// A run died before it was finished.
    Unfinished,
    /// The package is not pinned any more.
    NotPinned,
    /// The programs that the cluster was made with have changed or are gone, or Lockstep makes it
    /// otherwise now.
    Outdated,
    /// Everything was to be removed.
    Everything,
}
