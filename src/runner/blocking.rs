//! Who waits for whom: from what the server says of the backends to what is proven.

use std::collections::{BTreeMap, BTreeSet};

use super::cast::Backend;
use crate::scenario::{Blocker, SessionIndex};

/// The wait event of a commit that waits for a standby.
pub(crate) const SYNC_REP: &str = "SyncRep";

/// The wait event of VACUUM when it waits until nobody else uses a page.
pub(crate) const BUFFER_PIN: &str = "BufferPin";

/// The wait event of VACUUM when it tries, again and again for 5 s, to get the lock under which it
/// cuts off the empty end of a table.
pub(crate) const VACUUM_TRUNCATE: &str = "VacuumTruncate";

/// What the server says of one backend that has a statement in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The backend.
    pub backend: Backend,
    /// What it waits for, directly; empty when it runs.
    pub blockers: Vec<SeenBlocker>,
}

/// One thing that a backend waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenBlocker {
    /// Another backend of the case.
    Backend(Backend),
    /// A prepared transaction.
    PreparedTransaction,
    /// The wait event of a wait that is for no lock.
    Event(String),
    /// The locks of these on the table whose end a VACUUM wants to cut off: it does not queue for
    /// them, so the server names nobody. `None` is a prepared transaction.
    Truncation(Vec<Option<Backend>>),
    /// A backend that is none of this case's. It may let go at any moment, so nothing is proven.
    Stranger(i32),
}

impl SeenBlocker {
    /// As the transcript names it; a stranger has no name there.
    pub(crate) fn named(&self) -> Option<Blocker> {
        match self {
            Self::Backend(Backend::Of(session)) => Some(Blocker::Session(*session)),
            Self::Backend(Backend::Lost(session, _)) => Some(Blocker::LostConnection(*session)),
            Self::PreparedTransaction => Some(Blocker::PreparedTransaction),
            Self::Event(event) => Some(Blocker::WaitEvent(event.clone())),
            Self::Truncation(_) => Some(Blocker::WaitEvent(VACUUM_TRUNCATE.to_owned())),
            Self::Stranger(_) => None,
        }
    }

    fn is_event(&self, name: &str) -> bool {
        matches!(self, Self::Event(event) if event == name)
    }
}

/// What is known of the backends in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs, or waits for something that will soon be over.
    Running,
    /// It is proven to wait: nothing changes until a session that is idle does something.
    Waiting {
        /// Whom it waits for, directly.
        blockers: Vec<Blocker>,
        /// Whether these are all of them for good: none of them could let go since the look began.
        settled: bool,
    },
    /// It waits in a circle, which the server's deadlock detector is about to break.
    Deadlocked,
}

/// What is taken as proven, whatever one look says.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Who was proven to wait by earlier looks, while no answer came.
    pub waiting: BTreeSet<Backend>,
    /// Sessions whose steps nobody waits for, and who is expected to be seen waiting for each: the
    /// scenario says that the one is long enough for it.
    pub left_alone: Vec<(Backend, SessionIndex)>,
}

/// Tells what is proven by one look at all backends in flight, beside what is known.
///
/// A session without a statement in flight does nothing by itself, so whoever waits for it really
/// waits; likewise for a prepared transaction and for a standby. Whoever waits for a backend that
/// **was** proven to wait is proven to wait too. That it is by the same look proves nothing: a look
/// is at one backend after the other, and a statement may let one lock go (a rolled back
/// subtransaction, `pg_advisory_unlock`, each phase of CREATE INDEX CONCURRENTLY) before it waits
/// for another one. Everything else may change at any moment, and a circle certainly will: the
/// server breaks it, whoever else its members wait for.
///
/// The backend of a connection that was lost is always in flight: when it is idle it is about to
/// notice, and to end.
pub(crate) fn standings(seen: &[Sighting], known: &Known) -> BTreeMap<Backend, Standing> {
    let in_flight: BTreeSet<Backend> = seen.iter().map(|s| s.backend).collect();
    let keeps = |backend: &Backend| {
        let is_idle = matches!(backend, Backend::Of(_)) && !in_flight.contains(backend);
        is_idle || known.waiting.contains(backend)
    };
    let holds = |waiter: Backend, blocker: &SeenBlocker| match blocker {
        SeenBlocker::Backend(backend) => {
            keeps(backend)
                || matches!(backend, Backend::Of(session) if known.left_alone.contains(&(waiter, *session)))
        }
        // Pins are held by statements for moments and by cursors for long. The cursors' are what is
        // left when nobody else runs, also at the look after that.
        SeenBlocker::Event(event) if event == BUFFER_PIN => {
            seen.iter().all(|s| known.waiting.contains(&s.backend))
        }
        SeenBlocker::Truncation(holders) => holders
            .iter()
            .any(|holder| holder.as_ref().is_none_or(keeps)),
        SeenBlocker::PreparedTransaction | SeenBlocker::Event(_) => true,
        SeenBlocker::Stranger(_) => false,
    };
    let standing = |sighting: &Sighting| {
        let blockers = &sighting.blockers;
        let is_pinned = blockers.iter().any(|blocker| blocker.is_event(BUFFER_PIN))
            && seen
                .iter()
                .all(|s| s.backend == sighting.backend || known.waiting.contains(&s.backend));
        if in_circle(sighting.backend, seen) {
            Standing::Deadlocked
        } else if is_pinned || blockers.iter().any(|b| holds(sighting.backend, b)) {
            Standing::Waiting {
                blockers: named(blockers),
                settled: blockers.iter().all(|blocker| {
                    matches!(blocker, SeenBlocker::Stranger(_)) || holds(sighting.backend, blocker)
                }),
            }
        } else {
            Standing::Running
        }
    };
    seen.iter()
        .map(|sighting| (sighting.backend, standing(sighting)))
        .collect()
}

fn named(blockers: &[SeenBlocker]) -> Vec<Blocker> {
    let mut named: Vec<Blocker> = blockers.iter().filter_map(SeenBlocker::named).collect();
    named.sort();
    named.dedup();
    named
}

/// Whether following the blockers from a backend can come back to it.
fn in_circle(start: Backend, seen: &[Sighting]) -> bool {
    let mut visited = BTreeSet::new();
    let mut open = vec![start];
    while let Some(backend) = open.pop() {
        let blockers = seen
            .iter()
            .filter(|s| s.backend == backend)
            .flat_map(|s| &s.blockers);
        for blocker in blockers {
            if let SeenBlocker::Backend(next) = blocker {
                if *next == start {
                    return true;
                }
                if visited.insert(*next) {
                    open.push(*next);
                }
            }
        }
    }
    false
}

#[cfg(test)]
#[path = "blocking_tests.rs"]
mod tests;
