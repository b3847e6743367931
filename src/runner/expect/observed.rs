//! What was observed of one step.

use crate::scenario::{Blocker, Statement};
use crate::transcript::{Answer, EventKind, ResultSet, ServerMessage, Severity, Transcript};

/// What the SQLSTATEs begin with that a server gives when it goes down.
const SHUTDOWN: &str = "57P0";
/// The SQLSTATE of a connection that failed (ISO 9075).
const CONNECTION_FAILURE: &str = "08006";

/// What was observed of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed<'a> {
    /// The answers to the step's statements, in order.
    pub answered: Vec<Answered<'a>>,
    /// Whether a statement of the step was proven to wait.
    pub waited: bool,
    /// Whom it waited for.
    pub blockers: Vec<Blocker>,
}

/// The answers to one statement of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered<'a> {
    /// Which piece of the step's SQL it is from.
    pub part: usize,
    /// The statement as it was sent.
    pub statement: &'a Statement,
    /// What came.
    pub answers: &'a [Answer],
}

/// How a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure<'a> {
    /// The statement that failed.
    pub answered: Answered<'a>,
    /// Why it did.
    pub why: Why<'a>,
}

/// Why a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why<'a> {
    /// The server says it.
    Error(&'a ServerMessage),
    /// The connection ended without a word.
    Silence,
}

impl Why<'_> {
    /// The SQLSTATE: the server's, or the standard's for a connection that failed.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Error(error) => &error.code,
            Self::Silence => CONNECTION_FAILURE,
        }
    }

    /// What is said of it.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::Error(error) => &error.message,
            Self::Silence => "the connection ended without a word",
        }
    }
}

impl<'a> Observed<'a> {
    /// Gathers what a transcript holds of a step; `None` when the step was not begun.
    #[must_use]
    pub fn gather(transcript: &'a Transcript, step: usize) -> Option<Self> {
        let mut begun = false;
        let mut observed = Self::default();
        for event in transcript.events.iter().filter(|event| event.step == step) {
            begun = true;
            match &event.kind {
                EventKind::Answered {
                    part,
                    statement,
                    answers,
                    ..
                } => observed.answered.push(Answered {
                    part: *part,
                    statement,
                    answers,
                }),
                EventKind::Waits { blockers, .. } => {
                    observed.waited = true;
                    observed.blockers.extend(blockers.iter().cloned());
                }
                EventKind::Sent { .. }
                | EventKind::Checked { .. }
                | EventKind::HeldBack { .. }
                | EventKind::Continues { .. }
                | EventKind::Advanced { .. }
                | EventKind::Slept(_)
                | EventKind::Disconnected(_)
                | EventKind::Lingers { .. }
                | EventKind::Connected(_)
                | EventKind::CancelRequested(_)
                | EventKind::Terminated(_)
                | EventKind::Restarted(_)
                | EventKind::Locks(_) => {}
            }
        }
        observed.blockers.sort();
        observed.blockers.dedup();
        begun.then_some(observed)
    }

    /// All answers, in order.
    pub(super) fn answers(&self) -> impl DoubleEndedIterator<Item = &'a Answer> + '_ {
        self.answered.iter().flat_map(|one| one.answers)
    }

    /// The last rows that came back.
    pub(super) fn last_rows(&self) -> Option<&'a ResultSet> {
        self.answers().rev().find_map(|answer| match answer {
            Answer::Rows(result) => Some(result),
            _ => None,
        })
    }

    /// The last command tag.
    pub(super) fn last_tag(&self) -> Option<&'a str> {
        self.answers().rev().find_map(|answer| match answer {
            Answer::Rows(result) => Some(result.tag.as_str()),
            Answer::Command(tag) => Some(tag.as_str()),
            _ => None,
        })
    }

    /// The first error.
    pub(super) fn error(&self) -> Option<Failure<'a>> {
        self.answered.iter().find_map(|one| {
            one.answers.iter().find_map(|answer| match answer {
                Answer::Error(error) => Some(Failure {
                    answered: *one,
                    why: Why::Error(error),
                }),
                _ => None,
            })
        })
    }

    /// The end of the connection, where the server did not say so with an error. A server that is
    /// stopped at once gives its reason in a warning.
    pub(super) fn loss(&self) -> Option<Failure<'a>> {
        let answered = self
            .answered
            .iter()
            .find(|one| one.answers.contains(&Answer::ConnectionLost))?;
        let warning = answered
            .answers
            .iter()
            .rev()
            .find_map(|answer| match answer {
                Answer::Notice(notice)
                    if notice.severity == Severity::Warning
                        && notice.code.starts_with(SHUTDOWN) =>
                {
                    Some(notice)
                }
                _ => None,
            });
        Some(Failure {
            answered: *answered,
            why: warning.map_or(Why::Silence, Why::Error),
        })
    }

    /// What the step came to, in a few words.
    pub(super) fn summary(&self) -> String {
        if let Some(failure) = self.error().or_else(|| self.loss()) {
            return match failure.why {
                Why::Error(error) => format!("got error {}: {}", error.code, error.message),
                Why::Silence => "the connection ended".to_owned(),
            };
        }
        if let Some(tag) = self.last_tag() {
            return format!("got `{tag}`");
        }
        let came = |wanted: &Answer| self.answers().any(|answer| answer == wanted);
        let what = if came(&Answer::ReplyLost) {
            "the connection was lost before an answer"
        } else if came(&Answer::CopyIn) {
            "COPY goes on with the next step"
        } else if came(&Answer::Prepared) {
            "the statement was prepared"
        } else {
            "nothing came back"
        };
        what.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture::{RELEASE, command, nothing, scenario, spanned};
    use super::super::unmet_in;
    use super::*;
    use crate::scenario::{Expect, Sending, SessionIndex, Span, SqlText, Waits, split};
    use crate::transcript::Event;

    fn event(step: usize, kind: EventKind) -> Event {
        Event {
            step,
            at: Duration::ZERO,
            kind,
        }
    }

    fn transcript() -> Transcript {
        let session = SessionIndex(1);
        let other = SessionIndex(0);
        let answered = |session, tag| EventKind::Answered {
            session: Some(session),
            part: 0,
            statement: split("UPDATE t;").unwrap().remove(0),
            answers: vec![command(tag)],
            status: None,
        };
        let sending = Sending::Statements(SqlText {
            text: "UPDATE t;".to_owned(),
            span: Span { start: 0, end: 0 },
            origins: Vec::new(),
        });
        let blockers = vec![Blocker::Session(other)];
        Transcript {
            sessions: vec!["A".to_owned(), "B".to_owned()],
            events: vec![
                event(0, EventKind::Sent { session, sending }),
                event(0, EventKind::Waits { session, blockers }),
                event(1, answered(other, "COMMIT")),
                event(0, EventKind::Continues { session }),
                event(0, answered(session, "UPDATE 0")),
            ],
            ..Transcript::default()
        }
    }

    #[test]
    fn a_step_that_waited_is_gathered_from_both_its_ends() {
        let transcript = transcript();
        let observed = Observed::gather(&transcript, 0).expect("it was begun");
        assert!(observed.waited);
        assert_eq!(observed.blockers, [Blocker::Session(SessionIndex(0))]);
        assert_eq!(observed.last_tag(), Some("UPDATE 0"));
        assert_eq!(Observed::gather(&transcript, 2), None);
    }

    #[test]
    fn a_scenario_is_held_against_its_transcript() {
        let expect = |tag: &str| Expect {
            tag: Some(spanned("UPDATE 1", tag.to_owned())),
            waits: Some(spanned(
                "[A]",
                Waits::For(vec![Blocker::Session(SessionIndex(0))]),
            )),
            ..nothing()
        };
        assert!(unmet_in(&scenario(expect("UPDATE 0")), &transcript(), RELEASE).is_empty());
        assert_eq!(
            unmet_in(&scenario(expect("UPDATE 1")), &transcript(), RELEASE).len(),
            1
        );
        // A step that was not begun is not judged.
        assert!(
            unmet_in(
                &scenario(expect("UPDATE 1")),
                &Transcript::default(),
                RELEASE
            )
            .is_empty()
        );
    }
}
