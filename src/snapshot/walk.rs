//! Finds snapshot files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::layout::{ACCEPTED, PENDING, SNAPSHOTS};

/// Folders that hold what programs made, often a lot of it.
const MADE: [&str; 2] = ["target", "node_modules"];

/// The files of a folder, in order of name; none if there is no such folder.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = entries(folder)?
        .into_iter()
        .filter(|(_, is_folder)| !is_folder)
        .map(|(path, _)| path)
        .collect();
    files.sort();
    Ok(files)
}

/// The accepted and pending snapshot files, whosever they are, that stand below a folder named
/// `snapshots` which is `root`, or above it or below it. Hidden folders are passed over.
pub(super) fn snapshots_under(root: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let inside = folder
            .components()
            .any(|part| part.as_os_str() == SNAPSHOTS);
        let entries = entries(&folder).map_err(|source| (folder.clone(), source))?;
        for (path, is_folder) in entries {
            if is_folder {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if !name.starts_with('.') && !MADE.contains(&name.as_ref()) {
                    folders.push(path);
                }
            } else if inside && stem(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The part of an accepted or pending snapshot's name before the extension.
pub(super) fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(PENDING)
        .or_else(|| name.strip_suffix(ACCEPTED))
}

/// The part of a snapshot's name that stands for the case.
pub(super) fn case_stem(path: &Path) -> Option<&str> {
    let stem = stem(path)?;
    Some(stem.split_once('@').map_or(stem, |(case, _)| case))
}

/// Whether a file is a pending snapshot, by its name.
pub(super) fn is_pending(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_str().is_some_and(|name| name.ends_with(PENDING))
}

/// The entries of a folder, and whether each is itself a folder. A link to a folder is none, so
/// that no walk goes in circles.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    // An empty path is the current directory to `join`, but not to the system.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(source),
    };
    listed
        .map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?.is_dir()))
        })
        .collect()
}
