use super::*;

const A: Backend = Backend::Of(SessionIndex(0));
const B: Backend = Backend::Of(SessionIndex(1));
const C: Backend = Backend::Of(SessionIndex(2));
const D: Backend = Backend::Of(SessionIndex(3));
/// That of a connection which A has lost.
const LOST: Backend = Backend::Lost(SessionIndex(0), 77);

fn sees(backend: Backend, blockers: &[Backend]) -> Sighting {
    Sighting {
        backend,
        blockers: blockers.iter().map(|b| SeenBlocker::Backend(*b)).collect(),
    }
}

fn sees_event(backend: Backend, event: &str) -> Sighting {
    Sighting {
        backend,
        blockers: vec![SeenBlocker::Event(event.to_owned())],
    }
}

fn on(backends: &[Backend]) -> Vec<Blocker> {
    let named = |backend: &Backend| SeenBlocker::Backend(*backend).named();
    backends.iter().filter_map(named).collect()
}

fn waits(backends: &[Backend]) -> Standing {
    Standing::Waiting {
        blockers: on(backends),
        settled: true,
    }
}

fn first_look(seen: &[Sighting]) -> BTreeMap<Backend, Standing> {
    standings(seen, &Known::default())
}

fn later_look(seen: &[Sighting], waiting: &[Backend]) -> BTreeMap<Backend, Standing> {
    let known = Known {
        waiting: waiting.iter().copied().collect(),
        left_alone: Vec::new(),
    };
    standings(seen, &known)
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
    assert_eq!(later_look(&seen, &[B])[&C], waits(&[B]));
}

#[test]
fn a_list_of_blockers_holds_when_none_of_them_could_let_go() {
    let seen = [sees(C, &[A, B]), sees(B, &[A])];
    let not_yet = Standing::Waiting {
        blockers: on(&[A, B]),
        settled: false,
    };
    assert_eq!(first_look(&seen)[&C], not_yet);
    assert_eq!(later_look(&seen, &[B, C])[&C], waits(&[A, B]));
}

#[test]
fn waiting_for_a_session_that_runs_proves_nothing() {
    let all = first_look(&[sees(A, &[]), sees(B, &[A])]);
    assert_eq!(all[&A], Standing::Running);
    assert_eq!(all[&B], Standing::Running);
}

#[test]
fn a_session_that_is_left_alone_is_waited_for_where_the_scenario_expects_it() {
    let seen = [sees(A, &[]), sees(B, &[A]), sees(C, &[A])];
    let known = Known {
        waiting: BTreeSet::new(),
        left_alone: vec![(B, SessionIndex(0))],
    };
    let all = standings(&seen, &known);
    assert_eq!(all[&B], waits(&[A]));
    assert_eq!(all[&C], Standing::Running);
}

#[test]
fn a_lost_connection_is_waited_for_only_when_it_is_proven_to_wait_itself() {
    // Its client is gone and it has nothing to do: it is about to end.
    assert_eq!(first_look(&[sees(B, &[LOST])])[&B], Standing::Running);
    let seen = [sees(B, &[LOST]), sees(LOST, &[C])];
    let all = first_look(&seen);
    assert_eq!(all[&LOST], waits(&[C]));
    assert_eq!(all[&B], Standing::Running);
    assert_eq!(
        later_look(&seen, &[LOST])[&B],
        Standing::Waiting {
            blockers: vec![Blocker::LostConnection(SessionIndex(0))],
            settled: true
        }
    );
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
        backend: A,
        blockers: vec![SeenBlocker::Stranger(77)],
    };
    let prepared = Sighting {
        backend: B,
        blockers: vec![SeenBlocker::PreparedTransaction],
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
fn a_truncation_waits_for_the_locks_of_whoever_keeps_them() {
    let sees = |holders: &[Option<Backend>]| Sighting {
        backend: B,
        blockers: vec![SeenBlocker::Truncation(holders.to_vec())],
    };
    let waits = Standing::Waiting {
        blockers: vec![Blocker::WaitEvent(VACUUM_TRUNCATE.to_owned())],
        settled: true,
    };
    assert_eq!(first_look(&[sees(&[Some(A)])])[&B], waits);
    assert_eq!(first_look(&[sees(&[None])])[&B], waits);
    let beside_one_that_runs = [sees(&[Some(C)]), self::sees(C, &[])];
    assert_eq!(first_look(&beside_one_that_runs)[&B], Standing::Running);
    assert_eq!(first_look(&[sees(&[])])[&B], Standing::Running);
}

#[test]
fn a_buffer_pin_is_waited_for_when_nobody_else_runs_at_two_looks() {
    let pinned = sees_event(B, BUFFER_PIN);
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
    assert_eq!(later_look(&[pinned], &[B])[&B], standing(true));
}
