//! The way back from the text of a scalar to the bytes of the file.
//!
//! The YAML parser gives the text, not where each of its characters stood. Here the same bytes are
//! read once more by the rules of each style, for their places only.

use std::ops::Range;

use granit_parser::ScalarStyle;

use super::super::source::{Span, SqlText};
use super::node::{Inserted, Scalar};

/// The SQL that a scalar is.
pub(super) fn sql_text(source: &str, scalar: &Scalar, span: Span) -> SqlText {
    let mut places = Places::default();
    let raw = scalar.raw;
    match scalar.written_style() {
        ScalarStyle::Plain => flow(source, raw, Quotes::None, &mut places),
        ScalarStyle::SingleQuoted => flow(source, inside(raw), Quotes::Single, &mut places),
        ScalarStyle::DoubleQuoted => flow(source, inside(raw), Quotes::Double, &mut places),
        ScalarStyle::Literal => block(source, scalar, false, &mut places),
        ScalarStyle::Folded => block(source, scalar, true, &mut places),
    }
    let mut origins = places.cut(scalar.written_text());
    // The parser's place of a block leaves out blank lines at its beginning.
    let start = origins.first().map_or(span.start, |(_, file)| *file);
    let span = Span {
        start: start.min(span.start),
        end: span.end,
    };
    if let Some(written) = &scalar.written {
        let sql = SqlText {
            text: written.text.clone(),
            span,
            origins,
        };
        origins = with_inserted(&sql, &written.inserted);
    }
    SqlText {
        origins,
        text: scalar.text.clone(),
        span,
    }
}

/// The origins of a text after values of the matrix were put into it.
fn with_inserted(written: &SqlText, inserted: &[Inserted]) -> Vec<(usize, usize)> {
    let mut origins = Vec::new();
    let (mut from, mut to) = (0, 0);
    for value in inserted {
        keep(written, from..value.written.start, to, &mut origins);
        let place = written.place(value.written.clone());
        if !value.put.is_empty() {
            origins.extend([(value.put.start, place.start), (value.put.start, place.end)]);
        }
        (from, to) = (value.written.end, value.put.end);
    }
    keep(written, from..written.text.len() + 1, to, &mut origins);
    origins
}

/// Copies the origins of a piece of a text that now begins at `to`.
fn keep(written: &SqlText, piece: Range<usize>, to: usize, origins: &mut Vec<(usize, usize)>) {
    if piece.is_empty() {
        return;
    }
    origins.push((to, written.origin(piece.start)));
    let first = written
        .origins
        .partition_point(|(at, _)| *at <= piece.start);
    let within = written.origins[first..].iter();
    origins.extend(
        within
            .take_while(|(at, _)| *at < piece.end)
            .map(|(at, file)| (to + (at - piece.start), *file)),
    );
}

/// Text as it is read again, with the place of each of its pieces.
#[derive(Debug, Default)]
struct Places {
    text: String,
    origins: Vec<(usize, usize)>,
    /// Where the next byte would stand.
    end: usize,
}

impl Places {
    /// A character, which the file spells with `length` bytes at `at`.
    fn push(&mut self, character: char, at: usize, length: usize) {
        self.mark(at);
        self.text.push(character);
        self.end = at + length;
    }

    fn push_str(&mut self, text: &str, at: usize) {
        if text.is_empty() {
            return;
        }
        self.mark(at);
        self.text.push_str(text);
        self.end = at + text.len();
    }

    /// Notes that the next byte of the text stands at `at`.
    fn mark(&mut self, at: usize) {
        let offset = self.text.len();
        let expected = self
            .origins
            .last()
            .map(|(text, file)| file + (offset - text));
        if expected != Some(at) {
            self.origins.push((offset, at));
        }
    }

    /// The origins for the parser's text, which lacks the line breaks at the end that chomping took.
    fn cut(mut self, text: &str) -> Vec<(usize, usize)> {
        debug_assert!(
            self.text.starts_with(text) || self.text.len() < text.len(),
            "read {:?} where the parser read {text:?}",
            self.text
        );
        if text.len() >= self.text.len() {
            self.mark(self.end);
        } else {
            self.origins.retain(|(offset, _)| *offset <= text.len());
        }
        // Several marks at one offset: the last one holds the character that follows.
        self.origins.reverse();
        self.origins.dedup_by_key(|(offset, _)| *offset);
        self.origins.reverse();
        self.origins
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

const fn inside(raw: Span) -> Span {
    Span {
        start: raw.start + 1,
        end: raw.end.saturating_sub(1),
    }
}

/// Plain and quoted scalars: lines are folded, white space around line breaks goes.
fn flow(source: &str, range: Span, quotes: Quotes, places: &mut Places) {
    let mut at = range.start;
    places.end = at;
    while at < range.end {
        let rest = &source[at..range.end];
        let Some(character) = rest.chars().next() else {
            break;
        };
        match character {
            ' ' | '\t' => {
                let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
                if line_break(&rest[blanks..]) == 0 {
                    places.push_str(&rest[..blanks], at);
                }
                at += blanks;
            }
            '\n' | '\r' if line_break(rest) > 0 => at = fold(source, at, range.end, false, places),
            '\'' if quotes == Quotes::Single => {
                places.push('\'', at, 2);
                at += 2;
            }
            '\\' if quotes == Quotes::Double => {
                let behind = at + 1;
                if line_break(&source[behind..range.end]) > 0 {
                    at = fold(source, behind, range.end, true, places);
                } else {
                    let (decoded, length) = escape(&source[at..range.end]);
                    places.push(decoded, at, length);
                    at += length;
                }
            }
            _ => {
                places.push_str(&rest[..character.len_utf8()], at);
                at += character.len_utf8();
            }
        }
    }
    places.end = range.end;
}

/// Line breaks in a flow scalar: one is a space (none, if it is escaped), more are one less.
fn fold(source: &str, start: usize, end: usize, escaped: bool, places: &mut Places) -> usize {
    let mut at = start + line_break(&source[start..end]);
    let mut empty_lines = false;
    loop {
        let rest = &source[at..end];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let length = line_break(&rest[blanks..]);
        at += blanks;
        if length == 0 {
            break;
        }
        places.push('\n', at, length);
        empty_lines = true;
        at += length;
    }
    if !empty_lines && !escaped {
        places.push(' ', start, line_break(&source[start..end]));
    }
    at
}

/// The character that an escape stands for, and the escape's length.
fn escape(text: &str) -> (char, usize) {
    let mut characters = text.chars().skip(1);
    let Some(kind) = characters.next() else {
        return ('\\', 1);
    };
    let digits = match kind {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let code = hexadecimal(text, 2, digits);
        // A pair of surrogates is one character.
        if (0xd800..0xdc00).contains(&code) && text.get(6..8) == Some("\\u") {
            let low = hexadecimal(text, 8, 4);
            let both = 0x1_0000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
            return (char::from_u32(both).unwrap_or('\u{fffd}'), 12);
        }
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 2 + digits);
    }
    let decoded = match kind {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        other => other,
    };
    (decoded, 1 + kind.len_utf8())
}

fn hexadecimal(text: &str, from: usize, digits: usize) -> u32 {
    text.get(from..from + digits)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or(0)
}

/// Literal and folded blocks. The parser's place begins at the first line that is not blank,
/// behind its indentation.
fn block(source: &str, scalar: &Scalar, folded: bool, places: &mut Places) {
    let first = line_start(source, scalar.raw.start);
    let indent = scalar.raw.start - first;
    let blank_lines = scalar.text.len() - scalar.text.trim_start_matches('\n').len();
    let mut at = first;
    for _ in 0..blank_lines {
        at = line_start(source, at.saturating_sub(1));
    }
    places.end = at;
    // The parser's place reaches into the indentation of the line behind the block.
    let last = line_start(source, scalar.raw.end);
    let is_behind = scalar.raw.end < source.len()
        && source[last..scalar.raw.end]
            .bytes()
            .all(|byte| byte == b' ');
    let end = if is_behind { last } else { scalar.raw.end };
    // The line break before this line, and whether the line before was folded text.
    let mut pending: Option<(usize, usize)> = None;
    let mut after_text = false;
    let mut blanks: Vec<(usize, usize)> = Vec::new();
    while at < end {
        let line = source[at..].split('\n').next().unwrap_or_default();
        let text = line.strip_suffix('\r').unwrap_or(line);
        let next = (at + line.len() + 1).min(source.len());
        let line_end = (at + text.len(), next - (at + text.len()));
        let spaces = text.len() - text.trim_start_matches(' ').len();
        let content = &text[spaces.min(indent)..];
        let content_at = at + spaces.min(indent);
        at = next;
        if content.is_empty() {
            blanks.push(line_end);
            continue;
        }
        let is_text = folded && !content.starts_with([' ', '\t']);
        let folds = is_text && after_text;
        if let Some((break_at, length)) = pending {
            if !folds {
                places.push('\n', break_at, length);
            } else if blanks.is_empty() {
                places.push(' ', break_at, length);
            }
        }
        for (break_at, length) in blanks.drain(..) {
            places.push('\n', break_at, length);
        }
        places.push_str(content, content_at);
        pending = Some(line_end);
        after_text = is_text;
    }
    for (break_at, length) in pending.into_iter().chain(blanks) {
        places.push('\n', break_at, length);
    }
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The length of the line break that a text begins with; 0 if it begins with none.
fn line_break(text: &str) -> usize {
    if text.starts_with("\r\n") {
        2
    } else {
        usize::from(text.starts_with(['\n', '\r']))
    }
}
