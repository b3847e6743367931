//! What a run makes of snapshots: it judges by them, and proposes new ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::judge::judge;
use crate::runner::expect::chosen_in;
use crate::runner::{CaseId, Judge, Outcome, Verdict};
use crate::server::Release;
use crate::snapshot::{Accepted, Observed, SnapshotError, SnapshotKey, Store};

/// The pending snapshots that a run has written.
#[derive(Default)]
pub(super) struct Proposals {
    cases: Mutex<BTreeMap<Place, Proposed>>,
}

/// The scenario, the name of a case, and the outcomes it had.
type Place = (PathBuf, String, Vec<usize>);

/// What a run knows of one case.
#[derive(Default)]
struct Proposed {
    seen: BTreeMap<Release, Seen>,
    written: Vec<PathBuf>,
}

/// What a release gave.
struct Seen {
    text: String,
    redacted: Vec<String>,
    passed: bool,
}

impl Proposals {
    /// The paths of what is pending, in order.
    pub(super) fn written(&self) -> Vec<PathBuf> {
        let cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        let written = cases.values().flat_map(|case| &case.written);
        written.cloned().collect()
    }

    /// Has the accepted snapshots list the releases that were seen to behave as they say.
    pub(super) fn confirm(&self, store: &Store) -> Result<Vec<Accepted>, SnapshotError> {
        let cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        let mut confirmed = Vec::new();
        for ((scenario, name, outcomes), case) in cases.iter() {
            confirmed.extend(store.confirm(scenario, name, outcomes, &case.observed())?);
        }
        Ok(confirmed)
    }

    /// Keeps the pending snapshots of a case in step with what its releases give. Where runs of a
    /// case on a release differ among themselves, the first that did not pass stays to be looked
    /// at.
    fn keep(
        &self,
        store: &Store,
        key: SnapshotKey<'_>,
        outcome: &Outcome,
        verdict: &Verdict,
    ) -> Result<(), SnapshotError> {
        let passed = match verdict {
            Verdict::Pass => true,
            Verdict::Differs { .. } | Verdict::New => false,
            _ => return Ok(()),
        };
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        let case = cases
            .entry((
                key.scenario.to_path_buf(),
                key.case.to_owned(),
                key.outcomes.to_vec(),
            ))
            .or_default();
        let known = case.seen.get(&key.release);
        if known.is_some_and(|known| !known.passed || passed) {
            return Ok(());
        }
        let text = outcome.transcript.text();
        case.seen.insert(
            key.release,
            Seen {
                text: text.as_str().to_owned(),
                redacted: text.replaced().to_vec(),
                passed,
            },
        );
        case.written = case.propose(store, key)?;
        Ok(())
    }
}

impl Proposed {
    fn observed(&self) -> Vec<Observed<'_>> {
        let seen = self.seen.iter().map(|(release, seen)| Observed {
            release: *release,
            text: &seen.text,
            redacted: &seen.redacted,
        });
        seen.collect()
    }

    /// All that was seen, also what passed: where another release changes the base, the text of
    /// one that passed may need a file.
    fn propose(&self, store: &Store, key: SnapshotKey<'_>) -> Result<Vec<PathBuf>, SnapshotError> {
        store.propose(key.scenario, key.case, key.outcomes, &self.observed())
    }
}

/// Judges by expectations and snapshots, and proposes new snapshots.
pub(super) fn judge_with(store: &Arc<Store>, proposals: &Arc<Proposals>) -> Arc<Judge> {
    let (store, proposals) = (Arc::clone(store), Arc::clone(proposals));
    Arc::new(move |case: &CaseId, outcome: &Outcome| {
        let outcomes = chosen_in(&case.scenario, &outcome.transcript, case.release);
        let key = SnapshotKey {
            scenario: &case.scenario.source.path,
            case: &case.case,
            outcomes: &outcomes,
            release: case.release,
        };
        let judged = judge(&case.scenario, outcome, &store, key).and_then(|verdict| {
            proposals.keep(&store, key, outcome, &verdict)?;
            Ok(verdict)
        });
        judged.unwrap_or_else(|error| Verdict::Unreadable(error.to_string()))
    })
}
