//! SQL in a scenario: what can be said of it without a server.

use std::ops::Range;

use granit_parser::ScalarStyle;

use super::super::source::{Span, SqlText};
use super::super::sql::{self, SplitProblemKind};
use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::text;
use super::values;

const HELP: &str = "write SQL: `SELECT 1;`, or `|` and the SQL on the next lines";

/// SQL that stands by itself.
pub(super) fn script(mistakes: &mut Mistakes, node: &Node) -> Option<SqlText> {
    let scalar = values::scalar(mistakes, node, "SQL", HELP)?;
    let sql = text::sql_text(&mistakes.source().text, scalar, node.span);
    if scalar.style == ScalarStyle::Plain && refuse_cut(mistakes, node.span, &sql.text) {
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
    for statement in &statements {
        let Some(range) = sql::copy_from_stdin(&statement.text) else {
            continue;
        };
        let range = statement.origin(range.start)..statement.origin(range.end - 1) + 1;
        let place = place(mistakes, sql, range);
        mistakes.report(
            Mistake::new(place, "COPY cannot read from a scenario yet")
                .label("the server would wait for data here")
                .help("write INSERT … VALUES instead"),
        );
    }
}

/// Where a piece of the SQL stands in the file.
pub(super) fn place(mistakes: &Mistakes, sql: &SqlText, range: Range<usize>) -> Span {
    let source = &mistakes.source().text;
    let start = sql.origin(range.start);
    let end = sql.origin(range.end.max(range.start + 1) - 1) + 1;
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
