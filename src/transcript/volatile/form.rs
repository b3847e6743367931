//! The forms of server text that hold volatile values: patterns whose groups say what the values
//! are.

use regex::{Captures, Regex};

use super::names::Names;

/// Patterns, each with named groups: `pid`, `xid`, `known_xid`, `vxid`, `oid`, `tid`, `time` and
/// `n`; a second value of the same kind has a number at the end of its group's name.
pub(super) struct Forms(Vec<Regex>);

impl Forms {
    pub(super) fn new(patterns: &[&str]) -> Self {
        let compile = |pattern: &&str| Regex::new(pattern).expect("it is a pattern");
        Self(patterns.iter().map(compile).collect())
    }

    /// Replaces what the groups match.
    pub(super) fn replace(&self, text: &mut String, names: &Names<'_>) {
        for pattern in &self.0 {
            if pattern.is_match(text) {
                let found = pattern.replace_all(text, |found: &Captures<'_>| {
                    replace_groups(pattern, found, names)
                });
                *text = found.into_owned();
            }
        }
    }
}

fn replace_groups(pattern: &Regex, found: &Captures<'_>, names: &Names<'_>) -> String {
    let whole = found.get(0).expect("a match has a whole");
    let mut replaced = String::new();
    let mut at = whole.start();
    let source = whole.as_str();
    let text_between = |from: usize, to: usize| &source[from - whole.start()..to - whole.start()];
    let mut groups: Vec<_> = pattern
        .capture_names()
        .flatten()
        .filter_map(|name| Some((found.name(name)?, name)))
        .collect();
    groups.sort_by_key(|(group, _)| group.start());
    for (group, name) in groups {
        let value = group.as_str();
        let shown = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "pid" => names.backend(value),
            "xid" => names.transaction(value),
            "known_xid" => names.known_transaction(value),
            "vxid" => names.virtual_transaction(value),
            "oid" => names.object(value),
            "tid" => Some(names.put("<tid>", value)),
            "time" => Some(names.put("<time>", value)),
            "n" => Some(names.put("<n>", value)),
            other => unreachable!("no kind of value is called {other}"),
        };
        replaced.push_str(text_between(at, group.start()));
        replaced.push_str(shown.as_deref().unwrap_or(value));
        at = group.end();
    }
    replaced.push_str(text_between(at, whole.end()));
    replaced
}
