//! `lockstep accept`: takes the pending snapshots.

use std::path::{Path, PathBuf};

use super::args::AcceptOptions;
use super::exit::ExitStatus;
use super::output::Output;
use super::select::find;
use crate::snapshot::{Accepted, Change, Mode, SnapshotError, Store};
use crate::words::count;

/// Runs the command.
pub(super) fn accept(options: &AcceptOptions, directory: &Path, output: Output) -> ExitStatus {
    let scenarios = match find(&options.paths, output) {
        Ok(scenarios) => scenarios,
        Err(status) => return status,
    };
    match take(&Store::new(directory, Mode::Propose), &scenarios) {
        Ok(accepted) if accepted.is_empty() => {
            output.fail(
                format_args!(
                    "no pending snapshot of {}",
                    count(scenarios.len(), "scenario")
                ),
                Some("`lockstep run` writes them"),
            );
            ExitStatus::NothingSelected
        }
        Ok(accepted) => {
            tell(&accepted, output);
            ExitStatus::Passed
        }
        Err(error) => {
            output.fail(&error, None);
            ExitStatus::Invalid
        }
    }
}

/// Accepts what is pending for these scenarios.
pub(super) fn take(store: &Store, scenarios: &[PathBuf]) -> Result<Vec<Accepted>, SnapshotError> {
    let scenarios: Vec<&Path> = scenarios.iter().map(PathBuf::as_path).collect();
    store.accept(&scenarios)
}

/// Says what accepting has changed.
pub(super) fn tell(accepted: &[Accepted], output: Output) {
    for Accepted { path, change } in accepted {
        let path = path.display();
        let (word, remark) = match change {
            Change::New => ("new", String::new()),
            Change::Text => ("changed", String::new()),
            Change::Releases => ("kept", " (its text, for other releases)".to_owned()),
            Change::Renamed { from } => ("renamed", format!(" (was {})", from.display())),
            Change::Removed => ("removed", " (its releases behave alike now)".to_owned()),
        };
        output.print(&format!("{word:>8} {path}{remark}\n"));
    }
}
