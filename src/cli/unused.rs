//! Snapshots that no case uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::args::RunOptions;
use super::run::ONLY_CASE;
use super::select::{Selected, named_or_default};
use crate::scenario::ReleaseRange;
use crate::server::Pins;
use crate::snapshot::{SnapshotError, Store, Unused, UsedCase};

/// The snapshots that no case uses, in the folders of what was asked for; removed where that is
/// asked for.
pub(super) fn unused(
    options: &RunOptions,
    selected: &Selected,
    pins: &Pins,
    store: &Store,
) -> Result<Vec<Unused>, SnapshotError> {
    let meant: Vec<_> = selected
        .found
        .iter()
        .map(|path| {
            let mut scenarios = selected.scenarios.iter();
            let scenario = scenarios.find(|scenario| scenario.source.path == *path);
            // Of what was filtered out only the path is known.
            let range = scenario.map(|scenario| &scenario.postgres);
            move |major| range.is_none_or(|range| runs_on(range, pins, major))
        })
        .collect();
    let used: Vec<UsedCase<'_>> = selected
        .found
        .iter()
        .zip(&meant)
        .map(|(path, runs_on)| UsedCase {
            scenario: path,
            case: ONLY_CASE,
            runs_on,
        })
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

/// Whether a scenario is meaningful on the pinned release of a major version, or on any where none
/// is pinned.
fn runs_on(range: &ReleaseRange, pins: &Pins, major: u32) -> bool {
    match pins.major(major) {
        Some(pin) => range.contains(&[pin.release.major, pin.release.minor]),
        None => range.contains(&[major, 0]) || range.contains(&[major, u32::MAX]),
    }
}
