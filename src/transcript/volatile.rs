//! Values that are different in each run, replaced by what they stand for.
//!
//! They are replaced where they come from: in the fields of the protocol that hold them, and in the
//! messages whose form is known by their SQLSTATE. Text that only looks like one is left alone.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use super::answer::{Answer, ServerMessage};
use super::event::Transcript;

/// `deadlock_detected`: its DETAIL names backends, transactions and objects by number.
const DEADLOCK: &str = "40P01";

/// Gives a number its name.
type Namer<'a> = &'a dyn Fn(&str) -> String;

/// Replaces the volatile values of one transcript, and remembers by what.
pub(super) struct Volatile<'a> {
    transcript: &'a Transcript,
    used: RefCell<BTreeSet<String>>,
}

impl<'a> Volatile<'a> {
    pub(super) fn of(transcript: &'a Transcript) -> Self {
        Self {
            transcript,
            used: RefCell::default(),
        }
    }

    /// What has been put in the place of values so far.
    pub(super) fn used(self) -> Vec<String> {
        self.used.into_inner().into_iter().collect()
    }

    /// What a backend is called.
    pub(super) fn backend(&self, pid: i32) -> String {
        match self.session(pid) {
            Some(name) => self.put(format!("<pid of {name}>")),
            None => pid.to_string(),
        }
    }

    /// Answers without volatile values in their messages.
    pub(super) fn answers<'b>(&self, answers: &'b [Answer]) -> Cow<'b, [Answer]> {
        let is_volatile =
            |answer: &Answer| matches!(answer, Answer::Error(error) if error.code == DEADLOCK);
        if !answers.iter().any(is_volatile) {
            return Cow::Borrowed(answers);
        }
        let replaced = answers.iter().map(|answer| match answer {
            Answer::Error(error) if error.code == DEADLOCK => Answer::Error(self.deadlock(error)),
            other => other.clone(),
        });
        Cow::Owned(replaced.collect())
    }

    fn deadlock(&self, error: &ServerMessage) -> ServerMessage {
        let lines = error.detail.as_deref().unwrap_or_default().split('\n');
        let replaced: Vec<String> = lines.map(|line| self.deadlock_line(line)).collect();
        ServerMessage {
            detail: error.detail.as_ref().map(|_| replaced.join("\n")),
            ..error.clone()
        }
    }

    /// `Process 7 waits for ShareLock on transaction 8; blocked by process 9.`
    fn deadlock_line(&self, line: &str) -> String {
        // The transaction waited for is that of the blocker.
        let blocker = line
            .rsplit_once("blocked by process ")
            .and_then(|(_, rest)| number(rest).parse().ok())
            .and_then(|pid| self.session(pid));
        let of_blocker = |what: &str| match blocker {
            Some(name) => format!("<{what} of {name}>"),
            None => format!("<{what}>"),
        };
        let mut replaced = line.to_owned();
        let places: [(&str, Namer<'_>); 7] = [
            ("virtual transaction ", &|_| of_blocker("vxid")),
            ("on transaction ", &|_| of_blocker("xid")),
            ("relation ", &|_| "<oid>".to_owned()),
            ("database ", &|_| "<oid>".to_owned()),
            ("advisory lock [", &|_| "<oid>".to_owned()),
            ("Process ", &|pid| self.backend_text(pid)),
            ("process ", &|pid| self.backend_text(pid)),
        ];
        for (before, name) in places {
            replaced = self.replace_behind(&replaced, before, name);
        }
        replaced
    }

    fn backend_text(&self, pid: &str) -> String {
        pid.parse()
            .map_or_else(|_| pid.to_owned(), |pid| self.backend(pid))
    }

    /// Replaces the number behind each occurrence of some words.
    fn replace_behind(&self, text: &str, before: &str, name: Namer<'_>) -> String {
        let mut parts = text.split(before);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let number = number(part);
            replaced.push_str(before);
            if !number.is_empty() {
                let name = name(number);
                if name != number {
                    self.put(name.clone());
                }
                replaced.push_str(&name);
            }
            replaced.push_str(&part[number.len()..]);
        }
        replaced
    }

    fn session(&self, pid: i32) -> Option<&'a str> {
        let backends = &self.transcript.backends;
        let (_, session) = backends.iter().find(|(other, _)| *other == pid)?;
        let name = self.transcript.sessions.get(session.0);
        Some(name.map_or("the observer", String::as_str))
    }

    fn put(&self, name: String) -> String {
        self.used.borrow_mut().insert(name.clone());
        name
    }
}

/// The number that a text begins with: an oid, a process id, or a virtual transaction id `3/12`.
fn number(text: &str) -> &str {
    let is_part = |character: char| character.is_ascii_digit() || character == '/';
    &text[..text
        .find(|character| !is_part(character))
        .unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SessionIndex;

    fn replaced(line: &str) -> (String, Vec<String>) {
        let transcript = Transcript {
            sessions: vec!["A".to_owned(), "B".to_owned()],
            backends: vec![(41, SessionIndex(0)), (42, SessionIndex(1))],
            events: Vec::new(),
        };
        let volatile = Volatile::of(&transcript);
        let line = volatile.deadlock_line(line);
        (line, volatile.used())
    }

    #[test]
    fn numbers_become_what_they_stand_for() {
        for (line, expected) in [
            (
                "Process 41 waits for ShareLock on transaction 761; blocked by process 42.",
                "Process <pid of A> waits for ShareLock on transaction <xid of B>; blocked by process <pid of B>.",
            ),
            (
                "Process 42 waits for ShareLock on virtual transaction 3/17; blocked by process 41.",
                "Process <pid of B> waits for ShareLock on virtual transaction <vxid of A>; blocked by process <pid of A>.",
            ),
            (
                "Process 41 waits for ExclusiveLock on tuple (0,1) of relation 16385 of database 16384; blocked by process 42.",
                "Process <pid of A> waits for ExclusiveLock on tuple (0,1) of relation <oid> of database <oid>; blocked by process <pid of B>.",
            ),
            (
                "Process 41 waits for ExclusiveLock on advisory lock [16384,0,7,1]; blocked by process 42.",
                "Process <pid of A> waits for ExclusiveLock on advisory lock [<oid>,0,7,1]; blocked by process <pid of B>.",
            ),
        ] {
            assert_eq!(replaced(line).0, expected);
        }
    }

    #[test]
    fn what_was_put_in_is_remembered_once_and_a_stranger_keeps_its_number() {
        let (line, used) =
            replaced("Process 41 waits for ShareLock on transaction 9; blocked by process 77.");
        assert_eq!(
            line,
            "Process <pid of A> waits for ShareLock on transaction <xid>; blocked by process 77."
        );
        assert_eq!(used, ["<pid of A>", "<xid>"]);
    }
}
