//! SQL in a scenario: what can be said of it without a server.

use std::ops::Range;

use granit_parser::ScalarStyle;

use super::super::source::{Span, SqlText};
use super::super::sql::{self, SplitProblemKind, Statement};
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::text as places;
use super::values;

const HELP: &str = "write SQL: `SELECT 1;`, or `|` and the SQL on the next lines";

/// What SQL is for, as far as it matters to a COPY that reads from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A step of a session.
    Step,
    /// A statement of the extended protocol.
    Extended,
    /// A `check:`, a set-up or a tear-down.
    Check,
}

/// SQL of a set-up or a tear-down.
pub(super) fn script(mistakes: &mut Mistakes, node: &Node) -> Option<SqlText> {
    let sql = text(mistakes, node)?;
    refuse_copy(mistakes, &sql, Purpose::Check);
    Some(sql)
}

/// SQL of a set-up that may come in several blocks, one after the other.
pub(super) fn scripts(mistakes: &mut Mistakes, node: &Node) -> Vec<SqlText> {
    match &node.kind {
        Kind::List(items) => items
            .iter()
            .filter_map(|item| script(mistakes, item))
            .collect(),
        _ => script(mistakes, node).into_iter().collect(),
    }
}

/// SQL whose use is not known yet.
pub(super) fn text(mistakes: &mut Mistakes, node: &Node) -> Option<SqlText> {
    let scalar = values::scalar(mistakes, node, "SQL", HELP)?;
    let sql = places::sql_text(&mistakes.source().text, scalar, node.span);
    if scalar.written_style() == ScalarStyle::Plain && refuse_cut(mistakes, node.span, &sql.text) {
        return None;
    }
    check(mistakes, &sql);
    Some(sql)
}

/// Reports what is wrong with the SQL however the server would take it.
fn check(mistakes: &mut Mistakes, sql: &SqlText) {
    let statements = match sql::split(&sql.text) {
        Ok(statements) => statements,
        Err(problems) => {
            for problem in problems {
                let place = place(mistakes, sql, problem.range);
                mistakes.report(
                    Mistake::new(place, problem.kind.to_string())
                        .label(label(problem.kind))
                        .help(help(problem.kind)),
                );
            }
            return;
        }
    };
    if statements.is_empty() {
        mistakes.report(
            Mistake::new(
                values::first_line(mistakes, sql.span),
                "expected SQL, found nothing that a server could run",
            )
            .label("only comments")
            .help("use `say:` for a remark, or the `note:` of a step"),
        );
    }
}

/// Reports a COPY that would wait for data where none is written.
pub(super) fn refuse_copy(mistakes: &mut Mistakes, sql: &SqlText, purpose: Purpose) {
    let help = match purpose {
        Purpose::Step => {
            "write the rows beside it: `{ sql: COPY … FROM STDIN, data: \"1\\tdone\\n\" }`"
        }
        Purpose::Extended => {
            "a COPY is a step of its own: `{ sql: COPY … FROM STDIN, data: \"1\\tdone\\n\" }`"
        }
        Purpose::Check => "write INSERT … VALUES instead",
    };
    // What cannot be split was reported.
    for statement in sql::split(&sql.text).unwrap_or_default() {
        let Some(range) = sql::copy_from_stdin(&statement.text) else {
            continue;
        };
        let place = statement_place(mistakes, sql, &statement, range);
        mistakes.report(
            Mistake::new(place, "a COPY without its data")
                .label("the server would wait for data here")
                .help(help),
        );
    }
}

/// Reports a second statement where one is asked for.
pub(super) fn refuse_several(mistakes: &mut Mistakes, sql: &SqlText, why: &str) {
    let statements = sql::split(&sql.text).unwrap_or_default();
    let [first, second, ..] = &statements[..] else {
        return;
    };
    let whole = |mistakes: &Mistakes, statement: &Statement| {
        let place = place(mistakes, sql, statement.range.clone());
        values::first_line(mistakes, place)
    };
    let mistake = Mistake::new(whole(mistakes, second), why)
        .label("a second statement")
        .related(whole(mistakes, first), "the first statement")
        .help("make a step of each");
    mistakes.report(mistake);
}

/// Reports a number of values that is not the number of a statement's parameters.
pub(super) fn refuse_other_count(
    mistakes: &mut Mistakes,
    sql: &SqlText,
    given: usize,
    written: Span,
) {
    let highest = sql::highest_parameter(&sql.text);
    let number = highest.as_ref().map_or(0, |(number, _)| *number);
    if number == given {
        return;
    }
    let mistake = Mistake::new(
        written,
        format!(
            "the statement has {}, the list has {}",
            values::counted(number, "parameter"),
            values::counted(given, "value")
        ),
    )
    .label(values::counted(given, "value"));
    mistakes.report(match highest {
        Some((_, range)) => mistake
            .related(place(mistakes, sql, range), "its highest parameter")
            .help("give each of `$1`, `$2`, … one value, `null` for SQL NULL"),
        None => mistake.help("write `$1` where the value belongs, or take `params` out"),
    });
}

/// Where a piece of one of the statements stands in the file.
pub(super) fn statement_place(
    mistakes: &Mistakes,
    sql: &SqlText,
    statement: &Statement,
    range: Range<usize>,
) -> Span {
    let range = statement.origin(range.start)..statement.origin(range.end - 1) + 1;
    place(mistakes, sql, range)
}

/// Where a piece of the SQL stands in the file.
pub(super) fn place(mistakes: &Mistakes, sql: &SqlText, range: Range<usize>) -> Span {
    let source = &mistakes.source().text;
    let Span { start, end } = sql.place(range);
    Span {
        start,
        end: source.ceil_char_boundary(end.clamp(start, source.len())),
    }
}

const fn label(kind: SplitProblemKind) -> &'static str {
    match kind {
        SplitProblemKind::BackslashCommand => "only psql itself knows this",
        _ => "it begins here",
    }
}

const fn help(kind: SplitProblemKind) -> &'static str {
    match kind {
        SplitProblemKind::BackslashCommand => "write the SQL that it stands for",
        SplitProblemKind::UnterminatedString => {
            "close it with `'`; write `''` for a quote in the string"
        }
        SplitProblemKind::UnterminatedIdentifier => {
            "close it with `\"`; write `\"\"` for a quote in the name"
        }
        SplitProblemKind::UnterminatedDollarQuote => "close it with the same `$tag$`",
        SplitProblemKind::UnterminatedComment => {
            "close it with `*/`; comments nest, so each `/*` needs its own"
        }
        SplitProblemKind::UnclosedParenthesis => "write its other half, or take it out",
        SplitProblemKind::UnclosedBegin => "close it with `END`",
    }
}

/// YAML takes ` #` in a plain scalar for a comment, and so cuts an operator such as `#>` and all
/// behind it from the SQL. Whoever ended the statement before meant a comment.
fn refuse_cut(mistakes: &mut Mistakes, span: Span, sql: &str) -> bool {
    let Some(comment) = values::comment_behind(mistakes, span) else {
        return false;
    };
    if sql.ends_with(';') {
        return false;
    }
    mistakes.report(
        Mistake::new(comment, "YAML cuts the SQL off here")
            .label("` #` begins a comment in a value without quotes")
            .help("if it is SQL, write `|` and the SQL on the next lines; if it is a comment, end the SQL with `;`"),
    );
    true
}
