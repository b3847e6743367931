//! Whether, and for whom, a step waits.

use super::unmet::Subject;
use crate::scenario::Blocker;
use crate::scenario::{Diagnostic, SessionIndex, Spanned, Waits};

pub(super) fn check(subject: &Subject<'_>, expected: &Spanned<Waits>) -> Option<Diagnostic> {
    let observed = subject.observed;
    let got = if observed.waited {
        format!("it waited for {}", list(subject, &observed.blockers))
    } else {
        "it did not wait".to_owned()
    };
    let (met, wanted) = match &expected.value {
        Waits::No => (!observed.waited, "expected the step not to wait".to_owned()),
        Waits::Yes => (observed.waited, "expected the step to wait".to_owned()),
        Waits::For(wanted) => {
            let mut wanted = wanted.clone();
            wanted.sort();
            wanted.dedup();
            let blockers = &observed.blockers;
            let are_wanted = blockers
                .iter()
                .all(|blocker| wanted.iter().any(|wanted| is_met(wanted, blocker)));
            let have_come = wanted
                .iter()
                .all(|wanted| blockers.iter().any(|blocker| is_met(wanted, blocker)));
            (
                observed.waited && are_wanted && have_come,
                format!("expected the step to wait for {}", list(subject, &wanted)),
            )
        }
    };
    (!met).then(|| subject.diagnostic(expected.span, wanted, got))
}

/// Whether a blocker is the wanted one. A session is meant whichever of its connections it is: also
/// the backend of one that it has lost goes on holding its locks.
fn is_met(wanted: &Blocker, blocker: &Blocker) -> bool {
    match (wanted, blocker) {
        (Blocker::Session(wanted), Blocker::LostConnection(session)) => wanted == session,
        _ => wanted == blocker,
    }
}

fn list(subject: &Subject<'_>, blockers: &[Blocker]) -> String {
    let names: Vec<String> = blockers
        .iter()
        .map(|blocker| match blocker {
            Blocker::Session(SessionIndex(index)) => match subject.scenario.sessions.get(*index) {
                Some(session) => session.name.value.clone(),
                None => format!("session {}", index + 1),
            },
            Blocker::LostConnection(SessionIndex(index)) => {
                match subject.scenario.sessions.get(*index) {
                    Some(session) => format!("the lost connection of {}", session.name.value),
                    None => format!("the lost connection of session {}", index + 1),
                }
            }
            Blocker::PreparedTransaction => "a prepared transaction".to_owned(),
            Blocker::WaitEvent(event) => format!("the event {event}"),
        })
        .collect();
    match names.split_last() {
        None => "nobody".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{command, judge_wait, nothing, spanned};
    use super::*;
    use crate::scenario::Expect;

    const A: Blocker = Blocker::Session(SessionIndex(0));
    const B: Blocker = Blocker::Session(SessionIndex(1));

    fn check(waits: Waits, blockers: Option<Vec<Blocker>>) -> Vec<[String; 3]> {
        let expect = Expect {
            waits: Some(spanned("[A]", waits)),
            ..nothing()
        };
        judge_wait(expect, &[command("UPDATE 1")], blockers)
    }

    fn for_both() -> Waits {
        Waits::For(vec![B, A])
    }

    #[test]
    fn a_step_waits_as_expected() {
        assert!(check(Waits::No, None).is_empty());
        assert!(check(Waits::Yes, Some(vec![A])).is_empty());
        assert!(
            check(
                Waits::Yes,
                Some(vec![Blocker::WaitEvent("SyncRep".to_owned())])
            )
            .is_empty()
        );
        assert!(check(for_both(), Some(vec![A, B])).is_empty());
        let sync_rep = Blocker::WaitEvent("SyncRep".to_owned());
        for one in [Blocker::PreparedTransaction, sync_rep] {
            assert!(check(Waits::For(vec![one.clone()]), Some(vec![one])).is_empty());
        }
    }

    #[test]
    fn a_session_is_meant_whichever_of_its_connections_it_is() {
        let lost = Blocker::LostConnection(SessionIndex(0));
        for blockers in [vec![lost.clone()], vec![lost.clone(), A]] {
            assert!(check(Waits::For(vec![A]), Some(blockers)).is_empty());
        }
        assert_eq!(
            check(for_both(), Some(vec![lost])),
            [[
                "[A]",
                "expected the step to wait for A and B",
                "it waited for the lost connection of A"
            ]]
        );
    }

    #[test]
    fn a_step_waits_otherwise() {
        for (waits, blockers, message, label) in [
            (
                Waits::No,
                Some(vec![B]),
                "expected the step not to wait",
                "it waited for B",
            ),
            (
                Waits::Yes,
                None,
                "expected the step to wait",
                "it did not wait",
            ),
            (
                for_both(),
                Some(vec![B]),
                "expected the step to wait for A and B",
                "it waited for B",
            ),
            (
                Waits::For(vec![A]),
                Some(vec![A, Blocker::PreparedTransaction]),
                "expected the step to wait for A",
                "it waited for A and a prepared transaction",
            ),
            (
                Waits::For(vec![A]),
                None,
                "expected the step to wait for A",
                "it did not wait",
            ),
        ] {
            assert_eq!(check(waits, blockers), [["[A]", message, label]]);
        }
    }
}
