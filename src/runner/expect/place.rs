//! From a place in a statement that was sent to the place in the scenario file.

use std::ops::Range;

use crate::scenario::{SourceFile, Span, SqlText, Statement, token_at};

/// The place, in the file, of a character of a statement (counted from 1, as PostgreSQL counts) and
/// of the token that begins there.
pub(super) fn of_position(
    source: &SourceFile,
    sql: &SqlText,
    statement: &Statement,
    position: u32,
) -> Span {
    let before = usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX);
    let at = match statement.text.char_indices().nth(before) {
        Some((at, _)) => at,
        // PostgreSQL points behind the end when the end is what surprises it.
        None => statement
            .text
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at),
    };
    of_range(source, sql, statement, token_at(&statement.text, at))
}

/// The place of a whole statement in the file.
pub(super) fn of_statement(source: &SourceFile, sql: &SqlText, statement: &Statement) -> Span {
    of_range(source, sql, statement, 0..statement.text.len())
}

fn of_range(
    source: &SourceFile,
    sql: &SqlText,
    statement: &Statement,
    range: Range<usize>,
) -> Span {
    let Some(last) = statement.text[range.clone()].chars().next_back() else {
        return sql.span;
    };
    // Not the origin of the end, which may stand on the next line already.
    let behind = statement.origin(range.end - last.len_utf8()) + last.len_utf8();
    let Span { start, end } = sql.place(statement.origin(range.start)..behind);
    let text = &source.text;
    let start = text.floor_char_boundary(start);
    Span {
        start,
        end: text.ceil_char_boundary(end).max(start),
    }
}
