//! Settling: every backend in flight has either finished or is proven to wait.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::blocking::{BUFFER_PIN, Known, SYNC_REP, Standing, VACUUM_TRUNCATE, standings};
use super::cast::{Backend, Cast};
use super::observer::{Look, Observer};
use super::replay::{Halt, Replay};
use super::silence::time_is_over;
use super::streams::OpenStream;
use crate::scenario::{Blocker, SessionIndex, Waits};

/// How long a statement may run before the first look at it. Most statements answer sooner.
pub(crate) const FIRST_LOOK: Duration = Duration::from_micros(200);

/// How far apart looks may come to be while a statement runs for long.
pub(crate) const LOOKS_APART: Duration = Duration::from_millis(20);

/// What is known of the backends in flight once all have settled: whom each waits for.
pub(crate) type Settled = Vec<(Backend, Vec<Blocker>)>;

/// What is known while nothing has changed.
struct Standstill {
    /// How long until the next look.
    pause: Duration,
    waiting: BTreeSet<Backend>,
    are_signals_heeded: bool,
}

impl Standstill {
    const fn begin() -> Self {
        Self {
            pause: FIRST_LOOK,
            waiting: BTreeSet::new(),
            are_signals_heeded: false,
        }
    }
}

/// A question to the server about backends.
struct Question {
    observer: Arc<Observer>,
    cast: Cast,
    watched: Vec<Backend>,
    /// The events of waits for no lock that steps say they are to be seen in.
    events: Vec<(Backend, String)>,
    streams: Vec<OpenStream>,
    may_truncate: bool,
}

impl Question {
    async fn ask(&self) -> Result<Look, tokio_postgres::Error> {
        let is_expected_wait = |backend: Backend, event: &str| {
            let is_expected = |(who, name): &(Backend, String)| *who == backend && name == event;
            [SYNC_REP, BUFFER_PIN].contains(&event) || self.events.iter().any(is_expected)
        };
        let (observer, cast) = (&self.observer, &self.cast);
        let mut look = observer.look(cast, &self.watched, is_expected_wait).await?;
        if self.may_truncate {
            observer.look_at_truncations(cast, &mut look).await?;
        }
        if !self.streams.is_empty() {
            look.taken = observer.look_at_streams(cast, &self.streams).await?;
        }
        Ok(look)
    }
}

impl Replay<'_> {
    /// Waits until every backend in flight has finished or is proven to wait, by asking the server
    /// early and then ever less often. An answer that arrives ends the looking at once.
    ///
    /// Sessions whose steps are not waited for (`async: true`) are looked at, since others may wait
    /// for them, but need not settle; nor need the backends they may have left behind.
    pub(crate) async fn settle(&mut self, deadline: Instant) -> Result<Settled, Halt> {
        let mut still = Standstill::begin();
        let mut heard = Instant::now();
        loop {
            self.take_arrivals().await?;
            let watched = self.watched();
            if watched.is_empty() && self.is_signalled && !self.awaits_data() {
                // Who is idle may be on the way out, and its locks not free yet.
                self.have_signals_heeded(deadline).await?;
                continue;
            }
            if watched.iter().all(|backend| self.is_left_alone(*backend)) {
                return Ok(Vec::new());
            }
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => {
                    self.receive(arrival).await?;
                    heard = Instant::now();
                    still = Standstill::begin();
                    continue;
                }
                () = pause_for(still.pause) => {}
                () = tokio::time::sleep_until(deadline) => {
                    return Err(time_is_over(self.limit, heard));
                }
            }
            still.pause = (still.pause * 2).min(LOOKS_APART);
            let question = self.question(watched);
            let look = tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => {
                    // The answer overtook the look, which is worth nothing now.
                    self.receive(arrival).await?;
                    heard = Instant::now();
                    still = Standstill::begin();
                    continue;
                }
                look = timeout_at(deadline, question.ask()) => {
                    look.map_err(|_| time_is_over(self.limit, heard))?
                        .map_err(Halt::Observer)?
                }
            };
            heard = Instant::now();
            if self.forget_lost(&look.gone) | self.end_taken(&look.taken) {
                // What it held may be free, and what was seen of those who waited for it is over.
                still = Standstill::begin();
                continue;
            }
            if let Some(waiting) = self.proven(&look, &mut still) {
                if still.are_signals_heeded || !self.may_be_stale(&waiting) {
                    return Ok(waiting);
                }
                self.have_signals_heeded(deadline).await?;
                still.are_signals_heeded = true;
                still.waiting.clear();
            }
        }
    }

    /// Who waits, if it is proven of all that must settle; and what the look adds to what is known.
    fn proven(&self, look: &Look, still: &mut Standstill) -> Option<Settled> {
        let known = Known {
            waiting: std::mem::take(&mut still.waiting),
            left_alone: self.expected_to_wait_for_those_left_alone(),
        };
        let before = known.waiting.len();
        let mut waiting = Vec::with_capacity(look.seen.len());
        let mut are_exact = true;
        for (backend, standing) in standings(&look.seen, &known) {
            if let Standing::Waiting { blockers, settled } = standing
                && !self.is_being_cancelled(backend)
                && !self.looks_after_its_client(backend)
            {
                are_exact &= settled || self.is_left_alone(backend);
                waiting.push((backend, blockers));
            }
        }
        still.waiting = waiting.iter().map(|(backend, _)| *backend).collect();
        if still.waiting.len() > before {
            // Another link of a chain is proven; the next one can be at once.
            still.pause = FIRST_LOOK;
        }
        let has_settled =
            |backend: Backend| still.waiting.contains(&backend) || self.is_left_alone(backend);
        let have_all = look.seen.iter().all(|seen| has_settled(seen.backend));
        (have_all && are_exact).then_some(waiting)
    }

    /// Looks at backends.
    pub(crate) async fn look(&self, watched: &[Backend]) -> Result<Look, tokio_postgres::Error> {
        self.question(watched.to_vec()).ask().await
    }

    /// What there is to ask about backends.
    fn question(&self, watched: Vec<Backend>) -> Question {
        let mut events = Vec::new();
        for backend in &watched {
            for waits in self.expected_waits(*backend) {
                let Waits::For(blockers) = waits else {
                    continue;
                };
                events.extend(blockers.iter().filter_map(|blocker| match blocker {
                    // The server shows this one on some releases only, and also when nobody is in
                    // the way.
                    Blocker::WaitEvent(event) if event != VACUUM_TRUNCATE => {
                        Some((*backend, event.clone()))
                    }
                    _ => None,
                }));
            }
        }
        Question {
            observer: Arc::clone(&self.observer),
            cast: self.cast.clone(),
            watched,
            events,
            streams: self.open_streams(),
            may_truncate: self.may_truncate,
        }
    }

    /// The sessions that are left alone while they run, beside those whose steps say that they are
    /// to be seen waiting for them.
    fn expected_to_wait_for_those_left_alone(&self) -> Vec<(Backend, SessionIndex)> {
        let watched = self.watched();
        let left_alone: Vec<SessionIndex> = watched
            .iter()
            .filter(|backend| self.is_left_alone(**backend))
            .filter_map(|backend| match backend {
                Backend::Of(session) => Some(*session),
                Backend::Lost(..) => None,
            })
            .collect();
        let mut expected = Vec::new();
        for waiter in watched {
            for waits in self.expected_waits(waiter) {
                let is_named = |session: &SessionIndex| match waits {
                    Waits::No => false,
                    Waits::Yes => true,
                    Waits::For(blockers) => blockers.contains(&Blocker::Session(*session)),
                };
                let named = left_alone.iter().copied().filter(is_named);
                expected.extend(named.map(|session| (waiter, session)));
            }
        }
        expected
    }

    /// Whether a backend that is seen to wait may have been told to go on and not have woken up yet.
    ///
    /// Of locks the server itself knows who has them, whoever has woken up. But a signal is known to
    /// nobody until it is heeded, and a wait event stays until its backend takes it back. (A commit
    /// that waits for a standby heeds nothing, nor does a COPY that waits for data, so they must not
    /// be waited for.)
    fn may_be_stale(&self, waiting: &Settled) -> bool {
        let waits_for = |name: &str| {
            waiting
                .iter()
                .flat_map(|(_, blockers)| blockers)
                .any(|blocker| matches!(blocker, Blocker::WaitEvent(event) if event == name))
        };
        (self.is_signalled || self.any_may_signal || waits_for(BUFFER_PIN))
            && !waits_for(SYNC_REP)
            && !self.awaits_data()
    }
}

/// Tokio's timer counts whole milliseconds; the first looks come sooner.
async fn pause_for(pause: Duration) {
    if pause < Duration::from_millis(2) {
        // The thread may outlive an answer that comes first, by less than the pause.
        let _ = tokio::task::spawn_blocking(move || std::thread::sleep(pause)).await;
    } else {
        tokio::time::sleep(pause).await;
    }
}
