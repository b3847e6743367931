//! Finds spec files.

use std::path::{Path, PathBuf};

use crate::scenario::{DiscoverError, discover_where};

/// Whether a file is a spec, by its name.
#[must_use]
pub fn is_spec(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "spec")
}

/// The specs that paths name: files as they are, and `*.spec` in folders and the folders in them.
///
/// # Errors
///
/// A path does not exist or may not be read.
pub fn discover<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, DiscoverError> {
    discover_where(paths, is_spec)
}
