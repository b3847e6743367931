//! What protects a statement from the others, taken away: lock clauses, locks of tables, advisory
//! locks, and [conditions].

use std::ops::Range;

use super::conditions;
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
    pub by: By,
}

/// What takes the place of a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// This.
    Text(String),
    /// The same, between these two.
    Itself(&'static str, &'static str),
}

impl By {
    /// What stands in the place of a piece of text.
    pub fn instead_of(&self, old: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Itself(before, after) => format!("{before}{old}{after}"),
        }
    }
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

/// Every change of a piece of SQL, also within the bodies of functions.
pub fn changes(sql: &str) -> Vec<Change> {
    let tokens = Tokens::of(sql);
    let mut found = Vec::new();
    for at in 0..tokens.all.len() {
        row_lock(&tokens, at, &mut found);
        table_lock(&tokens, at, &mut found);
        advisory_lock(&tokens, at, &mut found);
        conditions::changes(&tokens, at, &mut found);
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
            by: By::Text(text.to_owned()),
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
            by: By::Text(text.to_owned()),
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
    let (last, by) = match comma {
        Some(comma) => (comma - 1, By::Text("pg_backend_pid()".to_owned())),
        None => (
            close - 1,
            By::Itself("pg_backend_pid() * 1000000::bigint + (", ")"),
        ),
    };
    found.push(Change {
        guard: Guard::Lock,
        range: tokens.range(at + 2, last),
        by,
    });
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The SQL after each of its changes.
    pub fn changed(sql: &str) -> Vec<String> {
        let mut found = changes(sql);
        found.sort_by_key(|change| (change.range.start, change.range.end));
        let apply = |change: Change| {
            let mut text = sql.to_owned();
            let by = change.by.instead_of(&text[change.range.clone()]);
            text.replace_range(change.range, &by);
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
    fn bodies_of_functions_are_read() {
        assert_eq!(
            changed("CREATE FUNCTION f() AS $b$ SELECT 1 WHERE x; $b$"),
            ["CREATE FUNCTION f() AS $b$ SELECT 1 WHERE true; $b$"]
        );
    }
}
