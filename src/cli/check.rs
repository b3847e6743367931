//! `lockstep check`: validates scenario files, without a server.

use super::args::CheckOptions;
use super::exit::ExitStatus;
use super::output::Output;
use super::select::select;
use crate::words::count;

/// Runs the command.
pub(super) fn check(options: &CheckOptions, output: Output) -> ExitStatus {
    match select(&options.selection, output) {
        Ok(selected) => {
            output.print(&format!(
                "{}: no mistake\n",
                count(selected.paths().len(), "scenario")
            ));
            ExitStatus::Passed
        }
        Err(status) => status,
    }
}
