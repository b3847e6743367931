//! Connections that were lost in a replay.

use std::collections::BTreeSet;

use crate::transcript::{Answer, EventKind, Severity, Transcript};

/// How a session lost its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    /// With a FATAL: it was terminated, or idle for too long.
    Told,
    /// Without: its backend crashed, or the server did.
    Silent,
}

impl Loss {
    /// The worst in a transcript.
    pub(crate) fn in_transcript(transcript: &Transcript) -> Option<Self> {
        let mut worst = None;
        // A session that is used again after its end has nothing new to tell.
        let mut lost = BTreeSet::new();
        for event in &transcript.events {
            if let EventKind::Answered {
                session, answers, ..
            } = &event.kind
                && answers.contains(&Answer::ConnectionLost)
                && lost.insert(*session)
            {
                let is_told = answers.iter().any(|answer| {
                    matches!(answer, Answer::Error(error) if error.severity == Severity::Fatal)
                });
                worst = worst.max(Some(if is_told { Self::Told } else { Self::Silent }));
            }
        }
        worst
    }
}
