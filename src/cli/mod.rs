//! The command line.

mod exit;

use std::process::ExitCode;

pub use exit::{ExitStatus, exit_status};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
