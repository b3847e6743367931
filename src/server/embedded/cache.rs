//! The cache folder: what is in it appears whole or not at all, made by one run at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::account::Account;
use super::error::{ServerError, ServerErrorKind, in_cache};
use super::progress::{Progress, Reporter};

/// How folders that are not finished begin.
const UNFINISHED: &str = ".unfinished-";

/// The right to make things in the cache, for one run at a time. The kernel takes it back when the
/// run dies.
#[derive(Debug)]
pub(super) struct Workshop {
    cache: PathBuf,
    _lock: File,
}

impl Workshop {
    /// Makes the cache folder where it is not there, and waits for the right to make things in it.
    pub(super) async fn enter(cache: &Path, report: Reporter<'_>) -> Result<Self, ServerError> {
        make(cache).map_err(in_cache(cache))?;
        // Once more, now that it is there for certain.
        check_owner(cache)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(cache.join("lock"))
            .map_err(in_cache(cache))?;
        let file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::Error(error)) => return Err(in_cache(cache)(error)),
            Err(TryLockError::WouldBlock) => {
                report(Progress::Waiting);
                super::blocking(move || file.lock().map(|()| file))
                    .await
                    .map_err(in_cache(cache))?
            }
        };
        let workshop = Self {
            cache: cache.to_owned(),
            _lock: file,
        };
        workshop.clear();
        Ok(workshop)
    }

    /// A path for an unfinished folder.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.cache
            .join(format!("{UNFINISHED}{:016x}", super::random()))
    }

    /// A fresh folder for something unfinished. It is removed when it is dropped.
    pub(super) fn bench(&self) -> Result<tempfile::TempDir, ServerError> {
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&self.cache)
            .map_err(in_cache(&self.cache))
    }

    /// Puts what was finished in its place, at once.
    pub(super) fn publish(&self, finished: &Path, place: &Path) -> Result<(), ServerError> {
        let parent = place.parent().unwrap_or(&self.cache);
        make(parent).map_err(in_cache(parent))?;
        match fs::remove_dir_all(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(in_cache(place)(error));
            }
            _ => {}
        }
        fs::rename(finished, place).map_err(in_cache(place))
    }

    /// Removes what runs that died left unfinished.
    fn clear(&self) {
        for entry in fs::read_dir(&self.cache).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                // What cannot be removed is only in the way of nobody.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Makes a folder that everybody may enter, whatever the umask.
fn make(folder: &Path) -> io::Result<()> {
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
