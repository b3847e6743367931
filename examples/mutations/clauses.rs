//! What protects a statement from the others, taken away: lock clauses, locks of tables, advisory
//! locks, and each condition of a WHERE.

use std::ops::Range;

use super::tokens::{Kind, Tokens};

/// What a change takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    Lock,
    Condition,
}

/// One change of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub guard: Guard,
    /// What is replaced, in bytes of the SQL.
    pub range: Range<usize>,
    /// What stands there then.
    pub text: String,
}

/// The strengths of row locks, the strongest first.
const STRENGTHS: [&[&str]; 4] = [
    &["UPDATE"],
    &["NO", "KEY", "UPDATE"],
    &["SHARE"],
    &["KEY", "SHARE"],
];

/// Advisory locks; each has a twin whose name ends in `_shared`.
const ADVISORY: [&str; 4] = [
    "pg_advisory_lock",
    "pg_advisory_xact_lock",
    "pg_try_advisory_lock",
    "pg_try_advisory_xact_lock",
];

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

/// Every change of a piece of SQL, also within the bodies of functions.
pub fn changes(sql: &str) -> Vec<Change> {
    let tokens = Tokens::of(sql);
    let mut found = Vec::new();
    for at in 0..tokens.all.len() {
        row_lock(&tokens, at, &mut found);
        table_lock(&tokens, at, &mut found);
        advisory_lock(&tokens, at, &mut found);
        conditions(&tokens, at, &mut found);
    }
    for body in &tokens.bodies {
        found.extend(
            changes(&sql[body.clone()])
                .into_iter()
                .map(|change| Change {
                    range: change.range.start + body.start..change.range.end + body.start,
                    ..change
                }),
        );
    }
    found
}

/// `FOR UPDATE OF jobs SKIP LOCKED`: without it, with each weaker strength, without `OF`, and
/// without what keeps it from waiting.
fn row_lock(tokens: &Tokens<'_>, at: usize, found: &mut Vec<Change>) {
    if !tokens.is(at, "FOR") {
        return;
    }
    let strength = STRENGTHS
        .iter()
        .position(|words| tokens.follow(at + 1, words));
    let Some(strength) = strength else {
        return;
    };
    let mut last = at + STRENGTHS[strength].len();
    let own_words = tokens.range(at + 1, last);
    let mut lock = |range, text: &str| {
        found.push(Change {
            guard: Guard::Lock,
            range,
            text: text.to_owned(),
        });
    };
    for weaker in &STRENGTHS[strength + 1..] {
        lock(own_words.clone(), &weaker.join(" "));
    }
    if tokens.is(last + 1, "OF") {
        let of = last + 1;
        last = of + 1;
        while tokens.kind(last + 1) == Some(Kind::Comma) {
            last += 2;
        }
        lock(tokens.range(of, last), "");
    }
    let waiting = [&["SKIP", "LOCKED"][..], &["NOWAIT"]];
    if let Some(words) = waiting.iter().find(|words| tokens.follow(last + 1, words)) {
        let first = last + 1;
        last += words.len();
        lock(tokens.range(first, last), "");
    }
    lock(tokens.range(at, last), "");
}

/// `LOCK TABLE jobs IN EXCLUSIVE MODE NOWAIT`: with the weakest mode, and without NOWAIT.
fn table_lock(tokens: &Tokens<'_>, at: usize, found: &mut Vec<Change>) {
    if !tokens.is(at, "LOCK") || !tokens.begins_statement(at) {
        return;
    }
    let end = (at..tokens.all.len())
        .find(|&at| tokens.kind(at) == Some(Kind::Semicolon))
        .unwrap_or(tokens.all.len());
    let mut lock = |range, text: &str| {
        found.push(Change {
            guard: Guard::Lock,
            range,
            text: text.to_owned(),
        });
    };
    let last = if tokens.is(end - 1, "NOWAIT") {
        lock(tokens.range(end - 1, end - 1), "");
        end - 2
    } else {
        end - 1
    };
    if tokens.is(last, "MODE") {
        if let Some(mode) = (at..last).find(|&at| tokens.is(at, "IN"))
            && !tokens.follow(mode + 1, &["ACCESS", "SHARE", "MODE"])
        {
            lock(tokens.range(mode + 1, last - 1), "ACCESS SHARE");
        }
    } else {
        let behind = tokens.all[last].range.end;
        lock(behind..behind, " IN ACCESS SHARE MODE");
    }
}

/// `pg_advisory_xact_lock(7)`: with a key that nobody else has.
fn advisory_lock(tokens: &Tokens<'_>, at: usize, found: &mut Vec<Change>) {
    let Some(word) = tokens.word(at) else {
        return;
    };
    let name = word.to_ascii_lowercase();
    let name = name.strip_suffix("_shared").unwrap_or(&name);
    if !ADVISORY.contains(&name) || tokens.kind(at + 1) != Some(Kind::Open) {
        return;
    }
    let Some(close) = tokens.closing(at + 1) else {
        return;
    };
    if close < at + 3 {
        return;
    }
    let depth = tokens.all[at + 1].depth + 1;
    let comma = (at + 2..close).find(|&at| {
        let token = &tokens.all[at];
        token.kind == Kind::Comma && token.depth == depth
    });
    let (range, text) = match comma {
        Some(comma) => (
            tokens.range(at + 2, comma - 1),
            "pg_backend_pid()".to_owned(),
        ),
        None => {
            let range = tokens.range(at + 2, close - 1);
            let key = &tokens.sql[range.clone()];
            (
                range,
                format!("pg_backend_pid() * 1000000::bigint + ({key})"),
            )
        }
    };
    found.push(Change {
        guard: Guard::Lock,
        range,
        text,
    });
}

/// `WHERE id = 1 AND token = 7`, and `WHEN MATCHED AND token = 7`: each condition by turns does not
/// count.
fn conditions(tokens: &Tokens<'_>, at: usize, found: &mut Vec<Change>) {
    let is_where = tokens.is(at, "WHERE") && !tokens.follow(at + 1, &["CURRENT", "OF"]);
    let is_matched =
        tokens.is(at, "AND") && at > 0 && tokens.is_any(at - 1, &["MATCHED", "SOURCE", "TARGET"]);
    if !is_where && !is_matched {
        return;
    }
    for (first, last) in conjuncts(tokens, at + 1) {
        let range = tokens.range(first, last);
        if !tokens.sql[range.clone()].eq_ignore_ascii_case("true") {
            found.push(Change {
                guard: Guard::Condition,
                range,
                text: "true".to_owned(),
            });
        }
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
    use super::*;

    /// The SQL after each of its changes.
    fn changed(sql: &str) -> Vec<String> {
        let mut found = changes(sql);
        found.sort_by_key(|change| (change.range.start, change.range.end));
        let apply = |change: Change| {
            let mut text = sql.to_owned();
            text.replace_range(change.range, &change.text);
            text
        };
        found.into_iter().map(apply).collect()
    }

    #[test]
    fn row_locks_are_weakened_and_removed() {
        assert_eq!(
            changed("SELECT 1 FROM jobs FOR SHARE OF jobs, j SKIP LOCKED;"),
            [
                "SELECT 1 FROM jobs ;",
                "SELECT 1 FROM jobs FOR KEY SHARE OF jobs, j SKIP LOCKED;",
                "SELECT 1 FROM jobs FOR SHARE  SKIP LOCKED;",
                "SELECT 1 FROM jobs FOR SHARE OF jobs, j ;",
            ]
        );
        assert_eq!(
            changed("SELECT 1 FROM jobs for no key update nowait"),
            [
                "SELECT 1 FROM jobs ",
                "SELECT 1 FROM jobs for SHARE nowait",
                "SELECT 1 FROM jobs for KEY SHARE nowait",
                "SELECT 1 FROM jobs for no key update ",
            ]
        );
        assert_eq!(changed("SELECT 1 FROM jobs FOR KEY SHARE").len(), 1);
        assert_eq!(changed("SELECT 1 FROM jobs FOR UPDATE").len(), 4);
    }

    #[test]
    fn what_only_looks_like_a_lock_stays() {
        for sql in [
            "SELECT 'x FOR UPDATE'",
            "SELECT 1 -- FOR UPDATE",
            "SELECT substring('abc' FOR 2), \"FOR\"",
            "SELECT mode FROM pg_locks AS lock",
        ] {
            assert!(changed(sql).is_empty(), "{sql}");
        }
    }

    #[test]
    fn table_locks_get_the_weakest_mode() {
        assert_eq!(
            changed("BEGIN; LOCK TABLE jobs IN EXCLUSIVE MODE NOWAIT;"),
            [
                "BEGIN; LOCK TABLE jobs IN ACCESS SHARE MODE NOWAIT;",
                "BEGIN; LOCK TABLE jobs IN EXCLUSIVE MODE ;",
            ]
        );
        assert_eq!(changed("LOCK jobs"), ["LOCK jobs IN ACCESS SHARE MODE"]);
        assert!(changed("LOCK jobs IN ACCESS SHARE MODE").is_empty());
    }

    #[test]
    fn advisory_locks_get_a_key_of_their_own() {
        assert_eq!(
            changed("SELECT pg_advisory_xact_lock(hashtext('a'));"),
            ["SELECT pg_advisory_xact_lock(pg_backend_pid() * 1000000::bigint + (hashtext('a')));"]
        );
        assert_eq!(
            changed("SELECT pg_try_advisory_lock_shared(f(1, 2), 7);"),
            ["SELECT pg_try_advisory_lock_shared(pg_backend_pid(), 7);"]
        );
        assert!(changed("SELECT pg_advisory_unlock(7), pg_advisory_unlock_all();").is_empty());
    }

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

    #[test]
    fn bodies_of_functions_are_read() {
        assert_eq!(
            changed("CREATE FUNCTION f() AS $b$ SELECT 1 WHERE x; $b$"),
            ["CREATE FUNCTION f() AS $b$ SELECT 1 WHERE true; $b$"]
        );
    }
}
