//! The conditions of a WHERE, and of a WHEN MATCHED, taken away one at a time.

use super::clauses::{By, Change, Guard};
use super::tokens::{Kind, Tokens};

/// What ends the conditions of a WHERE, outside of brackets.
const ENDS: [&str; 18] = [
    "GROUP",
    "HAVING",
    "WINDOW",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FOR",
    "RETURNING",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "ON",
    "DO",
    "WHEN",
    "THEN",
    "LOOP",
    "INTO",
];

/// The changes of the clause that begins at a token:
/// `WHERE id = 1 AND token = 7`, and `WHEN MATCHED AND token = 7`: each condition by turns does not
/// count.
pub fn changes(tokens: &Tokens<'_>, at: usize, found: &mut Vec<Change>) {
    let is_where = tokens.is(at, "WHERE") && !tokens.follow(at + 1, &["CURRENT", "OF"]);
    let is_matched =
        tokens.is(at, "AND") && at > 0 && tokens.is_any(at - 1, &["MATCHED", "SOURCE", "TARGET"]);
    // Which rows an index holds is no check, unless they must be unique.
    let is_of_index = tokens.follow(tokens.statement_of(at), &["CREATE", "INDEX"]);
    if is_of_index || !(is_where || is_matched) {
        return;
    }
    for (first, last) in conjuncts(tokens, at + 1) {
        let range = tokens.range(first, last);
        if tokens.sql[range.clone()].eq_ignore_ascii_case("true") {
            continue;
        }
        // A statement needs all of its parameters.
        let by = if (first..=last).any(|at| tokens.kind(at) == Some(Kind::Parameter)) {
            By::Itself("(", " OR true)")
        } else {
            By::Text("true".to_owned())
        };
        found.push(Change {
            guard: Guard::Condition,
            range,
            by,
        });
    }
}

/// The first and the last token of each condition, from a token on. Where one of OR is outside of
/// brackets, all are one condition.
fn conjuncts(tokens: &Tokens<'_>, start: usize) -> Vec<(usize, usize)> {
    let Some(token) = tokens.all.get(start) else {
        return Vec::new();
    };
    // An opening bracket counts as outside of itself.
    let depth = token.depth;
    let mut found = Vec::new();
    let (mut first, mut cases, mut is_between, mut has_or) = (start, 0_usize, false, false);
    let mut end = start;
    while let Some(token) = tokens.all.get(end) {
        let is_over = token.depth < depth
            || (token.depth == depth && cases == 0)
                && (token.kind == Kind::Semicolon || tokens.is_any(end, &ENDS));
        if is_over {
            break;
        }
        if token.depth == depth {
            if tokens.is(end, "CASE") {
                cases += 1;
            } else if tokens.is(end, "END") && cases > 0 {
                cases -= 1;
            } else if cases == 0 && tokens.is(end, "BETWEEN") {
                is_between = true;
            } else if cases == 0 && tokens.is(end, "OR") {
                has_or = true;
            } else if cases == 0 && tokens.is(end, "AND") {
                if is_between {
                    is_between = false;
                } else {
                    found.push((first, end - 1));
                    first = end + 1;
                }
            }
        }
        end += 1;
    }
    if has_or {
        (first, found) = (start, Vec::new());
    }
    if end > first {
        found.push((first, end - 1));
    }
    found.retain(|(first, last)| first <= last);
    found
}

#[cfg(test)]
mod tests {
    use super::super::clauses::tests::changed;

    #[test]
    fn each_condition_is_left_out_by_turns() {
        assert_eq!(
            changed(
                "UPDATE jobs SET n = 1 WHERE id = 1 AND token = f(7, 8) AND (a OR b) RETURNING id;"
            ),
            [
                "UPDATE jobs SET n = 1 WHERE true AND token = f(7, 8) AND (a OR b) RETURNING id;",
                "UPDATE jobs SET n = 1 WHERE id = 1 AND true AND (a OR b) RETURNING id;",
                "UPDATE jobs SET n = 1 WHERE id = 1 AND token = f(7, 8) AND true RETURNING id;",
            ]
        );
        assert_eq!(
            changed("DELETE FROM jobs WHERE a = 1 AND b = 2 OR c"),
            ["DELETE FROM jobs WHERE true"]
        );
    }

    #[test]
    fn only_the_rows_of_unique_indexes_are_checked() {
        assert!(changed("SELECT 1; CREATE INDEX ON j (k) WHERE a;").is_empty());
        assert_eq!(
            changed("CREATE UNIQUE INDEX ON j (k) WHERE a"),
            ["CREATE UNIQUE INDEX ON j (k) WHERE true"]
        );
    }

    #[test]
    fn parameters_are_kept() {
        assert_eq!(
            changed("DELETE FROM jobs WHERE id = $1 AND token = 2"),
            [
                "DELETE FROM jobs WHERE (id = $1 OR true) AND token = 2",
                "DELETE FROM jobs WHERE id = $1 AND true",
            ]
        );
    }

    #[test]
    fn and_that_joins_no_conditions_is_left_alone() {
        assert_eq!(
            changed(
                "SELECT 1 FROM j WHERE n BETWEEN 1 AND 2 AND CASE WHEN a AND b THEN c END ORDER BY 1"
            ),
            [
                "SELECT 1 FROM j WHERE true AND CASE WHEN a AND b THEN c END ORDER BY 1",
                "SELECT 1 FROM j WHERE n BETWEEN 1 AND 2 AND true ORDER BY 1",
            ]
        );
    }

    #[test]
    fn conditions_of_inner_queries_and_of_conflicts_count_too() {
        assert_eq!(
            changed("UPDATE j SET a = 1 WHERE id = (SELECT id FROM j WHERE s = 'q AND r' LIMIT 1)"),
            [
                "UPDATE j SET a = 1 WHERE true",
                "UPDATE j SET a = 1 WHERE id = (SELECT id FROM j WHERE true LIMIT 1)",
            ]
        );
        assert_eq!(
            changed(
                "INSERT INTO j SELECT 1 WHERE a ON CONFLICT (k) WHERE b DO UPDATE SET n = 2 WHERE j.t < 3"
            ),
            [
                "INSERT INTO j SELECT 1 WHERE true ON CONFLICT (k) WHERE b DO UPDATE SET n = 2 WHERE j.t < 3",
                "INSERT INTO j SELECT 1 WHERE a ON CONFLICT (k) WHERE true DO UPDATE SET n = 2 WHERE j.t < 3",
                "INSERT INTO j SELECT 1 WHERE a ON CONFLICT (k) WHERE b DO UPDATE SET n = 2 WHERE true",
            ]
        );
        assert_eq!(
            changed("MERGE INTO j USING s ON true WHEN MATCHED AND j.t = 1 THEN DELETE"),
            ["MERGE INTO j USING s ON true WHEN MATCHED AND true THEN DELETE"]
        );
    }
}
