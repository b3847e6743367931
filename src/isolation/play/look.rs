//! Asking the server who waits.

use std::time::{Duration, Instant};

use super::halt::Halt;
use super::player::{Player, arrival};
use crate::runner::{
    BUFFER_PIN, Backend, Known, SYNC_REP, SeenBlocker, Sighting, Standing, standings,
};
use crate::scenario::SessionIndex;

/// How long a session may be blocked by one that runs before it is taken to wait. That cannot be
/// proven: isolationtester says so when it looks, after 10 ms; on a busy machine that is too soon.
const GRACE: Duration = Duration::from_millis(100);

/// What a look says of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// It waits.
    Waits,
    /// That cannot be said yet.
    Open,
    /// That cannot be said yet, but another look at once may be able to.
    Closer,
}

impl Player<'_> {
    /// Looks whether a session waits, as isolationtester would see it: blocked by another session.
    pub(super) async fn look_at(&mut self, session: usize, since: Instant) -> Result<View, Halt> {
        let session = Backend::Of(SessionIndex(session));
        if let Some(Standing::Waiting { .. }) = self.standings.get(&session) {
            return self.unless_signalled().await;
        }
        let Some(seen) = self.look().await? else {
            return Ok(View::Closer);
        };
        let sessions = self.spec.sessions.len();
        let seen: Vec<Sighting> = seen.into_iter().map(|s| by_sessions(s, sessions)).collect();
        let was_circle = matches!(self.standings.get(&session), Some(Standing::Deadlocked));
        let known = self.proven.len();
        self.learn(&seen);
        let is_blocked = seen
            .iter()
            .any(|sighting| sighting.backend == session && !sighting.blockers.is_empty());
        match self.standings.get(&session) {
            Some(Standing::Waiting { .. }) => self.unless_signalled().await,
            Some(Standing::Deadlocked) if was_circle => Ok(View::Waits),
            Some(Standing::Deadlocked) => Ok(View::Closer),
            _ if is_blocked && since.elapsed() > GRACE => Ok(View::Waits),
            _ if self.proven.len() > known => Ok(View::Closer),
            _ => Ok(View::Open),
        }
    }

    /// Whether nothing can end what is in flight: everybody waits for somebody who is idle, or for
    /// a prepared transaction.
    pub(super) async fn is_stuck(&mut self) -> Result<bool, Halt> {
        if self.waits_may_end {
            return Ok(false);
        }
        let in_flight = self.in_flight();
        // A look proves one link of a chain.
        for _ in 0..=in_flight.len() {
            let Some(seen) = self.look().await? else {
                return Ok(false);
            };
            let known = self.proven.len();
            self.learn(&seen);
            if !in_flight.is_empty() && self.proven.len() == in_flight.len() {
                if !self.is_signalled && !self.any_may_signal && !self.is_signalling() {
                    return Ok(true);
                }
                let before = self.proven.clone();
                self.have_signals_heeded().await?;
                if self.arrives_within(Duration::ZERO).await {
                    return Ok(false);
                }
                let Some(seen) = self.look().await? else {
                    return Ok(false);
                };
                self.proven = before;
                self.learn(&seen);
                return Ok(self.proven.len() == in_flight.len());
            }
            if self.proven.len() == known {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Asks about everybody in flight; nothing if an answer overtakes the question.
    pub(super) async fn look(&mut self) -> Result<Option<Vec<Sighting>>, Halt> {
        let in_flight: Vec<Backend> = self.in_flight().into_iter().map(Backend::Of).collect();
        let seen = tokio::select! {
            biased;
            () = arrival(self.lines) => None,
            look = self.observer.look(&self.cast, &in_flight, |_, event| is_no_lock(event)) => {
                Some(look.map_err(Halt::Observer)?.seen)
            }
        };
        if seen.is_none() {
            self.something_happens();
        }
        Ok(seen)
    }

    fn learn(&mut self, seen: &[Sighting]) {
        self.standings = standings(
            seen,
            &Known {
                waiting: self.proven.clone(),
                left_alone: Vec::new(),
            },
        );
        let waiting = self
            .standings
            .iter()
            .filter(|(_, standing)| matches!(standing, Standing::Waiting { .. }))
            .map(|(session, _)| *session);
        self.proven = waiting.collect();
    }

    /// A session that waits, unless somebody may have been told to stop who has not heard it yet:
    /// then signals are heeded first, and it is to be looked at once more.
    async fn unless_signalled(&mut self) -> Result<View, Halt> {
        if !self.is_signalled {
            return Ok(View::Waits);
        }
        self.have_signals_heeded().await?;
        Ok(View::Closer)
    }

    async fn have_signals_heeded(&mut self) -> Result<(), Halt> {
        let heeded = self.observer.have_signals_heeded().await;
        heeded.map_err(Halt::Observer)?;
        self.is_signalled = false;
        self.something_happens();
        Ok(())
    }
}

/// Whether a wait event is a wait for something that the server names nobody for.
pub(super) fn is_no_lock(event: &str) -> bool {
    [SYNC_REP, BUFFER_PIN].contains(&event)
}

/// What isolationtester sees of a sighting: blockers that are sessions of the spec.
fn by_sessions(mut sighting: Sighting, sessions: usize) -> Sighting {
    sighting.blockers.retain(|blocker| {
        matches!(blocker, SeenBlocker::Backend(Backend::Of(SessionIndex(at))) if *at < sessions)
    });
    sighting
}
