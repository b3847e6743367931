//! Settling: every session in flight has either finished or is proven to wait.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::blocking::{BUFFER_PIN, SYNC_REP, Standing, standings};
use super::replay::{Halt, Replay};
use crate::scenario::Blocker;
use crate::scenario::SessionIndex;

/// How long a statement may run before the first look at it. Most statements answer sooner.
pub(crate) const FIRST_LOOK: Duration = Duration::from_micros(200);

/// How far apart looks may come to be while a statement runs for long.
pub(crate) const LOOKS_APART: Duration = Duration::from_millis(20);

/// What is known of the sessions in flight once all have settled: whom each waits for.
pub(crate) type Settled = Vec<(SessionIndex, Vec<Blocker>)>;

impl Replay<'_> {
    /// Waits until every session in flight has finished or is proven to wait, by asking the server
    /// early and then ever less often. An answer that arrives ends the looking at once.
    pub(crate) async fn settle(&mut self, deadline: Instant) -> Result<Settled, Halt> {
        let mut pause = FIRST_LOOK;
        let mut proven = BTreeSet::new();
        let mut are_signals_heeded = false;
        loop {
            self.take_arrivals().await?;
            let in_flight = self.in_flight();
            if in_flight.is_empty() {
                return Ok(Vec::new());
            }
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => {
                    self.receive(arrival).await?;
                    (pause, proven, are_signals_heeded) =
                        (FIRST_LOOK, BTreeSet::new(), false);
                    continue;
                }
                () = pause_for(pause) => {}
                () = tokio::time::sleep_until(deadline) => return Err(Halt::TimeLimit),
            }
            pause = (pause * 2).min(LOOKS_APART);
            let seen = tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => {
                    // The answer overtook the look, which is worth nothing now.
                    self.receive(arrival).await?;
                    (pause, proven, are_signals_heeded) =
                        (FIRST_LOOK, BTreeSet::new(), false);
                    continue;
                }
                seen = timeout_at(deadline, self.observer.look(&self.cast, &in_flight)) => {
                    seen.map_err(|_| Halt::TimeLimit)?.map_err(Halt::Observer)?
                }
            };
            let mut waiting: Settled = Vec::with_capacity(in_flight.len());
            let mut are_exact = true;
            for (session, standing) in standings(&seen, &proven) {
                if let Standing::Waiting { blockers, settled } = standing {
                    waiting.push((session, blockers));
                    are_exact &= settled;
                }
            }
            let before = proven.len();
            proven = waiting.iter().map(|(session, _)| *session).collect();
            if waiting.len() == in_flight.len() && are_exact {
                if are_signals_heeded || !self.may_be_stale(&waiting) {
                    return Ok(waiting);
                }
                timeout_at(deadline, self.observer.have_signals_heeded())
                    .await
                    .map_err(|_| Halt::TimeLimit)?
                    .map_err(Halt::Observer)?;
                are_signals_heeded = true;
                proven.clear();
            }
            if proven.len() > before {
                // Another link of a chain is proven; the next one can be at once.
                pause = FIRST_LOOK;
            }
        }
    }
}

impl Replay<'_> {
    /// Whether a session that is seen to wait may have been told to go on and not have woken up yet.
    ///
    /// Of locks the server itself knows who has them, whoever has woken up. But a signal is known to
    /// nobody until it is heeded, and a wait event stays until its backend takes it back. (A commit
    /// that waits for a standby heeds nothing, so it must not be waited for.)
    fn may_be_stale(&self, waiting: &Settled) -> bool {
        let waits_for = |name: &str| {
            waiting
                .iter()
                .flat_map(|(_, blockers)| blockers)
                .any(|blocker| matches!(blocker, Blocker::WaitEvent(event) if event == name))
        };
        (self.may_signal || waits_for(BUFFER_PIN)) && !waits_for(SYNC_REP)
    }
}

/// Tokio's timer counts whole milliseconds; the first looks come sooner.
pub(crate) async fn pause_for(pause: Duration) {
    if pause < Duration::from_millis(2) {
        // The thread may outlive an answer that comes first, by less than the pause.
        let _ = tokio::task::spawn_blocking(move || std::thread::sleep(pause)).await;
    } else {
        tokio::time::sleep(pause).await;
    }
}
