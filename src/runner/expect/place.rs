//! From a place in a statement that was sent to the place in the scenario file.

use std::ops::Range;

use crate::scenario::{SourceFile, Span, SqlText, split, token_at};

/// The place, in the file, of a character of a statement (counted from 1, as PostgreSQL counts) and
/// of the token that begins there. `offset` is where the statement begins in `sql`.
pub(super) fn of_position(
    source: &SourceFile,
    sql: &SqlText,
    statement: &str,
    offset: usize,
    position: u32,
) -> Span {
    let before = usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX);
    let at = match statement.char_indices().nth(before) {
        Some((at, _)) => at,
        // PostgreSQL points behind the end when the end is what surprises it.
        None => statement.char_indices().next_back().map_or(0, |(at, _)| at),
    };
    of_range(source, sql, statement, offset, token_at(statement, at))
}

/// The place of a whole statement in the file.
pub(super) fn of_statement(
    source: &SourceFile,
    sql: &SqlText,
    statement: &str,
    offset: usize,
) -> Span {
    of_range(source, sql, statement, offset, 0..statement.len())
}

fn of_range(
    source: &SourceFile,
    sql: &SqlText,
    statement: &str,
    offset: usize,
    range: Range<usize>,
) -> Span {
    let Some(last) = statement[range.clone()].chars().next_back() else {
        return sql.span;
    };
    let in_file = |at: usize| sql.origin(in_text(&sql.text, statement, offset, at));
    let start = in_file(range.start);
    // Not the origin of the end, which may stand on the next line already.
    let end = in_file(range.end - last.len_utf8()) + last.len_utf8();
    let text = &source.text;
    let start = text.floor_char_boundary(start);
    Span {
        start,
        end: text.ceil_char_boundary(end).max(start),
    }
}

/// From a byte of a statement to the byte of the text it was cut from.
fn in_text(text: &str, statement: &str, offset: usize, at: usize) -> usize {
    let whole = text
        .get(offset..)
        .is_some_and(|rest| rest.starts_with(statement));
    if whole {
        return offset + at;
    }
    // What was sent lacks the empty lines of the text; only the splitter knows where they were.
    split(text)
        .ok()
        .and_then(|statements| statements.into_iter().find(|one| one.range.start == offset))
        .map_or(offset, |found| found.origin(at))
}
