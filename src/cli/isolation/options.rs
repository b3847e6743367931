//! What may be written on the command line for specs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What `run` takes for isolation specs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Isolation specs")]
pub(in crate::cli) struct IsolationOptions {
    /// What is printed: for `isolation`, exactly what isolationtester prints.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// The folder of the output that is expected of specs: NAME.out, or any of NAME_0.out to
    /// NAME_9.out. [default: the folder `expected` beside the folder `specs`]
    #[arg(long, value_name = "DIR")]
    pub expected: Option<PathBuf>,
}

/// What is printed of a run of specs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// What isolationtester prints.
    Isolation,
}

impl IsolationOptions {
    /// The first option that means nothing without specs.
    pub(super) const fn stray(&self) -> Option<&'static str> {
        if self.format.is_some() {
            Some("--format")
        } else if self.expected.is_some() {
            Some("--expected")
        } else {
            None
        }
    }
}
