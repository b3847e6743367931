//! From what was observed to a verdict.

use crate::runner::expect::unmet_in;
use crate::runner::{Outcome, Trouble, Verdict};
use crate::scenario::Scenario;
use crate::snapshot::{Comparison, SnapshotError, SnapshotKey, Store};

/// Judges a replay: the expectations for its release first, then the snapshot. An outcome that is
/// allowed and not the first of its step needs no snapshot.
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
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            return Ok(Verdict::Invalid(diagnostic.clone()));
        }
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => {
            return Ok(Verdict::Error(what.clone()));
        }
        None => {}
    }
    let mut unmet = outcome.unmet.clone();
    unmet.extend(unmet_in(scenario, &outcome.transcript, key.release));
    if !unmet.is_empty() {
        return Ok(Verdict::Unmet(unmet));
    }
    Ok(
        match store.compare(key, outcome.transcript.text().as_str())? {
            Comparison::Same => Verdict::Pass,
            Comparison::Differs { accepted } => Verdict::Differs { accepted },
            Comparison::Missing if key.is_of_first_outcomes() => Verdict::New,
            // The scenario allows it, whether or not it was ever seen before.
            Comparison::Missing => Verdict::Pass,
        },
    )
}
