//! Typed values out of nodes; each reports what it finds instead.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::ScalarStyle;

use super::super::source::{Span, Spanned};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node, Scalar};

/// Reports that something else stands where `expected` should.
pub(super) fn expected(mistakes: &mut Mistakes, node: &Node, expected: &str, help: &str) {
    let label = match node.described() {
        "nothing" => "nothing is written here".to_owned(),
        described => format!("this is {described}"),
    };
    mistakes.report(
        found_instead(mistakes, node, expected)
            .label(label)
            .help(help),
    );
}

/// "expected a title, found a list", or else the text that was found.
fn found_instead(mistakes: &Mistakes, node: &Node, expected: &str) -> Mistake {
    let found = match &node.kind {
        Kind::Scalar(scalar) if !node.is_nothing() && !scalar.text.trim().is_empty() => {
            format!("`{}`", shown(scalar.text.trim()))
        }
        _ => node.described().to_owned(),
    };
    Mistake::new(
        first_line(mistakes, node.span),
        format!("expected {expected}, found {found}"),
    )
}

/// The part of a place on its first line: a mapping of many lines is pointed at, not framed.
pub(super) fn first_line(mistakes: &Mistakes, span: Span) -> Span {
    let line = mistakes.text(span).split('\n').next().unwrap_or_default();
    Span {
        start: span.start,
        end: span.start + line.trim_end().len(),
    }
}

/// A scalar that holds some text.
pub(super) fn scalar<'a>(
    mistakes: &mut Mistakes,
    node: &'a Node,
    what: &str,
    help: &str,
) -> Option<&'a Scalar> {
    match &node.kind {
        Kind::Scalar(scalar) if !node.is_nothing() => {
            if scalar.text.trim().is_empty() {
                mistakes.report(
                    Mistake::new(node.span, format!("expected {what}, found an empty text"))
                        .label("nothing in it")
                        .help(help),
                );
                return None;
            }
            Some(scalar)
        }
        _ => {
            expected(mistakes, node, what, help);
            None
        }
    }
}

/// Text that is not empty, without white space around it.
pub(super) fn text(mistakes: &mut Mistakes, node: &Node, what: &str, help: &str) -> Option<String> {
    let scalar = scalar(mistakes, node, what, help)?;
    if scalar.written_style() == ScalarStyle::Plain {
        refuse_cut(mistakes, node.span);
    }
    Some(scalar.text.trim().to_owned())
}

/// Reports ` #12` behind a text without quotes: somebody who means a comment does not begin it
/// with a number, and YAML drops it without a word.
fn refuse_cut(mistakes: &mut Mistakes, span: Span) {
    let Some(comment) = comment_behind(mistakes, span) else {
        return;
    };
    let digit = mistakes.text(comment).as_bytes().get(1);
    if digit.is_some_and(u8::is_ascii_digit) {
        mistakes.report(
            Mistake::new(comment, "YAML cuts the text off here")
                .label("` #` begins a comment in a value without quotes")
                .help("put the value in quotes"),
        );
    }
}

/// The comment behind a value, on the line on which it ends.
pub(super) fn comment_behind(mistakes: &Mistakes, span: Span) -> Option<Span> {
    let source = &mistakes.source().text;
    let rest = source[span.end..].split('\n').next().unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (blanks > 0 && rest[blanks..].starts_with('#')).then(|| Span {
        start: span.end + blanks,
        end: span.end + rest.trim_end().len(),
    })
}

/// `true` or `false`, without quotes.
pub(super) fn boolean(mistakes: &mut Mistakes, node: &Node) -> Option<Spanned<bool>> {
    let value = match node.as_plain() {
        Some("true") => true,
        Some("false") => false,
        _ => {
            mistakes.report(
                found_instead(mistakes, node, "true or false")
                    .label("neither true nor false")
                    .help("write `true` or `false`, without quotes"),
            );
            return None;
        }
    };
    Some(Spanned {
        value,
        span: node.span,
    })
}

/// A whole number that is not negative.
pub(super) fn number(mistakes: &mut Mistakes, node: &Node, what: &str) -> Option<Spanned<u64>> {
    let parsed = node
        .as_plain()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok());
    if let Some(value) = parsed {
        return Some(Spanned {
            value,
            span: node.span,
        });
    }
    mistakes.report(
        found_instead(mistakes, node, what)
            .label("not a whole number")
            .help("write digits only, without quotes"),
    );
    None
}

/// The items of a list.
pub(super) fn list<'a>(
    mistakes: &mut Mistakes,
    node: &'a Node,
    what: &str,
    help: &str,
) -> Option<&'a [Rc<Node>]> {
    if let Kind::List(items) = &node.kind {
        return Some(items);
    }
    expected(mistakes, node, what, help);
    None
}

/// A list of texts.
pub(super) fn texts(
    mistakes: &mut Mistakes,
    node: &Node,
    what: &str,
    help: &str,
) -> Vec<Spanned<String>> {
    list(mistakes, node, what, help)
        .unwrap_or_default()
        .iter()
        .filter_map(|item| {
            text(mistakes, item, "text", help).map(|value| Spanned {
                value,
                span: item.span,
            })
        })
        .collect()
}

impl Keys {
    fn is_unknown(&self, key: &str) -> bool {
        !key.is_empty() && !self.known.contains(&key) && !self.later.contains(&key)
    }
}

/// A mapping whose keys are known by name.
pub(super) struct Fields<'a> {
    /// Where the mapping is written.
    pub(super) span: Span,
    entries: HashMap<&'a str, &'a Entry>,
    /// The keys in the order of the file.
    order: Vec<&'a Entry>,
}

/// The keys that a kind of mapping may have.
pub(super) struct Keys {
    /// What the mapping is, in words: "a session".
    pub(super) of: &'static str,
    /// The keys that this version knows.
    pub(super) known: &'static [&'static str],
    /// The keys that are in the design but not done yet.
    pub(super) later: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// The keys and values of a mapping.
    pub(super) fn of(
        mistakes: &mut Mistakes,
        node: &'a Node,
        what: &str,
        help: &str,
    ) -> Option<Self> {
        let Kind::Mapping(entries) = &node.kind else {
            expected(mistakes, node, what, help);
            return None;
        };
        Some(Self::of_entries(entries, node.span))
    }

    /// The keys and values of a part of a mapping.
    pub(super) fn of_entries(entries: &'a [Entry], span: Span) -> Self {
        Self {
            span,
            entries: entries
                .iter()
                .map(|entry| (entry.key.as_str(), entry))
                .collect(),
            order: entries.iter().collect(),
        }
    }

    /// Whether there is no key at all.
    pub(super) const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The keys, in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.order.iter().map(|entry| entry.key.as_str())
    }

    /// The entry of a key, if it is there.
    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries.get(key).copied()
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entry(key).map(|entry| &*entry.value)
    }

    /// The value of a key that must be there.
    pub(super) fn require(
        &self,
        mistakes: &mut Mistakes,
        key: &str,
        keys: &Keys,
        help: &str,
    ) -> Option<&'a Node> {
        let value = self.get(key);
        // A misspelt key is one mistake, not two.
        let is_misspelt = || {
            self.order.iter().any(|entry| {
                keys.is_unknown(&entry.key) && names::closest(mistakes, &entry.key, [key]).is_some()
            })
        };
        if value.is_none() && !is_misspelt() {
            let of = keys.of;
            mistakes.report(
                Mistake::new(
                    first_line(mistakes, self.span),
                    format!("{of} needs `{key}`"),
                )
                .label(format!("no `{key}` here"))
                .help(help),
            );
        }
        value
    }

    /// Reports the keys that nobody knows, and those that are not done yet.
    pub(super) fn refuse_others(&self, mistakes: &mut Mistakes, keys: &Keys) {
        self.refuse_others_with(mistakes, keys, |_| None);
    }

    /// The same, with help of its own for some keys.
    pub(super) fn refuse_others_with(
        &self,
        mistakes: &mut Mistakes,
        keys: &Keys,
        help: impl Fn(&str) -> Option<String>,
    ) {
        for entry in &self.order {
            refuse_other(mistakes, entry, keys, help(&entry.key));
        }
    }
}

/// Reports a key that is not one of those known; without help it says which are.
pub(super) fn refuse_other(
    mistakes: &mut Mistakes,
    entry: &Entry,
    keys: &Keys,
    help: Option<String>,
) {
    let key = entry.key.as_str();
    if keys.later.contains(&key) {
        return not_yet(mistakes, entry);
    }
    if !keys.is_unknown(key) {
        return;
    }
    let help = help.or_else(|| {
        let known = keys.known.iter().copied();
        names::suggestion(mistakes, key, known, &format!("{} has the keys", keys.of))
    });
    mistakes.report(
        Mistake::new(
            entry.key_span,
            format!("{} has no key `{}`", keys.of, shown(key)),
        )
        .label("unknown key")
        .maybe_help(help),
    );
}

/// Reports a key that is in the design, but not in this version.
pub(super) fn not_yet(mistakes: &mut Mistakes, entry: &Entry) {
    mistakes.report(
        Mistake::new(
            entry.key_span,
            format!(
                "`{}` is in the design, but this version of Lockstep does not do it yet",
                entry.key
            ),
        )
        .label("not yet")
        .help("leave it out for now"),
    );
}

/// A number of things in words: "no values", "one value", "2 values".
pub(super) fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// A piece of the file for use in a message: short, and on one line.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
