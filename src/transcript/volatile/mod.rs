//! Values that are different in each run, replaced by what they stand for.
//!
//! They are replaced where they come from: in the fields of the protocol that hold them, told by
//! the type and the name of a column, and in the messages whose form is known. Text that only looks
//! like one is left alone.

mod cells;
mod form;
mod messages;
mod names;
mod owners;
mod plan;
mod redact;

use std::borrow::Cow;

use super::answer::{Answer, ResultSet};
use super::event::Transcript;
use names::Names;

pub(super) use names::Replaced;

/// Replaces the volatile values of one transcript, and remembers by what.
pub(super) struct Volatile<'a> {
    transcript: &'a Transcript,
    names: Names<'a>,
}

impl<'a> Volatile<'a> {
    pub(super) fn of(transcript: &'a Transcript) -> Self {
        Self {
            transcript,
            names: Names::of(transcript),
        }
    }

    /// What has been put in the place of values so far, and of which.
    pub(super) fn used(self) -> Vec<Replaced> {
        self.names.used()
    }

    /// What a backend is called.
    pub(super) fn backend(&self, pid: i32) -> String {
        let pid = pid.to_string();
        self.names.backend(&pid).unwrap_or(pid)
    }

    /// Answers as they are shown.
    pub(super) fn answers<'b>(&self, answers: &'b [Answer]) -> Cow<'b, [Answer]> {
        let mut shown: Vec<Answer> = answers.to_vec();
        for answer in &mut shown {
            match answer {
                Answer::Rows(result) if is_plan(result) => plan::replace(result, &self.names),
                Answer::Rows(result) => cells::replace(result, &self.names),
                Answer::Notice(message) | Answer::Error(message) => {
                    messages::replace(message, &self.names);
                }
                _ => {}
            }
        }
        redact::apply(&self.transcript.redactions, &mut shown, &self.names);
        if shown == answers {
            Cow::Borrowed(answers)
        } else {
            Cow::Owned(shown)
        }
    }
}

/// Whether a result is what EXPLAIN printed.
fn is_plan(result: &ResultSet) -> bool {
    result.tag == "EXPLAIN"
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
