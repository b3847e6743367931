//! Snapshots that no case uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::RunOptions;
use super::select::{Selected, named_or_default};
use crate::runner::expect::allowed_in;
use crate::scenario::{ReleaseRange, Scenario};
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
    let cases = selected.scenarios.iter().map(Arc::as_ref);
    let cases: Vec<&Scenario> = cases.chain(&selected.left_out).collect();
    let meant: Vec<_> = cases
        .iter()
        .map(|scenario| |major| runs_on(&scenario.postgres, pins, major))
        .collect();
    let allowed: Vec<_> = cases.iter().copied().map(allowed_in).collect();
    let used: Vec<UsedCase<'_>> = cases
        .iter()
        .zip(&meant)
        .zip(&allowed)
        .map(|((scenario, runs_on), outcomes)| UsedCase {
            scenario: &scenario.source.path,
            case: &scenario.case,
            outcomes,
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
