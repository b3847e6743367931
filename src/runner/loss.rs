//! Connections that were lost in a replay.

use std::collections::BTreeSet;

use crate::scenario::SessionIndex;
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
    /// The worst in a transcript that no step has brought about.
    pub(crate) fn in_transcript(transcript: &Transcript) -> Option<Self> {
        let mut worst = None;
        // A session that is used again after its end has nothing new to tell.
        let mut lost = BTreeSet::new();
        for event in &transcript.events {
            match &event.kind {
                EventKind::Disconnected(session) | EventKind::Terminated(session) => {
                    lost.insert(*session);
                }
                EventKind::Restarted(_) => {
                    lost.extend((0..transcript.sessions.len()).map(SessionIndex))
                }
                EventKind::Connected(session) => {
                    lost.remove(session);
                }
                EventKind::Answered {
                    session: Some(session),
                    answers,
                    ..
                } if answers.contains(&Answer::ReplyLost) => {
                    lost.insert(*session);
                }
                EventKind::Answered {
                    session, answers, ..
                } if answers.contains(&Answer::ConnectionLost) => {
                    // The observer stands behind the last session.
                    let session = session.unwrap_or(SessionIndex(transcript.sessions.len()));
                    if lost.insert(session) {
                        worst = worst.max(Some(Self::of(answers)));
                    }
                }
                _ => {}
            }
        }
        worst
    }

    /// The one that these answers end with.
    fn of(answers: &[Answer]) -> Self {
        let is_told = answers.iter().any(
            |answer| matches!(answer, Answer::Error(error) if error.severity == Severity::Fatal),
        );
        if is_told { Self::Told } else { Self::Silent }
    }
}
