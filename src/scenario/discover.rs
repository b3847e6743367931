//! Finds scenario files.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold no scenarios of one's own.
const SKIPPED: &[&str] = &["target", "node_modules", "snapshots"];

/// A path that could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("failed to look for scenarios in {}: {source}", path.display())]
pub struct DiscoverError {
    /// The path: as the user named it, or below one of those.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The scenario files that paths name. A file is taken as it is; a folder is walked for `*.yaml`
/// and `*.yml`, in the order of their names, without hidden folders, `target`, `node_modules` and
/// `snapshots`. A file that is named twice is given once.
///
/// Nothing found is no error here.
///
/// # Errors
///
/// Fails if a path does not exist or may not be read.
///
/// # Examples
///
/// ```
/// use lockstep::scenario;
///
/// let files = scenario::discover(&["tests/data/ok"])?;
/// assert!(files.iter().all(|file| file.starts_with("tests/data/ok")));
/// # Ok::<(), scenario::DiscoverError>(())
/// ```
pub fn discover<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>, DiscoverError> {
    discover_where(paths, is_scenario)
}

/// The same for files of another kind: those that a path is enough to tell.
pub(crate) fn discover_where<P: AsRef<Path>>(
    paths: &[P],
    is_wanted: fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, DiscoverError> {
    let mut walk = Walk {
        is_wanted,
        found: Vec::new(),
        seen: HashSet::new(),
        folders: HashSet::new(),
    };
    for path in paths {
        let path = path.as_ref();
        if metadata(path)?.is_dir() {
            walk.folder(path)?;
        } else {
            walk.file(path.to_owned());
        }
    }
    Ok(walk.found)
}

struct Walk {
    is_wanted: fn(&Path) -> bool,
    found: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    /// Folders by their real path, so that a link to a folder above ends.
    folders: HashSet<PathBuf>,
}

impl Walk {
    fn file(&mut self, path: PathBuf) {
        // `a.yaml` and `./a.yaml` are one.
        let name = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        if self.seen.insert(name) {
            self.found.push(path);
        }
    }

    fn folder(&mut self, folder: &Path) -> Result<(), DiscoverError> {
        let fail = |source| DiscoverError {
            path: folder.to_owned(),
            source,
        };
        if !self.folders.insert(folder.canonicalize().map_err(fail)?) {
            return Ok(());
        }
        let mut names = fs::read_dir(folder)
            .map_err(fail)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(fail)?;
        names.sort();
        for name in names {
            let path = folder.join(&name);
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let is_folder = match fs::metadata(&path) {
                Ok(metadata) => metadata.is_dir(),
                // A link to nowhere, or to itself, is no scenario and no reason to stop.
                Err(_) if path.is_symlink() => continue,
                Err(source) => return Err(DiscoverError { path, source }),
            };
            if is_folder {
                let skipped = name.to_str().is_some_and(|name| SKIPPED.contains(&name));
                if !hidden && !skipped {
                    self.folder(&path)?;
                }
            } else if !hidden && (self.is_wanted)(&path) {
                self.file(path);
            }
        }
        Ok(())
    }
}

fn is_scenario(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

fn metadata(path: &Path) -> Result<fs::Metadata, DiscoverError> {
    fs::metadata(path).map_err(|source| DiscoverError {
        path: path.to_owned(),
        source,
    })
}
