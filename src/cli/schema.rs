//! `lockstep schema`: prints the JSON Schema of what Lockstep writes.

use super::args::{SchemaOf, SchemaOptions};
use super::exit::ExitStatus;
use super::output::Output;
use crate::transcript::json::TranscriptsDocument;

/// Runs the command.
pub(super) fn schema(options: &SchemaOptions, output: Output) -> ExitStatus {
    match options.of {
        SchemaOf::Transcript => output.print(&TranscriptsDocument::schema()),
    }
    ExitStatus::Passed
}
