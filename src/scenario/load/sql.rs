//! SQL in a scenario: what can be said of it without a server.

use granit_parser::ScalarStyle;

use super::super::source::{Span, SqlText};
use super::mistakes::{Mistake, Mistakes};
use super::text;
use super::tree::Node;
use super::values;

const HELP: &str = "write SQL: `SELECT 1;`, or `|` and the SQL on the next lines";

/// SQL that stands by itself.
pub(super) fn script(mistakes: &mut Mistakes, node: &Node) -> Option<SqlText> {
    let scalar = values::scalar(mistakes, node, "SQL", HELP)?;
    let sql = text::sql_text(&mistakes.source().text, scalar, node.span);
    if scalar.style == ScalarStyle::Plain && refuse_cut(mistakes, node.span, &sql.text) {
        return None;
    }
    Some(sql)
}

/// YAML takes ` #` in a plain scalar for a comment, and so cuts an operator such as `#>` and all
/// behind it from the SQL. Whoever ended the statement before meant a comment.
fn refuse_cut(mistakes: &mut Mistakes, span: Span, sql: &str) -> bool {
    let source = &mistakes.source().text;
    let rest = source[span.end..].split('\n').next().unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if blanks == 0 || !rest[blanks..].starts_with('#') || sql.ends_with(';') {
        return false;
    }
    let comment = Span {
        start: span.end + blanks,
        end: span.end + rest.trim_end().len(),
    };
    mistakes.report(
        Mistake::new(comment, "YAML cuts the SQL off here")
            .label("` #` begins a comment in a value without quotes")
            .help("if it is SQL, write `|` and the SQL on the next lines; if it is a comment, end the SQL with `;`"),
    );
    true
}
