//! Locks on folders, which the kernel takes back when their holder dies.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Locks a folder for as long as the file is held, for its holder alone. `None` if somebody else
/// has a lock of either kind, or the folder is gone.
pub(super) fn lock(folder: &Path) -> io::Result<Option<File>> {
    take(folder, File::try_lock)
}

/// Locks a folder for as long as the file is held, together with others who only use it. `None` if
/// somebody has it alone, who removes it then, or the folder is gone.
pub(super) fn lock_shared(folder: &Path) -> io::Result<Option<File>> {
    take(folder, File::try_lock_shared)
}

fn take(
    folder: &Path,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
) -> io::Result<Option<File>> {
    let file = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match lock(&file) {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    // Whoever had the lock before may have removed what it was on.
    Ok(is_named(&file, folder).then_some(file))
}

/// Whether an open file or folder still has this name.
pub(super) fn is_named(file: &File, path: &Path) -> bool {
    fs::symlink_metadata(path)
        .ok()
        .zip(file.metadata().ok())
        .is_some_and(|(named, open)| (named.dev(), named.ino()) == (open.dev(), open.ino()))
}
