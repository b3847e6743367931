//! What a run makes of snapshots: it judges by them, and proposes new ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::judge::judge;
use crate::runner::{CaseId, Judge, Outcome, Verdict};
use crate::scenario::{Diagnostic, Span};
use crate::snapshot::{SnapshotError, SnapshotKey, Store};

/// The pending snapshots that a run has written.
#[derive(Default)]
pub(super) struct Proposals {
    written: Mutex<BTreeSet<PathBuf>>,
}

impl Proposals {
    /// The paths, which are forgotten then.
    pub(super) fn take(&self) -> Vec<PathBuf> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *written).into_iter().collect()
    }

    /// Keeps the pending snapshot of a case in step with its verdict. Where runs of a case differ
    /// among themselves, the one that did not pass stays to be looked at.
    fn keep(
        &self,
        store: &Store,
        key: SnapshotKey<'_>,
        outcome: &Outcome,
        verdict: &Verdict,
    ) -> Result<(), SnapshotError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let is_proposed = |path: &Path| written.contains(path);
        let pending = store.pending(key)?;
        match verdict {
            Verdict::Differs { .. } | Verdict::New if !is_proposed(&pending) => {
                let text = outcome.transcript.text();
                written.extend(store.propose(key, text.as_str(), text.replaced())?);
            }
            Verdict::Pass if !is_proposed(&pending) => {
                store.withdraw(key)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Judges by expectations and snapshots, and proposes new snapshots.
pub(super) fn judge_with(store: &Arc<Store>, proposals: &Arc<Proposals>) -> Arc<Judge> {
    let (store, proposals) = (Arc::clone(store), Arc::clone(proposals));
    Arc::new(move |case: &CaseId, outcome: &Outcome| {
        let path = &case.scenario.source.path;
        let key = SnapshotKey {
            scenario: path,
            case: &case.case,
            release: case.release,
        };
        let judged = judge(&case.scenario, outcome, &store, key).and_then(|verdict| {
            proposals.keep(&store, key, outcome, &verdict)?;
            Ok(verdict)
        });
        judged.unwrap_or_else(|error| {
            Verdict::Invalid(Diagnostic {
                source: case.scenario.source.clone(),
                message: error.to_string(),
                span: Span { start: 0, end: 0 },
                label: "its snapshot".to_owned(),
                related: Vec::new(),
                help: None,
            })
        })
    })
}
