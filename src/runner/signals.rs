//! Signals that sessions send to each other's backends: those heed them when they wake up.

use tokio::time::Instant;

use super::live::LiveSession;
use super::replay::{Halt, Replay, answered};
use crate::scenario::{Action, Scenario, Sending, SessionIndex, Signals, SqlText, Step};

impl Replay<'_> {
    /// Notes whether what a session is about to send may signal a backend.
    pub(crate) fn note_signals(&mut self, session: SessionIndex, sending: &Sending) {
        let signals = |sql: &&SqlText| Signals::are_named(&sql.text);
        if sending.sql().iter().any(signals) {
            self.is_signalled = true;
            self.signalling.insert(session);
        } else {
            self.signalling.remove(&session);
        }
    }

    /// Waits until every backend has heeded the signals that were sent so far.
    pub(crate) async fn have_signals_heeded(&mut self, deadline: Instant) -> Result<(), Halt> {
        answered(deadline, self.observer.have_signals_heeded()).await?;
        let mut signalling = std::mem::take(&mut self.signalling);
        signalling.retain(|session| self.is_in_flight(*session));
        self.is_signalled = !signalling.is_empty();
        self.signalling = signalling;
        Ok(())
    }

    /// Whether a session's backend waits for data of a COPY. It heeds nothing then.
    pub(crate) fn awaits_data(&self) -> bool {
        self.live.iter().flatten().any(LiveSession::awaits_data)
    }
}

/// Whether steps of a scenario may signal a backend although their SQL does not say so: it calls
/// what was defined or prepared before.
pub(crate) fn any_may_signal(scenario: &Scenario) -> bool {
    let is_prepared = |step: &Step| match &step.action {
        Action::Send {
            sending: Sending::Prepare { sql, .. },
            ..
        } => Signals::are_named(&sql.text),
        _ => false,
    };
    scenario
        .all_sql()
        .any(|sql| Signals::of(&sql.text) == Signals::Later)
        || scenario.steps.iter().any(is_prepared)
}
