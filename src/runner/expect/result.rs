//! The shape of a result: its columns, how many rows, the command tag.

use super::rows::table;
use super::unmet::Subject;
use crate::scenario::{Diagnostic, Expect, Role, Spanned};

/// Checks `columns`, `row_count`, `tag` and `empty`.
pub(super) fn check(subject: &Subject<'_>, expect: &Expect) -> Vec<Diagnostic> {
    [
        expect
            .columns
            .as_ref()
            .and_then(|columns| check_columns(subject, columns)),
        expect
            .row_count
            .as_ref()
            .and_then(|count| check_count(subject, count)),
        expect.tag.as_ref().and_then(|tag| check_tag(subject, tag)),
        expect
            .empty
            .as_ref()
            .and_then(|empty| check_empty(subject, empty)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn check_columns(subject: &Subject<'_>, expected: &Spanned<Vec<String>>) -> Option<Diagnostic> {
    let wanted = format!("expected the columns {}", names(&expected.value));
    let Some(result) = subject.observed.last_rows() else {
        return Some(without_rows(subject, expected, wanted));
    };
    let got: Vec<String> = result
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    (got != expected.value)
        .then(|| subject.diagnostic(expected.span, wanted, format!("got {}", names(&got))))
}

fn names(columns: &[String]) -> String {
    match columns {
        [] => "(none)".to_owned(),
        _ => columns.join(", "),
    }
}

fn check_count(subject: &Subject<'_>, expected: &Spanned<u64>) -> Option<Diagnostic> {
    let observed = subject.observed;
    let wanted = format!("expected {}", rows(expected.value));
    let got = match observed.last_rows() {
        Some(result) => u64::try_from(result.rows.len()).ok(),
        None => observed.last_tag().and_then(touched),
    };
    match got {
        Some(got) if got == expected.value => None,
        Some(got) => Some(subject.diagnostic(
            expected.span,
            format!("{wanted}, got {got}"),
            observed.summary(),
        )),
        None => Some(subject.diagnostic(
            expected.span,
            format!("{wanted}, but the answer does not say how many there were"),
            observed.summary(),
        )),
    }
}

/// The number at the end of a command tag.
fn touched(tag: &str) -> Option<u64> {
    tag.rsplit_once(' ')?.1.parse().ok()
}

fn check_tag(subject: &Subject<'_>, expected: &Spanned<String>) -> Option<Diagnostic> {
    let wanted = &expected.value;
    match subject.observed.last_tag() {
        Some(got) if got == wanted => None,
        Some(got) => Some(subject.diagnostic(
            expected.span,
            format!("expected the command tag `{wanted}`, got `{got}`"),
            format!("got `{got}`"),
        )),
        None => Some(subject.diagnostic(
            expected.span,
            format!("expected the command tag `{wanted}`, but none came"),
            subject.observed.summary(),
        )),
    }
}

fn check_empty(subject: &Subject<'_>, expected: &Spanned<bool>) -> Option<Diagnostic> {
    let wanted = if expected.value {
        "expected no row"
    } else {
        "expected at least one row"
    };
    let Some(result) = subject.observed.last_rows() else {
        return Some(without_rows(subject, expected, wanted.to_owned()));
    };
    (result.rows.is_empty() != expected.value).then(|| {
        let got = u64::try_from(result.rows.len()).unwrap_or(u64::MAX);
        if let Role::Invariant(name) = &subject.step.role {
            let label = format!("{} came", rows(got));
            let message = format!("the invariant does not hold: {name}");
            let broken = subject.diagnostic(expected.span, message, label);
            return Diagnostic {
                help: Some(table(result)),
                ..broken
            };
        }
        subject.diagnostic(
            expected.span,
            wanted.to_owned(),
            format!("got {}", rows(got)),
        )
    })
}

/// An expectation on rows of a step that returns none by its nature.
fn without_rows<T>(subject: &Subject<'_>, expected: &Spanned<T>, wanted: String) -> Diagnostic {
    let mut diagnostic = subject.diagnostic(
        expected.span,
        format!("{wanted}, but no statement of the step returns rows"),
        subject.observed.summary(),
    );
    diagnostic.help =
        Some("for rows that are touched and not returned, write `row_count` or `tag`".to_owned());
    diagnostic
}

fn rows(count: u64) -> String {
    match count {
        1 => "1 row".to_owned(),
        many => format!("{many} rows"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{command, judge, nothing, rows, spanned};
    use super::*;
    use crate::transcript::Answer;

    const NO_ROWS: &str = "but no statement of the step returns rows";

    fn two_rows() -> Answer {
        rows(&[[Some("1"), Some("a")], [Some("2"), None]])
    }

    #[test]
    fn columns_are_compared_by_name_and_order() {
        let expect = |columns: [&str; 2]| Expect {
            columns: Some(spanned("[id, task]", columns.map(str::to_owned).to_vec())),
            ..nothing()
        };
        assert!(judge(expect(["id", "task"]), &[two_rows()]).is_empty());
        assert_eq!(
            judge(expect(["task", "id"]), &[two_rows()]),
            [[
                "[id, task]",
                "expected the columns task, id",
                "got id, task"
            ]]
        );
        assert_eq!(
            judge(expect(["id", "task"]), &[command("UPDATE 1")]),
            [[
                "[id, task]",
                &format!("expected the columns id, task, {NO_ROWS}"),
                "got `UPDATE 1`"
            ]]
        );
    }

    #[test]
    fn rows_are_counted_as_returned_or_as_touched() {
        let expect = |count| Expect {
            row_count: Some(spanned("17", count)),
            ..nothing()
        };
        for (count, answers) in [
            (2, vec![two_rows()]),
            (2, vec![two_rows(), command("UPDATE 7")]),
            (7, vec![command("BEGIN"), command("UPDATE 7")]),
            (0, vec![command("INSERT 0 0")]),
        ] {
            assert!(
                judge(expect(count), &answers).is_empty(),
                "{count} {answers:?}"
            );
        }
        assert_eq!(
            judge(expect(1), &[two_rows()]),
            [["17", "expected 1 row, got 2", "got `SELECT 2`"]]
        );
        assert_eq!(
            judge(expect(3), &[command("INSERT 0 1")]),
            [["17", "expected 3 rows, got 1", "got `INSERT 0 1`"]]
        );
        assert_eq!(
            judge(expect(3), &[command("BEGIN")]),
            [[
                "17",
                "expected 3 rows, but the answer does not say how many there were",
                "got `BEGIN`"
            ]]
        );
    }

    #[test]
    fn a_commit_that_rolls_back_is_told_by_its_tag() {
        let expect = |tag: &str| Expect {
            tag: Some(spanned("UPDATE 1", tag.to_owned())),
            ..nothing()
        };
        assert!(judge(expect("COMMIT"), &[command("COMMIT")]).is_empty());
        assert!(judge(expect("SELECT 2"), &[command("BEGIN"), two_rows()]).is_empty());
        assert_eq!(
            judge(expect("COMMIT"), &[command("ROLLBACK")]),
            [[
                "UPDATE 1",
                "expected the command tag `COMMIT`, got `ROLLBACK`",
                "got `ROLLBACK`"
            ]]
        );
        assert_eq!(
            judge(expect("COMMIT"), &[Answer::Empty]),
            [[
                "UPDATE 1",
                "expected the command tag `COMMIT`, but none came",
                "nothing came back"
            ]]
        );
    }

    #[test]
    fn no_row_is_told_from_some() {
        let expect = |empty| Expect {
            empty: Some(spanned("true", empty)),
            ..nothing()
        };
        assert!(judge(expect(true), &[rows(&[])]).is_empty());
        assert!(judge(expect(false), &[two_rows()]).is_empty());
        assert_eq!(
            judge(expect(true), &[two_rows()]),
            [["true", "expected no row", "got 2 rows"]]
        );
        assert_eq!(
            judge(expect(false), &[rows(&[])]),
            [["true", "expected at least one row", "got 0 rows"]]
        );
        assert_eq!(
            judge(expect(true), &[command("UPDATE 0")]),
            [[
                "true",
                &format!("expected no row, {NO_ROWS}"),
                "got `UPDATE 0`"
            ]]
        );
    }
}
