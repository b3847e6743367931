//! What the program's exit code says.

use std::process::ExitCode;

use crate::runner::{CaseResult, Verdict};

/// The exit code of `lockstep`, by what it means.
///
/// Where several hold, the one that makes the others doubtful goes first: a server that failed
/// (3), then a wrong scenario (2), then behaviour that differs (1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// Every case passed.
    Passed = 0,
    /// Behaviour differs from a snapshot or an expectation, or there is no snapshot yet.
    Differs = 1,
    /// The command line, or a scenario file, is wrong.
    Invalid = 2,
    /// A server could not be had, or failed by itself.
    Server = 3,
    /// Nothing was selected to run.
    NothingSelected = 4,
}

impl ExitStatus {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// The exit status of a run that gave these results.
#[must_use]
pub fn exit_status(results: &[CaseResult]) -> ExitStatus {
    results
        .iter()
        .map(|result| match result.verdict {
            Verdict::Pass => ExitStatus::Passed,
            Verdict::Differs { .. } | Verdict::Unmet(_) | Verdict::New => ExitStatus::Differs,
            Verdict::Invalid(_) | Verdict::Unreadable(_) => ExitStatus::Invalid,
            Verdict::Error(_) | Verdict::Unserved(_) => ExitStatus::Server,
        })
        .max_by_key(|status| status.code())
        .unwrap_or(ExitStatus::NothingSelected)
}
