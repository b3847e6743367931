//! Removing from the cache what nobody needs any more.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{LOCKS, SERVERS, TEMPLATES, UNFINISHED, check_owner};
use super::environment::{Environment, cache_folder};
use super::error::{ServerError, in_cache};
use super::lock::{is_named, lock};
use super::survey::size;
use super::{fetch, template, workshop};
use crate::server::Pins;

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

/// Removes from the cache the packages that `pins` do not name, clusters of programs that have
/// changed or are gone, and what runs that died left unfinished; with `everything`, all of it. What
/// a run uses or makes right now stays.
///
/// # Errors
///
/// Something cannot be removed; the rest may have been.
pub async fn prune(
    pins: &Pins,
    environment: &Environment,
    everything: bool,
) -> Result<Pruned, ServerError> {
    let cache = cache_folder(environment);
    check_owner(&cache)?;
    let pinned = pins
        .iter()
        .filter_map(|pin| fetch::place(pin, &cache))
        .collect();
    super::blocking(move || {
        let mut pruning = Pruning {
            cache: &cache,
            pinned,
            everything,
            pruned: Pruned::default(),
        };
        pruning.run().map(|()| pruning.pruned)
    })
    .await
}

struct Pruning<'a> {
    cache: &'a Path,
    /// The places of the pinned packages.
    pinned: Vec<PathBuf>,
    everything: bool,
    pruned: Pruned,
}

impl Pruning<'_> {
    fn run(&mut self) -> Result<(), ServerError> {
        for path in entries(self.cache)? {
            if name(&path).starts_with(UNFINISHED) {
                self.unfinished(&path)?;
            }
        }
        for path in entries(&self.cache.join(SERVERS))? {
            if !self.pinned.contains(&path) {
                self.remove(&path, Needless::NotPinned)?;
            } else if self.everything {
                self.remove(&path, Needless::Everything)?;
            }
        }
        // After the packages: a cluster whose programs have just gone is outdated.
        for path in entries(&self.cache.join(TEMPLATES))? {
            if template::programs_of(&path).is_none() {
                self.remove(&path, Needless::Outdated)?;
            } else if self.everything {
                self.remove(&path, Needless::Everything)?;
            }
        }
        self.locks()?;
        if self.everything {
            for folder in [SERVERS, TEMPLATES, LOCKS] {
                // What is not empty is in use, or not ours.
                let _ = fs::remove_dir(self.cache.join(folder));
            }
            let _ = fs::remove_dir(self.cache);
        }
        Ok(())
    }

    /// Removes an unfinished folder, unless somebody is at it.
    fn unfinished(&mut self, path: &Path) -> Result<(), ServerError> {
        let lock = workshop::lock_of(self.cache, &name(path));
        let held = match lock.filter(|lock| lock.exists()) {
            None => None,
            Some(lock) => match try_lock(&lock)? {
                Some(file) => Some(file),
                None => {
                    self.pruned.in_use.push(path.to_owned());
                    return Ok(());
                }
            },
        };
        let bytes = size(path);
        fs::remove_dir_all(path).map_err(in_cache(path))?;
        drop(held);
        self.removed(path, bytes, Needless::Unfinished);
        Ok(())
    }

    /// Removes a package or a cluster, unless a run uses it.
    fn remove(&mut self, path: &Path, why: Needless) -> Result<(), ServerError> {
        let Some(_lock) = lock(path).map_err(in_cache(path))? else {
            self.pruned.in_use.push(path.to_owned());
            return Ok(());
        };
        let bytes = size(path);
        // At once, so that nobody ever sees half of it.
        let aside = self
            .cache
            .join(format!("{UNFINISHED}{:016x}", super::random()));
        fs::rename(path, &aside).map_err(in_cache(path))?;
        fs::remove_dir_all(&aside).map_err(in_cache(&aside))?;
        self.removed(path, bytes, why);
        Ok(())
    }

    fn removed(&mut self, path: &Path, bytes: u64, why: Needless) {
        self.pruned.removed.push(Removed {
            path: path.to_owned(),
            bytes,
            why,
        });
    }

    /// Removes the locks of what is not there, which nobody makes right now.
    fn locks(&self) -> Result<(), ServerError> {
        let kinds = [SERVERS, TEMPLATES].map(|kind| self.cache.join(kind));
        let mut used = Vec::new();
        for kind in &kinds {
            for path in entries(kind)? {
                used.push(workshop::name(self.cache, &path));
            }
        }
        for path in entries(&self.cache.join(LOCKS))? {
            if !used.contains(&name(&path))
                && let Some(_lock) = try_lock(&path)?
            {
                fs::remove_file(&path).map_err(in_cache(&path))?;
            }
        }
        Ok(())
    }
}

/// Takes a lock that making something wants; `None` if somebody has it.
fn try_lock(path: &Path) -> Result<Option<File>, ServerError> {
    let file = match File::options().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(in_cache(path))?,
    };
    Ok((file.try_lock().is_ok() && is_named(&file, path)).then_some(file))
}

/// What is in a folder, in order; nothing if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ServerError> {
    let read = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(in_cache(folder))?,
    };
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
