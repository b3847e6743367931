//! Steps that may end in several ways (`one_of:`).

use super::observed::Observed;
use super::unmet::{Subject, expectation, lacking};
use crate::scenario::{Diagnostic, Expect, Scenario, Span, Step};
use crate::server::Release;
use crate::transcript::Transcript;

/// Of each step that may end in several ways the number, counted from 1, of the outcome that came:
/// of several that are met the first. It is 1 where the release allows only one, and where none is
/// met.
#[must_use]
pub fn chosen_in(scenario: &Scenario, transcript: &Transcript, release: Release) -> Vec<usize> {
    let steps = scenario.steps.iter().enumerate();
    steps
        .filter(|(_, step)| most_outcomes(step) > 1)
        .map(|(index, step)| {
            let observed = Observed::gather(transcript, index);
            let chosen = observed.and_then(|observed| {
                let subject = Subject {
                    scenario,
                    step,
                    observed: &observed,
                };
                let mut outcomes = expectation(step, release)?.outcomes.iter();
                outcomes.position(|expect| lacking(&subject, expect).is_empty())
            });
            chosen.map_or(1, |at| at + 1)
        })
        .collect()
}

/// Of each step that may end in several ways how many outcomes are allowed, on the release that
/// allows most.
#[must_use]
pub fn allowed_in(scenario: &Scenario) -> Vec<usize> {
    let steps = scenario.steps.iter().map(most_outcomes);
    steps.filter(|number| *number > 1).collect()
}

fn most_outcomes(step: &Step) -> usize {
    let wanted = step.expect.iter();
    wanted.map(|one| one.outcomes.len()).max().unwrap_or(0)
}

/// One of the outcomes, and what is missing for it.
struct Missed<'a> {
    number: usize,
    expect: &'a Expect,
    lacks: Vec<Diagnostic>,
}

/// What is wrong when none of several outcomes came.
pub(super) fn unmet(subject: &Subject<'_>, outcomes: &[Expect]) -> Vec<Diagnostic> {
    let mut missed: Vec<Missed<'_>> = Vec::new();
    for (at, expect) in outcomes.iter().enumerate() {
        let lacks = lacking(subject, expect);
        if lacks.is_empty() {
            return Vec::new();
        }
        missed.push(Missed {
            number: at + 1,
            expect,
            lacks,
        });
    }
    // What is wrong with all of them, such as a key beside `one_of`, is told once.
    let of_first = missed.first().map(|one| one.lacks.as_slice());
    let mut found: Vec<Diagnostic> = of_first
        .unwrap_or_default()
        .iter()
        .filter(|lack| missed.iter().all(|one| one.lacks.contains(lack)))
        .cloned()
        .collect();
    for one in &mut missed {
        one.lacks.retain(|lack| !found.contains(lack));
    }
    if missed.iter().all(|one| !one.lacks.is_empty()) {
        found.extend(together(subject, missed));
    }
    found
}

/// One diagnostic for all outcomes: the nearest is underlined, and what each lacks stands at its
/// own place.
fn together(subject: &Subject<'_>, mut missed: Vec<Missed<'_>>) -> Option<Diagnostic> {
    let has_failed = subject.failure().is_some();
    // An outcome that is of the same kind, failed or not, is nearer than any that is not.
    missed.sort_by_key(|one| {
        let is_other = has_failed != one.expect.error.is_some();
        (is_other, one.lacks.len(), one.number)
    });
    let number = missed.len();
    let mut places = missed.iter().flat_map(|one| {
        one.lacks
            .iter()
            .map(|lack| place(subject, one, lack, has_failed))
    });
    let (span, what) = places.next()?;
    let nearest = missed[0].number;
    let mut diagnostic = subject.diagnostic(
        span,
        format!("none of the {number} outcomes that are allowed came"),
        what.replacen(
            &outcome(nearest),
            &format!("{}, the nearest", outcome(nearest)),
            1,
        ),
    );
    diagnostic.related = places.collect();
    diagnostic.help = missed[0].lacks[0].help.clone();
    Some(diagnostic)
}

fn outcome(number: usize) -> String {
    format!("outcome {number}")
}

/// Where an outcome was not met, and how.
fn place(
    subject: &Subject<'_>,
    missed: &Missed<'_>,
    lack: &Diagnostic,
    has_failed: bool,
) -> (Span, String) {
    let name = outcome(missed.number);
    let summary = subject.observed.summary();
    if has_failed && missed.expect.error.is_none() && missed.lacks.first() == Some(lack) {
        // Its place is in the SQL, where it would be the same for each outcome.
        let span = first_line(subject, missed.expect.span);
        return (span, format!("{name}: expected no error; {summary}"));
    }
    let (message, label) = (&lack.message, &lack.label);
    let says_more = !label.is_empty() && !message.ends_with(label.as_str());
    let what = if says_more {
        format!("{name}: {message}; {label}")
    } else {
        format!("{name}: {message}")
    };
    (lack.span, what)
}

/// The part of a place that stands on its first line.
fn first_line(subject: &Subject<'_>, span: Span) -> Span {
    let text = &subject.scenario.source.text;
    let piece = text.get(span.start..span.end).unwrap_or_default();
    let line = piece.split('\n').next().unwrap_or_default().trim_end();
    Span {
        start: span.start,
        end: span.start + line.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture::{
        FILE, RELEASE, command, judge_any, message, nothing, scenario, span, spanned,
    };
    use super::super::unmet_in;
    use super::*;
    use crate::scenario::{
        Blocker, Expectation, ExpectedError, ReleaseComparison, ReleaseOperator, ReleaseRange,
        SessionIndex, Waits, split,
    };
    use crate::transcript::{Answer, Event, EventKind, Severity};

    fn with_tag(tag: &str) -> Expect {
        Expect {
            span: span("tag: UPDATE 1"),
            tag: Some(spanned("UPDATE 1", tag.to_owned())),
            ..nothing()
        }
    }

    fn with_error(code: &str) -> Expect {
        Expect {
            span: span("error: { code: 55P03 }"),
            error: Some(ExpectedError {
                span: span("{ code: 55P03 }"),
                code: Some(code.to_owned()),
                message: None,
            }),
            ..nothing()
        }
    }

    fn error(code: &str) -> Answer {
        Answer::Error(message(Severity::Error, code, "something failed"))
    }

    /// What is underlined and what stands beside it, the nearest first.
    fn places(outcomes: Vec<Expect>, answers: &[Answer]) -> Vec<[String; 2]> {
        let found = judge_any(outcomes, answers, None);
        let [found] = found.as_slice() else {
            panic!("{} diagnostics", found.len());
        };
        assert_eq!(
            found.message,
            "none of the 2 outcomes that are allowed came"
        );
        let first = [(found.span, found.label.clone())];
        first
            .iter()
            .chain(&found.related)
            .map(|(span, label)| [FILE[span.start..span.end].to_owned(), label.clone()])
            .collect()
    }

    #[test]
    fn one_outcome_that_came_is_enough() {
        let either = || vec![with_tag("UPDATE 1"), with_error("40001")];
        for answer in [command("UPDATE 1"), error("40001")] {
            assert!(judge_any(either(), &[answer], None).is_empty());
        }
    }

    #[test]
    fn each_outcome_that_did_not_come_says_what_it_lacks() {
        let either = || vec![with_error("40001"), with_tag("UPDATE 1")];
        assert_eq!(
            places(either(), &[command("UPDATE 0")]),
            [
                [
                    "UPDATE 1",
                    "outcome 2, the nearest: expected the command tag `UPDATE 1`, got `UPDATE 0`"
                ],
                [
                    "{ code: 55P03 }",
                    "outcome 1: expected error 40001, but the step did not fail; got `UPDATE 0`"
                ],
            ]
        );
        assert_eq!(
            places(either(), &[error("40P01")]),
            [
                [
                    "{ code: 55P03 }",
                    "outcome 1, the nearest: expected error 40001, got another error; \
                     got error 40P01: something failed"
                ],
                [
                    "tag: UPDATE 1",
                    "outcome 2: expected no error; got error 40P01: something failed"
                ],
            ]
        );
    }

    #[test]
    fn what_all_outcomes_lack_is_told_once() {
        let waiting = |expect: Expect| Expect {
            waits: Some(spanned("[A]", Waits::Yes)),
            ..expect
        };
        let either = || vec![waiting(with_tag("UPDATE 0")), waiting(with_tag("UPDATE 1"))];
        let told = |answer| {
            let found = judge_any(either(), &[command(answer)], None);
            let told = found.into_iter().map(|found| found.message);
            told.collect::<Vec<_>>()
        };
        assert_eq!(told("UPDATE 1"), ["expected the step to wait"]);
        assert_eq!(
            told("UPDATE 2"),
            [
                "expected the step to wait",
                "none of the 2 outcomes that are allowed came"
            ]
        );
        // Where no outcome is a failure, the error is at its place in the SQL.
        let found = judge_any(either(), &[error("40001")], None);
        assert_eq!(found[0].message, "unexpected ERROR 40001: something failed");
        assert_eq!(found.len(), 2);
    }

    fn answered(answers: &[Answer]) -> Transcript {
        Transcript {
            events: vec![Event {
                step: 0,
                at: Duration::ZERO,
                kind: EventKind::Answered {
                    session: Some(SessionIndex(0)),
                    part: 0,
                    statement: split("UPDATE t;").expect("SQL").remove(0),
                    answers: answers.to_vec(),
                    status: None,
                },
            }],
            ..Transcript::default()
        }
    }

    /// Either of two outcomes from 15 on, one before.
    fn by_release() -> Scenario {
        let mut scenario = scenario(nothing());
        let before_15 = ReleaseRange {
            comparisons: vec![ReleaseComparison {
                operator: ReleaseOperator::Less,
                bound: vec![15],
            }],
        };
        scenario.steps[0].expect = vec![
            Expectation {
                releases: before_15,
                outcomes: vec![with_error("40001")],
            },
            Expectation {
                releases: ReleaseRange::default(),
                outcomes: vec![with_tag("UPDATE 1"), with_error("55P03")],
            },
        ];
        scenario
    }

    const OLD: Release = Release {
        major: 14,
        minor: 23,
    };

    #[test]
    fn the_first_expectation_that_is_for_the_release_counts() {
        let scenario = by_release();
        for (release, answer, unmet) in [
            (OLD, error("40001"), 0),
            (OLD, error("55P03"), 1),
            (RELEASE, error("40001"), 1),
            (RELEASE, error("55P03"), 0),
        ] {
            let found = unmet_in(&scenario, &answered(&[answer]), release);
            assert_eq!(found.len(), unmet, "{release}: {found:?}");
        }
    }

    #[test]
    fn without_an_expectation_for_the_release_a_step_must_not_err() {
        let mut scenario = by_release();
        scenario.steps[0].expect.pop();
        let unmet = |answer| unmet_in(&scenario, &answered(&[answer]), RELEASE).len();
        assert_eq!(unmet(command("UPDATE 7")), 0);
        assert_eq!(unmet(error("40001")), 1);
    }

    #[test]
    fn the_chosen_outcome_depends_on_the_transcript() {
        let scenario = by_release();
        assert_eq!(allowed_in(&scenario), [2]);
        for (release, answer, chosen) in [
            (RELEASE, command("UPDATE 1"), 1),
            (RELEASE, error("55P03"), 2),
            (RELEASE, error("40001"), 1),
            (OLD, error("40001"), 1),
        ] {
            let found = chosen_in(&scenario, &answered(&[answer]), release);
            assert_eq!(found, [chosen], "{release}");
        }
    }

    #[test]
    fn waits_are_part_of_an_outcome() {
        let waiting = |waits| Expect {
            waits: Some(spanned("[A]", waits)),
            ..nothing()
        };
        let blockers = vec![Blocker::Session(SessionIndex(1))];
        let either = vec![waiting(Waits::No), waiting(Waits::For(blockers.clone()))];
        assert!(judge_any(either, &[command("UPDATE 1")], Some(blockers)).is_empty());
    }
}
