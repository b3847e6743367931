//! Names of a spec as a scenario can have them.

use std::collections::BTreeSet;

use super::spec::Spec;
use crate::scenario::{is_name, is_step_key};
use crate::schedule::StepPlace;

/// What sessions and steps of a spec are called in a scenario: as in the spec, where that is a name
/// there, too.
pub(super) struct Names {
    sessions: Vec<String>,
    steps: Vec<Vec<String>>,
}

impl Names {
    pub(super) fn of(spec: &Spec) -> Self {
        let mut taken = BTreeSet::new();
        let sessions = spec.sessions.iter();
        let sessions = sessions.map(|session| {
            let name = named(&session.name.value);
            // A step may begin with the name of a session.
            let name = if is_step_key(&name) {
                name + "-1"
            } else {
                name
            };
            unique(name, &mut taken)
        });
        let sessions = sessions.collect();
        let mut taken = BTreeSet::new();
        let steps = spec.sessions.iter().map(|session| {
            let steps = session.steps.iter();
            steps
                .map(|step| unique(named(&step.name.value), &mut taken))
                .collect()
        });
        Self {
            sessions,
            steps: steps.collect(),
        }
    }

    pub(super) fn session(&self, at: usize) -> &str {
        &self.sessions[at]
    }

    pub(super) fn step(&self, place: StepPlace) -> &str {
        &self.steps[place.session][place.step]
    }
}

/// A name that is most like a text.
fn named(text: &str) -> String {
    if is_name(text) {
        return text.to_owned();
    }
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let name = words.join("-");
    let name = name.trim_start_matches('_');
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name.to_owned()
    }
}

fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut own = name.clone();
    let mut number = 2;
    while !taken.insert(own.clone()) {
        own = format!("{name}-{number}");
        number += 1;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_where_it_can_be() {
        for (text, name) in [
            ("s1_read", "s1_read"),
            ("the buyer", "the-buyer"),
            ("a \"second\" one", "a-second-one"),
            ("_x", "x"),
            ("+", "unnamed"),
        ] {
            assert_eq!(named(text), name);
            assert!(is_name(&named(text)));
        }
    }

    #[test]
    fn two_that_become_alike_are_told_apart() {
        let mut taken = BTreeSet::new();
        let names = ["a-b", "a-b", "a-b"].map(|name| unique(name.to_owned(), &mut taken));
        assert_eq!(names, ["a-b", "a-b-2", "a-b-3"]);
    }
}
