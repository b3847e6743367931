//! What a replay came to.

use std::sync::Arc;
use std::time::Duration;

use crate::scenario::{Diagnostic, Scenario};
use crate::server::Release;
use crate::transcript::Transcript;

/// What a replay gave, before it is judged.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was observed, up to the end or up to the trouble.
    pub transcript: Transcript,
    /// Why the replay did not come to its end, if it did not.
    pub trouble: Option<Trouble>,
    /// The expectations that schedules did not meet; each schedule is held to them when it was
    /// played, since not every transcript is kept.
    pub unmet: Vec<Diagnostic>,
}

impl Outcome {
    /// What comes of a replay that did not begin.
    pub(crate) fn without_replay(trouble: Trouble) -> Self {
        Self {
            transcript: Transcript::default(),
            trouble: Some(trouble),
            unmet: Vec::new(),
        }
    }

    /// Whether the server failed before anybody of the scenario had even connected.
    pub(crate) fn is_unheard(&self) -> bool {
        self.transcript.backends.is_empty()
            && self.transcript.schedules.is_none()
            && self.trouble.as_ref().is_some_and(Trouble::is_of_server)
    }
}

/// Why a replay did not come to its end.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// The scenario cannot be replayed: set-up fails, a time limit.
    Invalid(Diagnostic),
    /// A session waits, and nothing that the scenario does can end that.
    Stuck(Diagnostic),
    /// The server failed by itself.
    Server(String),
    /// The server cannot go on: its disk is full, its files are damaged, or one of its processes
    /// hangs. Another one must take its place.
    Unfit(String),
}

impl Trouble {
    /// Whether it is the server's, and not the scenario's.
    pub(crate) const fn is_of_server(&self) -> bool {
        matches!(self, Self::Server(_) | Self::Unfit(_))
    }
}

/// What a case came to.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The transcript is the snapshot, and every expectation is met.
    Pass,
    /// The transcript is not the snapshot.
    Differs {
        /// The snapshot's text.
        accepted: String,
    },
    /// Expectations that were not met, in the order of the steps.
    Unmet(Vec<Diagnostic>),
    /// There is no snapshot yet.
    New,
    /// The scenario cannot be replayed as it is written.
    Invalid(Diagnostic),
    /// The case's snapshot cannot be read or written; the message names the file.
    Unreadable(String),
    /// The server failed, not the scenario.
    Error(String),
    /// There was no server of the release, so the case was not run.
    Unserved(String),
}

/// One case, run and judged.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The case's name within the scenario: `default` where it has only one.
    pub case: String,
    /// The release it ran on.
    pub release: Release,
    /// What was observed.
    pub transcript: Transcript,
    /// What it came to.
    pub verdict: Verdict,
    /// How long the replay took.
    pub elapsed: Duration,
}
