//! How a scenario is replayed.

use std::time::Duration;

/// How a scenario is replayed.
///
/// ```
/// use std::time::Duration;
/// use lockstep::runner::ReplayOptions;
///
/// let options = ReplayOptions::from(Duration::from_secs(30)).with_locks();
/// assert!(options.locks);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// How long a step may take where the scenario does not say.
    pub limit: Duration,
    /// Whether the transcript has the locks of all sessions after each step.
    pub locks: bool,
}

impl ReplayOptions {
    /// The same, with the locks of all sessions after each step.
    #[must_use]
    pub const fn with_locks(self) -> Self {
        Self {
            locks: true,
            ..self
        }
    }
}

impl From<Duration> for ReplayOptions {
    fn from(limit: Duration) -> Self {
        Self {
            limit,
            locks: false,
        }
    }
}
