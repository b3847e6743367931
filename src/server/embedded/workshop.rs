//! Making things in the cache: each appears whole or not at all, and is made by one run at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::cache::{LOCKS, UNFINISHED, check_owner, make};
use super::error::{ServerError, in_cache};
use super::lock::is_named;
use super::progress::{Progress, Reporter};

/// The right to make one thing in the cache. The kernel takes it back when the run dies. Other
/// things may be made by others at the same time.
#[derive(Debug)]
pub(super) struct Workshop {
    cache: PathBuf,
    /// Where the thing will be.
    place: PathBuf,
    /// What its unfinished folders begin with.
    prefix: String,
    _lock: File,
}

impl Workshop {
    /// Makes the cache folder where it is not there, and waits for the right to make what will be
    /// in `place`, which is two folders below it.
    pub(super) async fn enter(
        cache: &Path,
        place: &Path,
        report: Reporter<'_>,
    ) -> Result<Self, ServerError> {
        make(cache).map_err(in_cache(cache))?;
        // Once more, now that it is there for certain.
        check_owner(cache)?;
        let name = name(cache, place);
        let locks = cache.join(LOCKS);
        make(&locks).map_err(in_cache(&locks))?;
        let path = locks.join(&name);
        let lock = loop {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(in_cache(&path))?;
            let file = match file.try_lock() {
                Ok(()) => file,
                Err(TryLockError::Error(error)) => return Err(in_cache(&path)(error)),
                Err(TryLockError::WouldBlock) => {
                    report(Progress::Waiting);
                    super::blocking(move || file.lock().map(|()| file))
                        .await
                        .map_err(in_cache(&path))?
                }
            };
            // Whoever had it before may have removed it.
            if is_named(&file, &path) {
                break file;
            }
        };
        let workshop = Self {
            cache: cache.to_owned(),
            place: place.to_owned(),
            prefix: format!("{UNFINISHED}{name}~"),
            _lock: lock,
        };
        workshop.clear();
        Ok(workshop)
    }

    /// A path for an unfinished folder.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.cache
            .join(format!("{}{:016x}", self.prefix, super::random()))
    }

    /// A fresh folder for something unfinished. It is removed when it is dropped.
    pub(super) fn bench(&self) -> Result<tempfile::TempDir, ServerError> {
        tempfile::Builder::new()
            .prefix(&self.prefix)
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&self.cache)
            .map_err(in_cache(&self.cache))
    }

    /// Puts what was finished in its place, at once.
    pub(super) fn publish(&self, finished: &Path) -> Result<(), ServerError> {
        let place = &self.place;
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
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(&self.prefix) {
                // What cannot be removed is only in the way of nobody.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The name of the lock of a place.
pub(super) fn name(cache: &Path, place: &Path) -> String {
    let inside = place.strip_prefix(cache).unwrap_or(place);
    inside.to_string_lossy().replace('/', "-")
}

/// The lock that whoever makes an unfinished folder of this name holds; there is none of a folder
/// that is being removed.
pub(super) fn lock_of(cache: &Path, unfinished: &str) -> Option<PathBuf> {
    let (name, _) = unfinished.strip_prefix(UNFINISHED)?.split_once('~')?;
    Some(cache.join(LOCKS).join(name))
}
