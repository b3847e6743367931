//! From what was observed to a verdict.

use crate::runner::expect::{self, Observed};
use crate::runner::{Outcome, Trouble, Verdict};
use crate::scenario::{Diagnostic, Scenario};
use crate::snapshot::{Comparison, SnapshotError, SnapshotKey, Store};
use crate::transcript::{Answer, Blocker, EventKind, Transcript};

/// Judges a replay: expectations first, for they hold on every release; then the snapshot.
///
/// # Errors
///
/// When the snapshot cannot be read.
pub fn judge(
    scenario: &Scenario,
    outcome: &Outcome,
    store: &Store,
    key: SnapshotKey<'_>,
) -> Result<Verdict, SnapshotError> {
    match &outcome.trouble {
        Some(Trouble::Invalid(diagnostic)) => return Ok(Verdict::Invalid(diagnostic.clone())),
        Some(Trouble::Server(what)) => return Ok(Verdict::Error(what.clone())),
        None => {}
    }
    let unmet = unmet(scenario, &outcome.transcript);
    if !unmet.is_empty() {
        return Ok(Verdict::Unmet(unmet));
    }
    Ok(
        match store.compare(key, outcome.transcript.text().as_str())? {
            Comparison::Same => Verdict::Pass,
            Comparison::Differs { accepted } => Verdict::Differs { accepted },
            Comparison::Missing => Verdict::New,
        },
    )
}

/// The expectations that are not met, in the order of the steps.
fn unmet(scenario: &Scenario, transcript: &Transcript) -> Vec<Diagnostic> {
    let mut unmet = Vec::new();
    for (at, step) in scenario.steps.iter().enumerate() {
        let mut answers: Vec<&Answer> = Vec::new();
        let mut waits: Option<&[Blocker]> = None;
        for event in transcript.events.iter().filter(|event| event.step == at) {
            match &event.kind {
                EventKind::Answered { answers: more, .. } => answers.extend(more),
                EventKind::Waits { blockers, .. } => {
                    waits.get_or_insert(blockers);
                }
                _ => {}
            }
        }
        unmet.extend(expect::unmet(scenario, step, &Observed { answers, waits }));
    }
    unmet
}
