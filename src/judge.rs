//! From what was observed to a verdict.

use crate::runner::expect::unmet_in;
use crate::runner::{Outcome, Trouble, Verdict};
use crate::scenario::Scenario;
use crate::snapshot::{Comparison, SnapshotError, SnapshotKey, Store};

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
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => {
            return Ok(Verdict::Error(what.clone()));
        }
        None => {}
    }
    let unmet = unmet_in(scenario, &outcome.transcript);
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
