//! The cache folder: who may enter it, and what its parts are called.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use super::account::Account;
use super::error::{ServerError, ServerErrorKind, in_cache};

/// Where the fetched programs are, a folder a package.
pub(super) const SERVERS: &str = "servers";

/// Where the clusters are that servers are copies of, a folder a build of PostgreSQL.
pub(super) const TEMPLATES: &str = "templates";

/// Where the locks are of what is made, a file each.
pub(super) const LOCKS: &str = "locks";

/// How folders begin that are not finished.
pub(super) const UNFINISHED: &str = ".unfinished-";

/// Makes a folder that everybody may enter, whatever the umask.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    match folder.parent() {
        // Another account has to pass through all of them.
        Some(parent) if Account::caller().is_root() => make(parent)?,
        Some(parent) => fs::create_dir_all(parent)?,
        None => {}
    }
    match fs::DirBuilder::new().mode(0o755).create(folder) {
        Ok(()) => fs::set_permissions(folder, fs::Permissions::from_mode(0o755)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses a cache folder among everybody's temporary files that somebody else made: its programs
/// would be run.
pub(super) fn check_owner(cache: &Path) -> Result<(), ServerError> {
    let Ok(found) = fs::symlink_metadata(cache) else {
        return Ok(());
    };
    let shared = cache
        .parent()
        .and_then(|parent| fs::metadata(parent).ok())
        .is_some_and(|parent| parent.mode() & 0o002 != 0);
    if shared && ![Account::caller().uid, 0].contains(&found.uid()) {
        let cause = io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it belongs to somebody else",
        );
        return Err(in_cache(cache)(cause));
    }
    Ok(())
}

/// Refuses a path that the account which root's servers run as cannot reach, because a folder on
/// the way is closed to everybody but its owner and group. What is not there yet will be open.
pub(super) fn check_reach(path: &Path) -> Result<(), ServerError> {
    if !Account::caller().is_root() {
        return Ok(());
    }
    let there = path.ancestors().find(|part| part.is_dir()).unwrap_or(path);
    let real = there.canonicalize().map_err(in_cache(there))?;
    for folder in real.ancestors() {
        let mode = fs::metadata(folder).map_err(in_cache(folder))?.mode();
        if mode & 0o001 == 0 {
            return Err(ServerErrorKind::OutOfReach {
                path: path.to_owned(),
                closed: folder.to_owned(),
            }
            .into());
        }
    }
    Ok(())
}
