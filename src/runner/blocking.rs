//! Who waits for whom: from what the server says of the backends to what is proven.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::Blocker;
use crate::scenario::SessionIndex;

/// The wait event of a commit that waits for a standby.
pub(crate) const SYNC_REP: &str = "SyncRep";

/// The wait event of VACUUM when it waits until nobody else uses a page.
pub(crate) const BUFFER_PIN: &str = "BufferPin";

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
    Waiting {
        /// Whom it waits for, directly.
        blockers: Vec<Blocker>,
        /// Whether these are all of them for good: none of them could let go since the look began.
        settled: bool,
    },
    /// It waits in a circle, which the server's deadlock detector is about to break.
    Deadlocked,
}

/// Tells what is proven by one look at all sessions in flight, beside what earlier looks have
/// proven of them while no answer came.
///
/// A session without a statement in flight does nothing by itself, so whoever waits for it really
/// waits; likewise for a prepared transaction and for a standby. Whoever waits for a session that
/// **was** proven to wait is proven to wait too. That it is by the same look proves nothing: a look
/// is at one backend after the other, and a statement may let one lock go (a rolled back
/// subtransaction, `pg_advisory_unlock`, each phase of CREATE INDEX CONCURRENTLY) before it waits
/// for another one. Everything else may change at any moment, and a circle certainly will: the
/// server breaks it, whoever else its members wait for.
pub(crate) fn standings(
    seen: &[Sighting],
    proven: &BTreeSet<SessionIndex>,
) -> BTreeMap<SessionIndex, Standing> {
    let in_flight: BTreeSet<SessionIndex> = seen.iter().map(|s| s.session).collect();
    let holds = |blocker: &SeenBlocker| match blocker {
        SeenBlocker::Known(Blocker::Session(session)) => {
            !in_flight.contains(session) || proven.contains(session)
        }
        SeenBlocker::Known(Blocker::WaitEvent(event)) if event == BUFFER_PIN => {
            // Pins are held by statements for moments and by cursors for long. The cursors' are
            // what is left when nobody else runs, also at the look after that.
            seen.iter().all(|s| proven.contains(&s.session))
        }
        SeenBlocker::Known(
            Blocker::PreparedTransaction | Blocker::WaitEvent(_) | Blocker::LostConnection(_),
        ) => true,
        SeenBlocker::Stranger(_) => false,
    };
    let standing = |sighting: &Sighting| {
        let is_pinned = is_pinned(sighting)
            && seen
                .iter()
                .all(|s| s.session == sighting.session || proven.contains(&s.session));
        if in_circle(sighting.session, seen) {
            Standing::Deadlocked
        } else if is_pinned || sighting.blockers.iter().any(holds) {
            Standing::Waiting {
                blockers: known(&sighting.blockers),
                settled: sighting
                    .blockers
                    .iter()
                    .all(|blocker| matches!(blocker, SeenBlocker::Stranger(_)) || holds(blocker)),
            }
        } else {
            Standing::Running
        }
    };
    seen.iter()
        .map(|sighting| (sighting.session, standing(sighting)))
        .collect()
}

fn is_pinned(sighting: &Sighting) -> bool {
    sighting.blockers.iter().any(|blocker| {
        matches!(blocker, SeenBlocker::Known(Blocker::WaitEvent(event)) if event == BUFFER_PIN)
    })
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

    fn waits(sessions: &[SessionIndex]) -> Standing {
        Standing::Waiting {
            blockers: on(sessions),
            settled: true,
        }
    }

    fn first_look(seen: &[Sighting]) -> BTreeMap<SessionIndex, Standing> {
        standings(seen, &BTreeSet::new())
    }

    #[test]
    fn whoever_waits_for_an_idle_session_is_proven_to_wait() {
        assert_eq!(first_look(&[sees(B, &[A])])[&B], waits(&[A]));
    }

    #[test]
    fn a_chain_is_proven_from_its_idle_end_a_link_a_look() {
        let seen = [sees(C, &[B]), sees(B, &[A])];
        let all = first_look(&seen);
        assert_eq!(all[&B], waits(&[A]));
        assert_eq!(
            all[&C],
            Standing::Running,
            "B may have let go of C before it came to wait for A"
        );
        assert_eq!(standings(&seen, &BTreeSet::from([B]))[&C], waits(&[B]));
    }

    #[test]
    fn a_list_of_blockers_holds_when_none_of_them_could_let_go() {
        let seen = [sees(C, &[A, B]), sees(B, &[A])];
        let not_yet = Standing::Waiting {
            blockers: on(&[A, B]),
            settled: false,
        };
        assert_eq!(first_look(&seen)[&C], not_yet);
        assert_eq!(
            standings(&seen, &BTreeSet::from([B, C]))[&C],
            waits(&[A, B])
        );
    }

    #[test]
    fn waiting_for_a_session_that_runs_proves_nothing() {
        let all = first_look(&[sees(A, &[]), sees(B, &[A])]);
        assert_eq!(all[&A], Standing::Running);
        assert_eq!(all[&B], Standing::Running);
    }

    #[test]
    fn a_circle_is_a_deadlock_and_who_waits_behind_it_is_not_proven() {
        let all = first_look(&[sees(A, &[B]), sees(B, &[A]), sees(C, &[A])]);
        assert_eq!(all[&A], Standing::Deadlocked);
        assert_eq!(all[&B], Standing::Deadlocked);
        assert_eq!(all[&C], Standing::Running);
    }

    #[test]
    fn a_circle_is_broken_also_when_a_member_waits_for_an_idle_session_too() {
        let all = first_look(&[sees(A, &[B]), sees(B, &[A, D])]);
        assert_eq!(all[&B], Standing::Deadlocked);
        assert_eq!(all[&A], Standing::Deadlocked);
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
        let all = first_look(&[stranger, prepared]);
        assert_eq!(all[&A], Standing::Running);
        assert_eq!(
            all[&B],
            Standing::Waiting {
                blockers: vec![Blocker::PreparedTransaction],
                settled: true
            }
        );
    }

    #[test]
    fn a_buffer_pin_is_waited_for_when_nobody_else_runs_at_two_looks() {
        let pinned = Sighting {
            session: B,
            blockers: vec![SeenBlocker::Known(Blocker::WaitEvent(
                BUFFER_PIN.to_owned(),
            ))],
        };
        let standing = |settled| Standing::Waiting {
            blockers: vec![Blocker::WaitEvent(BUFFER_PIN.to_owned())],
            settled,
        };
        let beside_one_that_runs = first_look(&[sees(A, &[]), pinned.clone()]);
        assert_eq!(beside_one_that_runs[&B], Standing::Running);
        assert_eq!(
            first_look(std::slice::from_ref(&pinned))[&B],
            standing(false)
        );
        assert_eq!(
            standings(&[pinned], &BTreeSet::from([B]))[&B],
            standing(true)
        );
    }
}
