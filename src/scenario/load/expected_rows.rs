//! The rows that must come out of a step.

use super::super::source::Spanned;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::values;

/// Reads rows, each with its place.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
) -> Option<Vec<Spanned<Vec<Option<String>>>>> {
    let help = "write a list of rows, each a list of values: `rows: [[1, done], [2, queued]]`";
    let items = values::list(mistakes, node, "a list of rows", help)?;
    let mut all_read = true;
    let mut rows = Vec::new();
    let flat = !items.is_empty()
        && items
            .iter()
            .all(|item| matches!(item.kind, Kind::Scalar(_)));
    if flat {
        let written = mistakes.text(node.span);
        let help = if written.starts_with('[') && written.len() <= 60 && !written.contains('\n') {
            format!("for one row write `[{written}]`")
        } else {
            help.to_owned()
        };
        mistakes.report(
            Mistake::new(
                values::first_line(mistakes, node.span),
                "expected a list of rows, found a list of values",
            )
            .label("each row is a list of its own")
            .help(help),
        );
        return None;
    }
    for item in items {
        let Some(cells) = values::list(mistakes, item, "a row", help) else {
            all_read = false;
            continue;
        };
        let mut row = Vec::with_capacity(cells.len());
        for node in cells {
            match cell(mistakes, node) {
                Some(cell) => row.push(cell),
                None => all_read = false,
            }
        }
        rows.push(Spanned {
            value: row,
            span: item.span,
        });
    }
    all_read.then_some(rows)
}

/// A value as PostgreSQL prints it; `Some(None)` is SQL NULL.
fn cell(mistakes: &mut Mistakes, node: &Node) -> Option<Option<String>> {
    let Kind::Scalar(scalar) = &node.kind else {
        values::expected(
            mistakes,
            node,
            "a value",
            "quote a value that begins with `{` or `[`: `'{1,2}'`",
        );
        return None;
    };
    let Some(plain) = node.as_plain() else {
        return Some(Some(scalar.text.clone()));
    };
    let mistake = |message: &str, label: &str, help: String| {
        Mistake::new(node.span, message).label(label).help(help)
    };
    let mistake = match plain {
        _ if node.is_empty_plain() => mistake(
            "a value is missing",
            "nothing is written here",
            "write `null` for SQL NULL, `\"\"` for an empty text".to_owned(),
        ),
        "null" => return Some(None),
        "~" | "Null" | "NULL" => mistake(
            "neither SQL NULL nor text",
            "YAML's null by another name",
            format!("write `null` for SQL NULL, `\"{plain}\"` for the text"),
        ),
        _ if is_boolean_word(plain) => mistake(
            "PostgreSQL prints booleans as t and f",
            "a boolean word without quotes",
            format!(
                "write `{}` for the boolean, `\"{plain}\"` for the text",
                if matches!(plain.to_ascii_lowercase().as_str(), "true" | "yes") {
                    "t"
                } else {
                    "f"
                }
            ),
        ),
        _ => return Some(Some(plain.to_owned())),
    };
    mistakes.report(mistake);
    None
}

fn is_boolean_word(text: &str) -> bool {
    ["true", "false", "yes", "no"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}
