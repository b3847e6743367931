//! The rows that came back.

use super::unmet::Subject;
use crate::scenario::{Diagnostic, ExpectedRows, Span, Spanned};
use crate::transcript::ResultSet;

/// How many rows a message shows.
const SHOWN: usize = 20;
/// How many characters of a value a message shows.
const SHOWN_WIDTH: usize = 60;

type Row = [Option<String>];

pub(super) fn check(subject: &Subject<'_>, expected: &ExpectedRows) -> Vec<Diagnostic> {
    let Some(result) = subject.observed.last_rows() else {
        return vec![subject.diagnostic(
            expected.span,
            "expected rows, but no statement of the step returns rows".to_owned(),
            subject.observed.summary(),
        )];
    };
    if expected.unordered {
        check_unordered(subject, expected, result)
    } else {
        check_ordered(subject, expected, result)
            .into_iter()
            .collect()
    }
}

/// The first difference; those behind it often follow from it.
fn check_ordered(
    subject: &Subject<'_>,
    expected: &ExpectedRows,
    result: &ResultSet,
) -> Option<Diagnostic> {
    let pairs = expected.rows.iter().zip(&result.rows);
    for (index, (wanted, got)) in pairs.enumerate() {
        if wanted.value != *got {
            return Some(with_rows(
                subject,
                result,
                wanted.span,
                format!("row {} is not the expected one", index + 1),
                difference(wanted, got, result),
            ));
        }
    }
    let (wanted, got) = (expected.rows.len(), result.rows.len());
    if let Some(missing) = expected.rows.get(got) {
        return Some(with_rows(
            subject,
            result,
            missing.span,
            format!("expected {}, got {got}", rows(wanted)),
            "this row did not come".to_owned(),
        ));
    }
    result.rows.get(wanted).map(|extra| {
        with_rows(
            subject,
            result,
            expected.span,
            format!("expected {}, got {got}", rows(wanted)),
            format!("one too many: {}", line(extra)),
        )
    })
}

/// Each row that is missing, and all that are too many.
fn check_unordered(
    subject: &Subject<'_>,
    expected: &ExpectedRows,
    result: &ResultSet,
) -> Vec<Diagnostic> {
    let mut left: Vec<&Vec<Option<String>>> = result.rows.iter().collect();
    let mut found = Vec::new();
    for wanted in &expected.rows {
        match left.iter().position(|got| **got == wanted.value) {
            Some(at) => {
                left.remove(at);
            }
            None => found.push(with_rows(
                subject,
                result,
                wanted.span,
                "an expected row did not come".to_owned(),
                "this row did not come".to_owned(),
            )),
        }
    }
    if let Some(first) = left.first() {
        let label = match left.len() {
            1 => line(first),
            many => format!("{}, and {} more", line(first), many - 1),
        };
        found.push(with_rows(
            subject,
            result,
            expected.span,
            format!("{} came that the list does not hold", rows(left.len())),
            label,
        ));
    }
    found
}

fn with_rows(
    subject: &Subject<'_>,
    result: &ResultSet,
    span: Span,
    message: String,
    label: String,
) -> Diagnostic {
    let mut diagnostic = subject.diagnostic(span, message, label);
    diagnostic.help = Some(table(result));
    diagnostic
}

/// What is different, value by value where the rows are of one width.
fn difference(wanted: &Spanned<Vec<Option<String>>>, got: &Row, result: &ResultSet) -> String {
    if wanted.value.len() != got.len() {
        return format!(
            "{} {} here, but {} came: {}",
            wanted.value.len(),
            if wanted.value.len() == 1 {
                "value"
            } else {
                "values"
            },
            got.len(),
            line(got)
        );
    }
    let different: Vec<String> = wanted
        .value
        .iter()
        .zip(got)
        .zip(&result.columns)
        .filter(|((wanted, got), _)| wanted != got)
        .map(|((wanted, got), column)| {
            format!(
                "{}: expected {}, got {}",
                column.name,
                value(wanted),
                value(got)
            )
        })
        .collect();
    different.join("; ")
}

/// The rows that came, aligned.
pub(super) fn table(result: &ResultSet) -> String {
    if result.rows.is_empty() {
        return "no row came".to_owned();
    }
    let mut lines: Vec<Vec<String>> = vec![
        result
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect(),
    ];
    lines.extend(
        result
            .rows
            .iter()
            .take(SHOWN)
            .map(|row| row.iter().map(value).collect()),
    );
    let mut widths = vec![0; result.columns.len()];
    for cells in &lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = "the rows that came:".to_owned();
    for cells in lines {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str("\n  ");
        text.push_str(padded.join(" | ").trim_end());
    }
    if result.rows.len() > SHOWN {
        text.push_str(&format!("\n  … and {} more", result.rows.len() - SHOWN));
    }
    text
}

fn line(row: &Row) -> String {
    let values: Vec<String> = row.iter().map(value).collect();
    format!("({})", values.join(", "))
}

/// A value as it is shown: NULL is told from the word, and blanks are seen.
fn value(value: &Option<String>) -> String {
    let Some(text) = value else {
        return "NULL".to_owned();
    };
    let plain = !text.is_empty()
        && text.trim() == text
        && !text.eq_ignore_ascii_case("null")
        && !text.contains(|c: char| c.is_control());
    let shown: String = if plain {
        text.clone()
    } else {
        format!("'{}'", text.escape_debug())
    };
    match shown.char_indices().nth(SHOWN_WIDTH) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}

fn rows(count: usize) -> String {
    match count {
        0 => "no row".to_owned(),
        1 => "1 row".to_owned(),
        many => format!("{many} rows"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, judge, nothing, owned, scenario, span, spanned};
    use super::super::{Answered, Observed, unmet};
    use super::*;
    use crate::scenario::Expect;
    use crate::transcript::Answer;

    /// The rows of the fixture's file.
    fn expecting(unordered: bool) -> Expect {
        Expect {
            rows: Some(ExpectedRows {
                span: span("[[1, mail], [2, ~], [3, bill]]"),
                rows: vec![
                    spanned("[1, mail]", owned(&[Some("1"), Some("mail")])),
                    spanned("[2, ~]", owned(&[Some("2"), None])),
                    spanned("[3, bill]", owned(&[Some("3"), Some("bill")])),
                ],
                unordered,
            }),
            ..nothing()
        }
    }

    const MAIL: [Option<&str>; 2] = [Some("1"), Some("mail")];
    const NULL: [Option<&str>; 2] = [Some("2"), None];
    const BILL: [Option<&str>; 2] = [Some("3"), Some("bill")];
    const OTHER: [Option<&str>; 2] = [Some("4"), Some("")];

    fn check(unordered: bool, rows: &[[Option<&str>; 2]]) -> Vec<[String; 3]> {
        judge(expecting(unordered), &[fixture::rows(rows)])
    }

    #[test]
    fn the_same_rows_meet_the_expectation() {
        assert!(check(false, &[MAIL, NULL, BILL]).is_empty());
        assert!(check(true, &[BILL, MAIL, NULL]).is_empty());
    }

    #[test]
    fn the_first_different_row_is_underlined() {
        assert_eq!(
            check(false, &[MAIL, [Some("2"), Some("null")], OTHER]),
            [[
                "[2, ~]",
                "row 2 is not the expected one",
                "task: expected NULL, got 'null'"
            ]]
        );
        assert_eq!(
            check(false, &[OTHER, NULL, BILL]),
            [[
                "[1, mail]",
                "row 1 is not the expected one",
                "id: expected 1, got 4; task: expected mail, got ''"
            ]]
        );
    }

    #[test]
    fn the_number_of_rows_matters() {
        assert_eq!(
            check(false, &[MAIL, NULL]),
            [[
                "[3, bill]",
                "expected 3 rows, got 2",
                "this row did not come"
            ]]
        );
        assert_eq!(
            check(false, &[MAIL, NULL, BILL, OTHER]),
            [[
                "[[1, mail], [2, ~], [3, bill]]",
                "expected 3 rows, got 4",
                "one too many: (4, '')"
            ]]
        );
    }

    #[test]
    fn without_order_each_missing_row_is_underlined() {
        assert_eq!(
            check(true, &[BILL, OTHER, BILL]),
            [
                [
                    "[1, mail]",
                    "an expected row did not come",
                    "this row did not come"
                ],
                [
                    "[2, ~]",
                    "an expected row did not come",
                    "this row did not come"
                ],
                [
                    "[[1, mail], [2, ~], [3, bill]]",
                    "2 rows came that the list does not hold",
                    "(4, ''), and 1 more"
                ],
            ]
        );
    }

    #[test]
    fn rows_of_another_width_are_not_compared_value_by_value() {
        let mut expect = expecting(false);
        let rows = expect.rows.as_mut().expect("there are rows");
        rows.rows[0].value.pop();
        assert_eq!(
            judge(expect, &[fixture::rows(&[MAIL, NULL, BILL])])[0][2],
            "1 value here, but 2 came: (1, mail)"
        );
    }

    #[test]
    fn the_last_rows_count() {
        let answers = [
            fixture::rows(&[OTHER]),
            fixture::rows(&[MAIL, NULL, BILL]),
            fixture::command("COMMIT"),
        ];
        assert!(judge(expecting(false), &answers).is_empty());
        assert_eq!(
            judge(expecting(false), &[fixture::command("UPDATE 3")]),
            [[
                "[[1, mail], [2, ~], [3, bill]]",
                "expected rows, but no statement of the step returns rows",
                "got `UPDATE 3`"
            ]]
        );
    }

    #[test]
    fn all_that_came_is_shown_in_columns() {
        let scenario = scenario(expecting(false));
        let answers: [Answer; 1] = [fixture::rows(&[
            MAIL,
            [Some("10"), Some("two\nlines")],
            NULL,
        ])];
        let statement = fixture::statement();
        let observed = Observed {
            answered: vec![Answered {
                part: 0,
                statement: &statement,
                answers: &answers,
            }],
            ..Observed::default()
        };
        let found = unmet(&scenario, &scenario.steps[0], &observed, fixture::RELEASE);
        assert_eq!(
            found[0].help.as_deref(),
            Some(
                "the rows that came:\n  id | task\n  1  | mail\n  10 | 'two\\nlines'\n  2  | NULL"
            )
        );
    }
}
