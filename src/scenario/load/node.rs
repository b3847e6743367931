//! The nodes of a YAML document, which know their places.

use std::ops::Range;
use std::rc::Rc;

use granit_parser::ScalarStyle;

use super::super::source::Span;

/// A YAML node.
#[derive(Debug)]
pub(super) struct Node {
    /// Where it is written; the end is behind its last visible character.
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// Nodes below and including this one, aliases followed.
    pub(super) nodes: usize,
    /// Bytes of scalar text below, aliases followed.
    pub(super) text: usize,
}

/// What a [`Node`] is.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    Mapping(Vec<Entry>),
}

/// A scalar: its text after YAML's folding and escapes are undone, and how it was written.
#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) text: String,
    pub(super) style: ScalarStyle,
    /// The bytes of the file that the parser took for it; not trimmed like the node's span.
    pub(super) raw: Span,
    /// What it was before values of the matrix were put in, if any were.
    pub(super) written: Option<Written>,
}

/// A scalar into which values of the matrix were put, as it stands in the file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) style: ScalarStyle,
    /// The values, in the order of their places.
    pub(super) inserted: Vec<Inserted>,
}

/// A value of the matrix in a scalar.
#[derive(Debug)]
pub(super) struct Inserted {
    /// Where its `${name}` is in the text that is written.
    pub(super) written: Range<usize>,
    /// Where the value is in the text that comes of it.
    pub(super) put: Range<usize>,
}

impl Scalar {
    /// How it is written in the file.
    pub(super) fn written_style(&self) -> ScalarStyle {
        self.written
            .as_ref()
            .map_or(self.style, |written| written.style)
    }

    /// The text that is written in the file.
    pub(super) fn written_text(&self) -> &str {
        self.written
            .as_ref()
            .map_or(&self.text, |written| &written.text)
    }
}

/// A key of a mapping with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Rc<Node>,
}

impl Node {
    /// A mapping with those of these entries that have one of the keys, in the place of this one.
    pub(super) fn only(&self, entries: &[Entry], keys: &[&str]) -> Self {
        let has_key = |entry: &&Entry| keys.contains(&entry.key.as_str());
        Self {
            span: self.span,
            kind: Kind::Mapping(entries.iter().filter(has_key).cloned().collect()),
            nodes: self.nodes,
            text: self.text,
        }
    }

    /// The words for what this is: "a list".
    pub(super) fn described(&self) -> &'static str {
        match &self.kind {
            Kind::List(_) => "a list",
            Kind::Mapping(_) => "a mapping",
            Kind::Scalar(_) if self.is_nothing() => "nothing",
            Kind::Scalar(_) => "text",
        }
    }

    /// Whether nothing is written here, or one of YAML's words for it.
    pub(super) fn is_nothing(&self) -> bool {
        self.as_plain().is_some_and(|text| {
            self.is_empty_plain() || matches!(text, "~" | "null" | "Null" | "NULL")
        })
    }

    /// Whether a value is left out, as in `key:`.
    pub(super) fn is_empty_plain(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar)
            if scalar.style == ScalarStyle::Plain && scalar.raw.start == scalar.raw.end)
    }

    /// The text of a scalar without quotes.
    pub(super) fn as_plain(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(scalar) if scalar.style == ScalarStyle::Plain => Some(&scalar.text),
            _ => None,
        }
    }
}
