//! All expectations of a step, or of a scenario, one after another.

use std::ptr;

use super::observed::{Failure, Observed};
use super::{error, notices, outcomes, result, rows, waits};
use crate::scenario::{
    Action, Diagnostic, Expect, Expectation, Reply, Role, Scenario, Sending, Span, SqlText, Step,
};
use crate::server::Release;
use crate::transcript::Transcript;

/// The expectations of all steps that were begun which a release does not meet, in the order of
/// the steps.
#[must_use]
pub fn unmet_in(scenario: &Scenario, transcript: &Transcript, release: Release) -> Vec<Diagnostic> {
    let steps = scenario.steps.iter().enumerate();
    steps
        .filter_map(|(index, step)| Some((step, Observed::gather(transcript, index)?)))
        .flat_map(|(step, observed)| unmet(scenario, step, &observed, release))
        .collect()
}

/// The expectations of a step that are not met, each at its place in the file. That a step without
/// an `error` expectation does not err is an expectation, too, unless its session owns it and
/// nothing is expected. Where several outcomes are allowed
/// and none came, one diagnostic says of each what it lacks.
#[must_use]
pub fn unmet(
    scenario: &Scenario,
    step: &Step,
    observed: &Observed<'_>,
    release: Release,
) -> Vec<Diagnostic> {
    let subject = Subject {
        scenario,
        step,
        observed,
    };
    match expectation(step, release) {
        None if matches!(step.role, Role::Owned { .. }) => Vec::new(),
        None => error::unexpected(&subject).into_iter().collect(),
        Some(wanted) => match wanted.outcomes.as_slice() {
            [only] => lacking(&subject, only),
            several => outcomes::unmet(&subject, several),
        },
    }
}

/// The expectation that counts on a release.
pub(super) fn expectation(step: &Step, release: Release) -> Option<&Expectation> {
    let release = [release.major, release.minor];
    let mut wanted = step.expect.iter();
    wanted.find(|wanted| wanted.releases.contains(&release))
}

/// What is missing for one outcome to be the one that came; nothing if it did.
pub(super) fn lacking(subject: &Subject<'_>, expect: &Expect) -> Vec<Diagnostic> {
    let failure = match &expect.error {
        Some(error) => error::expected(subject, error),
        None => error::unexpected(subject),
    };
    // Of a step that failed by surprise, what it did not give is no news.
    let is_surprise = failure.is_some() && expect.error.is_none();
    let mut found: Vec<Diagnostic> = failure.into_iter().collect();
    found.extend(
        expect
            .waits
            .as_ref()
            .and_then(|waits| waits::check(subject, waits)),
    );
    if !is_surprise {
        if let Some(expected) = &expect.rows {
            found.extend(rows::check(subject, expected));
        }
        found.extend(result::check(subject, expect));
    }
    found.extend(
        expect
            .notices
            .as_ref()
            .and_then(|notices| notices::check(subject, notices)),
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

    /// Where the step names a statement that the session has prepared, and the statement.
    pub(super) fn executed(&self) -> Option<(Span, Option<&'a SqlText>)> {
        let Action::Send {
            session,
            sending: Sending::Execute { name, .. },
            ..
        } = &self.step.action
        else {
            return None;
        };
        let steps = self.scenario.steps.iter();
        let before = steps.take_while(|step| !ptr::eq(*step, self.step));
        let prepared = before.filter_map(|step| match &step.action {
            Action::Send {
                session: who,
                sending: Sending::Prepare { name: known, sql },
                ..
            } if who == session && known.value == name.value => Some(sql),
            _ => None,
        });
        Some((name.span, prepared.last()))
    }

    /// How the step failed, if it did. That nobody was there to read the answer is no failure where
    /// the scenario has it so.
    pub(super) fn failure(&self) -> Option<Failure<'a>> {
        if let Some(failure) = self.observed.error() {
            return Some(failure);
        }
        let reply = match &self.step.action {
            Action::Send { reply, .. } => *reply,
            _ => Reply::Awaited,
        };
        match reply {
            Reply::Awaited | Reply::Later => self.observed.loss(),
            Reply::Lost | Reply::Unsent => None,
        }
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
