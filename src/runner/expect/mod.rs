//! What must come out of a step, held against what did.

use crate::scenario::{Diagnostic, Scenario, SourceFile, SqlText, Statement, Step};
use crate::transcript::{Answer, Blocker, ServerMessage};

/// What was observed of a step.
pub struct Observed<'a> {
    /// The answers to all its statements.
    pub answers: Vec<&'a Answer>,
    /// Whom it waited for, if it did.
    pub waits: Option<&'a [Blocker]>,
}

/// The expectations of a step that are not met.
#[must_use]
pub fn unmet(_: &Scenario, _: &Step, _: &Observed<'_>) -> Vec<Diagnostic> {
    Vec::new()
}

impl Diagnostic {
    /// An error that the server reports for a statement of the scenario.
    #[must_use]
    pub fn of_server_error(
        source: &SourceFile,
        sql: &SqlText,
        _: &Statement,
        error: &ServerMessage,
    ) -> Self {
        Self {
            source: source.clone(),
            message: error.message.clone(),
            span: sql.span,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }
}
