//! All expectations of a step, or of a scenario, one after another.

use super::observed::Observed;
use super::{error, notices, result, rows, waits};
use crate::scenario::{Diagnostic, Scenario, Span, SqlText, Step};
use crate::transcript::Transcript;

/// The expectations of all steps that were begun which are not met, in the order of the steps.
#[must_use]
pub fn unmet_in(scenario: &Scenario, transcript: &Transcript) -> Vec<Diagnostic> {
    let steps = scenario.steps.iter().enumerate();
    steps
        .filter_map(|(index, step)| Some((step, Observed::gather(transcript, index)?)))
        .flat_map(|(step, observed)| unmet(scenario, step, &observed))
        .collect()
}

/// The expectations of a step that are not met, each at its place in the file. That a step without
/// an `error` expectation does not err is an expectation, too.
#[must_use]
pub fn unmet(scenario: &Scenario, step: &Step, observed: &Observed<'_>) -> Vec<Diagnostic> {
    let subject = Subject {
        scenario,
        step,
        observed,
    };
    let failure = error::unexpected(&subject);
    let failed = failure.is_some();
    let mut found: Vec<Diagnostic> = failure.into_iter().collect();
    let Some(expect) = step
        .expect
        .first()
        .and_then(|wanted| wanted.outcomes.first())
    else {
        return found;
    };
    found.extend(
        expect
            .error
            .as_ref()
            .and_then(|error| error::expected(&subject, error)),
    );
    found.extend(
        expect
            .waits
            .as_ref()
            .and_then(|waits| waits::check(&subject, waits)),
    );
    // Of a step that failed by surprise, what it did not give is no news.
    if !failed {
        if let Some(expected) = &expect.rows {
            found.extend(rows::check(&subject, expected));
        }
        found.extend(result::check(&subject, expect));
    }
    found.extend(
        expect
            .notices
            .as_ref()
            .and_then(|notices| notices::check(&subject, notices)),
    );
    found
}

/// A step and what was observed of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) step: &'a Step,
    pub(super) observed: &'a Observed<'a>,
}

impl<'a> Subject<'a> {
    /// A piece of the SQL of the step.
    pub(super) fn sql(&self, part: usize) -> Option<&'a SqlText> {
        self.step.action.sql().get(part).copied()
    }

    pub(super) fn diagnostic(&self, span: Span, message: String, label: String) -> Diagnostic {
        Diagnostic {
            source: self.scenario.source.clone(),
            message,
            span,
            label,
            related: Vec::new(),
            help: None,
        }
    }
}
