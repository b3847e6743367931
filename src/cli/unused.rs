//! Snapshots that no case uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::args::RunOptions;
use super::run::ONLY_CASE;
use super::select::{Selected, named_or_default};
use crate::snapshot::{SnapshotError, Store};

/// The snapshots that no case uses, in the folders of what was asked for; removed where that is
/// asked for.
pub(super) fn unused(
    options: &RunOptions,
    selected: &Selected,
    store: &Store,
) -> Result<Vec<PathBuf>, SnapshotError> {
    let used: Vec<(&Path, &str)> = selected
        .found
        .iter()
        .map(|path| (path.as_path(), ONLY_CASE))
        .collect();
    let folders = named_or_default(&options.selection.paths)
        .into_iter()
        .filter(|path| path.is_dir());
    let roots: BTreeSet<PathBuf> = selected
        .found
        .iter()
        .map(|path| store.layout(path).folder)
        .chain(folders.filter_map(|folder| {
            // Where the snapshots of a scenario right in the folder would be, there are also those
            // of the scenarios below it, and of scenarios that are no more.
            let layout = store.layout(&folder.join("any.yaml"));
            layout.folder.parent().map(Path::to_path_buf)
        }))
        .collect();
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    let unused = store.unused(&roots, &used)?;
    if options.remove_unused {
        store.remove(&unused)?;
    }
    Ok(unused)
}
