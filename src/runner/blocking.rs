//! Who waits for whom: from what the server says of the backends to what is proven.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::SessionIndex;
use crate::transcript::Blocker;

/// What the server says of one backend that has a statement in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The session of the backend.
    pub session: SessionIndex,
    /// What it waits for, directly; empty when it runs.
    pub blockers: Vec<SeenBlocker>,
}

/// One thing that a backend waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenBlocker {
    /// Something that the scenario knows by name.
    Known(Blocker),
    /// A backend that is none of this case's. It may let go at any moment, so nothing is proven.
    Stranger(i32),
}

/// What is known of the sessions in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs, or waits for something that will soon be over.
    Running,
    /// It is proven to wait: nothing changes until a session that is idle does something.
    Waiting(Vec<Blocker>),
    /// It waits in a circle, which the server's deadlock detector is about to break.
    Deadlocked(Vec<Blocker>),
}

/// Tells what is proven by one look at all sessions in flight.
///
/// A session without a statement in flight does nothing by itself, so whoever waits for it really
/// waits; likewise for a prepared transaction and for a standby. Whoever waits for a session that
/// is proven to wait is proven to wait too. Everything else may change at any moment, and a circle
/// certainly will: the server breaks it, whoever else its members wait for.
pub(crate) fn standings(seen: &[Sighting]) -> BTreeMap<SessionIndex, Standing> {
    let in_flight: BTreeSet<SessionIndex> = seen.iter().map(|s| s.session).collect();
    let circle: BTreeSet<SessionIndex> = in_flight
        .iter()
        .copied()
        .filter(|session| in_circle(*session, seen))
        .collect();
    let mut proven: BTreeSet<SessionIndex> = BTreeSet::new();
    loop {
        let more: Vec<SessionIndex> = seen
            .iter()
            .filter(|sighting| !circle.contains(&sighting.session))
            .filter(|sighting| !proven.contains(&sighting.session))
            .filter(|sighting| {
                sighting
                    .blockers
                    .iter()
                    .any(|blocker| holds(blocker, &in_flight, &proven))
            })
            .map(|sighting| sighting.session)
            .collect();
        if more.is_empty() {
            break;
        }
        proven.extend(more);
    }
    seen.iter()
        .map(|sighting| {
            let standing = if proven.contains(&sighting.session) {
                Standing::Waiting(known(&sighting.blockers))
            } else if circle.contains(&sighting.session) {
                Standing::Deadlocked(known(&sighting.blockers))
            } else {
                Standing::Running
            };
            (sighting.session, standing)
        })
        .collect()
}

fn holds(
    blocker: &SeenBlocker,
    in_flight: &BTreeSet<SessionIndex>,
    proven: &BTreeSet<SessionIndex>,
) -> bool {
    match blocker {
        SeenBlocker::Known(Blocker::Session(session)) => {
            !in_flight.contains(session) || proven.contains(session)
        }
        SeenBlocker::Known(Blocker::PreparedTransaction | Blocker::WaitEvent(_)) => true,
        SeenBlocker::Stranger(_) => false,
    }
}

fn known(blockers: &[SeenBlocker]) -> Vec<Blocker> {
    let mut known: Vec<Blocker> = blockers
        .iter()
        .filter_map(|blocker| match blocker {
            SeenBlocker::Known(blocker) => Some(blocker.clone()),
            SeenBlocker::Stranger(_) => None,
        })
        .collect();
    known.sort();
    known.dedup();
    known
}

/// Whether following the blockers from a session can come back to it.
fn in_circle(start: SessionIndex, seen: &[Sighting]) -> bool {
    let mut visited = BTreeSet::new();
    let mut open = vec![start];
    while let Some(session) = open.pop() {
        let blockers = seen
            .iter()
            .filter(|s| s.session == session)
            .flat_map(|s| &s.blockers);
        for blocker in blockers {
            if let SeenBlocker::Known(Blocker::Session(next)) = blocker {
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
mod tests {
    use super::*;

    const A: SessionIndex = SessionIndex(0);
    const B: SessionIndex = SessionIndex(1);
    const C: SessionIndex = SessionIndex(2);
    const D: SessionIndex = SessionIndex(3);

    fn sees(session: SessionIndex, blockers: &[SessionIndex]) -> Sighting {
        Sighting {
            session,
            blockers: blockers
                .iter()
                .map(|b| SeenBlocker::Known(Blocker::Session(*b)))
                .collect(),
        }
    }

    fn on(sessions: &[SessionIndex]) -> Vec<Blocker> {
        sessions.iter().map(|s| Blocker::Session(*s)).collect()
    }

    #[test]
    fn whoever_waits_for_an_idle_session_is_proven_to_wait() {
        assert_eq!(standings(&[sees(B, &[A])])[&B], Standing::Waiting(on(&[A])));
    }

    #[test]
    fn a_chain_is_proven_from_its_idle_end() {
        let all = standings(&[sees(C, &[B]), sees(B, &[A])]);
        assert_eq!(all[&B], Standing::Waiting(on(&[A])));
        assert_eq!(all[&C], Standing::Waiting(on(&[B])));
    }

    #[test]
    fn waiting_for_a_session_that_runs_proves_nothing() {
        let all = standings(&[sees(A, &[]), sees(B, &[A])]);
        assert_eq!(all[&A], Standing::Running);
        assert_eq!(all[&B], Standing::Running);
    }

    #[test]
    fn one_idle_blocker_among_several_is_enough() {
        let all = standings(&[sees(A, &[]), sees(B, &[C, A])]);
        assert_eq!(all[&B], Standing::Waiting(on(&[A, C])));
    }

    #[test]
    fn a_circle_is_a_deadlock_and_who_waits_behind_it_is_not_proven() {
        let all = standings(&[sees(A, &[B]), sees(B, &[A]), sees(C, &[A])]);
        assert_eq!(all[&A], Standing::Deadlocked(on(&[B])));
        assert_eq!(all[&B], Standing::Deadlocked(on(&[A])));
        assert_eq!(all[&C], Standing::Running);
    }

    #[test]
    fn a_circle_is_broken_also_when_a_member_waits_for_an_idle_session_too() {
        let all = standings(&[sees(A, &[B]), sees(B, &[A, D])]);
        assert_eq!(all[&B], Standing::Deadlocked(on(&[A, D])));
        assert_eq!(all[&A], Standing::Deadlocked(on(&[B])));
    }

    #[test]
    fn a_strange_backend_proves_nothing_and_a_prepared_transaction_does() {
        let stranger = Sighting {
            session: A,
            blockers: vec![SeenBlocker::Stranger(77)],
        };
        let prepared = Sighting {
            session: B,
            blockers: vec![SeenBlocker::Known(Blocker::PreparedTransaction)],
        };
        let all = standings(&[stranger, prepared]);
        assert_eq!(all[&A], Standing::Running);
        assert_eq!(
            all[&B],
            Standing::Waiting(vec![Blocker::PreparedTransaction])
        );
    }
}
