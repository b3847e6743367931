//! What in SQL a virtual clock cannot catch.

use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::prepare::significant;

/// Something that shows real time, or that hides the functions of the virtual clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Uncaught {
    /// A key word such as `CURRENT_DATE`; what to write instead.
    KeyWord(String),
    /// `age` with one argument.
    Age,
    /// A literal such as `'now'`; what to write instead.
    Literal(&'static str),
    /// A function with `pg_catalog.` before it; the function.
    Qualified(String),
    /// `search_path` changes.
    SearchPath,
    /// `search_path` changes while a function runs.
    SearchPathOfFunction,
}

/// The functions that the clock replaces.
const FUNCTIONS: [&str; 5] = [
    "now",
    "transaction_timestamp",
    "statement_timestamp",
    "clock_timestamp",
    "timeofday",
];

/// How many strings within each other are read as SQL.
const DEEPEST: usize = 8;

/// Types whose input knows `now`.
const TYPES: [&str; 5] = ["date", "time", "timetz", "timestamp", "timestamptz"];

/// The pieces of a statement that a virtual clock cannot catch, those in the bodies of functions
/// included.
pub(crate) fn uncaught(statement: &str) -> Vec<(Range<usize>, Uncaught)> {
    let mut found = Vec::new();
    let tokens: Vec<Token> = significant(statement).collect();
    let words = Words {
        sql: statement,
        tokens: &tokens,
    };
    let depth = if words.defines_code() { DEEPEST } else { 0 };
    look(words, depth, &mut found);
    found.sort_by_key(|(range, _)| range.start);
    found
}

/// Looks at a statement or the body of a function, and at SQL in strings within each other, to
/// some depth.
fn look(words: Words<'_>, depth: usize, found: &mut Vec<(Range<usize>, Uncaught)>) {
    words.ages(found);
    for at in 0..words.tokens.len() {
        if let Some(problem) = words.problem(at) {
            found.push(problem);
        }
        let Some(inner) = words.body(at).filter(|_| depth > 0) else {
            continue;
        };
        let tokens: Vec<Token> = significant(&words.sql[inner.clone()])
            .map(|token| Token {
                range: inner.start + token.range.start..inner.start + token.range.end,
                ..token
            })
            .collect();
        let body = Words {
            sql: words.sql,
            tokens: &tokens,
        };
        look(body, depth - 1, found);
    }
}

/// Tokens, looked at by their words.
#[derive(Clone, Copy)]
struct Words<'a> {
    sql: &'a str,
    tokens: &'a [Token],
}

impl<'a> Words<'a> {
    fn kind(self, at: usize) -> Option<TokenKind> {
        Some(self.tokens.get(at)?.kind)
    }

    fn text(self, at: usize) -> &'a str {
        self.tokens
            .get(at)
            .map_or("", |token| &self.sql[token.range.clone()])
    }

    /// The text of a token before another.
    fn before(self, at: usize, by: usize) -> &'a str {
        at.checked_sub(by).map_or("", |at| self.text(at))
    }

    fn is(self, at: usize, word: &str) -> bool {
        self.text(at).eq_ignore_ascii_case(word)
    }

    fn is_before(self, at: usize, by: usize, words: &[&str]) -> bool {
        let before = self.before(at, by);
        words.iter().any(|word| before.eq_ignore_ascii_case(word))
    }

    fn range(self, first: usize, last: usize) -> Range<usize> {
        self.tokens[first].range.start..self.tokens[last].range.end
    }

    /// Whether the strings of a statement are code: the bodies of functions and of DO.
    fn defines_code(self) -> bool {
        self.is(0, "do")
            || (self.is(0, "create")
                && (1..4).any(|at| self.is(at, "function") || self.is(at, "procedure")))
    }

    /// The inside of a string that is the body of a function.
    fn body(self, at: usize) -> Option<Range<usize>> {
        let token = &self.tokens[at];
        let text = self.text(at);
        match token.kind {
            TokenKind::DollarQuote => token.within_dollars(self.sql),
            TokenKind::String
                if self.is_before(at, 1, &["as", "do", "execute"]) && token.terminated =>
            {
                Some(token.range.start + text.find('\'')? + 1..token.range.end - 1)
            }
            _ => None,
        }
    }

    /// What cannot be caught and begins at a token.
    fn problem(self, at: usize) -> Option<(Range<usize>, Uncaught)> {
        match self.tokens[at].kind {
            TokenKind::Word => self
                .key_word(at)
                .or_else(|| self.search_path(at))
                .or_else(|| self.qualified(at)),
            TokenKind::QuotedIdentifier => self.search_path(at).or_else(|| self.qualified(at)),
            TokenKind::String | TokenKind::DollarQuote => self.literal(at),
            _ => None,
        }
    }

    fn key_word(self, at: usize) -> Option<(Range<usize>, Uncaught)> {
        // Behind these it is a name.
        if self.is_before(at, 1, &[".", "as"]) {
            return None;
        }
        let word = self.text(at).to_ascii_lowercase();
        let precision = self.precision(at + 1);
        let digits = precision.map_or("", |digits| digits);
        let (instead, takes_precision) = match word.as_str() {
            "current_timestamp" if precision.is_none() => ("now()".to_owned(), true),
            "current_timestamp" => (format!("now()::timestamptz({digits})"), true),
            "localtimestamp" => (cast("timestamp", precision), true),
            "current_time" => (cast("timetz", precision), true),
            "localtime" => (cast("time", precision), true),
            "current_date" => ("now()::date".to_owned(), false),
            _ => return None,
        };
        let last = match precision {
            Some(_) if takes_precision => at + 3,
            _ => at,
        };
        Some((self.range(at, last), Uncaught::KeyWord(instead)))
    }

    /// The digits in the parentheses that begin at a token.
    fn precision(self, at: usize) -> Option<&'a str> {
        let digits = self.text(at + 1);
        let is_one = self.is(at, "(")
            && self.is(at + 2, ")")
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_one.then_some(digits)
    }

    fn qualified(self, at: usize) -> Option<(Range<usize>, Uncaught)> {
        let name = |at: usize| self.text(at).trim_matches('"').to_lowercase();
        let function = name(at + 2);
        let is_call = name(at) == "pg_catalog"
            && self.is(at + 1, ".")
            && self.is(at + 3, "(")
            && FUNCTIONS.contains(&function.as_str());
        is_call.then(|| (self.range(at, at + 2), Uncaught::Qualified(function)))
    }

    /// The calls of `age` with one argument.
    fn ages(self, found: &mut Vec<(Range<usize>, Uncaught)>) {
        struct Call {
            open: usize,
            has_comma: bool,
            of_transaction: bool,
        }
        let mut calls: Vec<Call> = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open => calls.push(Call {
                    open: at,
                    has_comma: false,
                    of_transaction: false,
                }),
                TokenKind::Close => {
                    let Some(call) = calls.pop() else { continue };
                    let is_age = call.open > 0 && self.is_age(call.open - 1);
                    let has_argument = at > call.open + 1;
                    if is_age && has_argument && !call.has_comma && !call.of_transaction {
                        found.push((self.range(call.open - 1, at), Uncaught::Age));
                    }
                    if let Some(outer) = calls.last_mut() {
                        outer.of_transaction |= call.of_transaction;
                    }
                }
                // `age` of a transaction id counts transactions.
                TokenKind::Word => {
                    let word = self.text(at).to_ascii_lowercase();
                    let is_xid = ["xid", "xmin", "xmax"]
                        .iter()
                        .any(|end| word.ends_with(end));
                    if let Some(call) = calls.last_mut() {
                        call.of_transaction |= is_xid;
                    }
                }
                _ if self.is(at, ",") => {
                    if let Some(call) = calls.last_mut() {
                        call.has_comma = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a word before a parenthesis is the call of PostgreSQL's `age`.
    fn is_age(self, at: usize) -> bool {
        /// Words behind which a name is not called.
        const NAMED: [&str; 12] = [
            "with",
            "recursive",
            "into",
            "table",
            "function",
            "procedure",
            "references",
            "on",
            "index",
            "view",
            "exists",
            "update",
        ];
        let is_others = self.before(at, 1) == "." && !self.is_before(at, 2, &["pg_catalog"]);
        self.is(at, "age") && !is_others && !self.is_before(at, 1, &NAMED)
    }

    fn search_path(self, at: usize) -> Option<(Range<usize>, Uncaught)> {
        let in_update = self.is(0, "update") || self.is(0, "insert");
        let names_it = self.is(at, "search_path") || self.is(at, "\"search_path\"");
        if names_it && !in_update {
            let first = match () {
                () if self.is_before(at, 1, &["set", "reset"]) => at - 1,
                () if self.is_before(at, 1, &["local", "session"])
                    && self.is_before(at, 2, &["set"]) =>
                {
                    at - 2
                }
                () => return None,
            };
            let of_function = (self.is(0, "create") || self.is(0, "alter"))
                && (1..4).any(|word| self.is(word, "function") || self.is(word, "procedure"));
            let what = match of_function {
                true => Uncaught::SearchPathOfFunction,
                false => Uncaught::SearchPath,
            };
            return Some((self.range(first, at), what));
        }
        let follows_set = self.is_before(at, 1, &["set"])
            || (self.is_before(at, 1, &["local", "session"]) && self.is_before(at, 2, &["set"]));
        if self.is(at, "schema") && follows_set && !self.is(0, "alter") {
            return Some((self.range(at - 1, at), Uncaught::SearchPath));
        }
        if self.is(at, "set_config")
            && self.is(at + 1, "(")
            && self.kind(at + 2) == Some(TokenKind::String)
            && content(self.text(at + 2)).eq_ignore_ascii_case("search_path")
        {
            return Some((self.range(at, at + 2), Uncaught::SearchPath));
        }
        None
    }

    fn literal(self, at: usize) -> Option<(Range<usize>, Uncaught)> {
        let instead = match content(self.text(at)).trim().to_ascii_lowercase().as_str() {
            "now" => "now()",
            "today" => "now()::date",
            "tomorrow" => "now()::date + 1",
            "yesterday" => "now()::date - 1",
            _ => return None,
        };
        let is_time = self.is_typed(at)
            || self.is_cast(at)
            || self.is_default_of_time(at)
            || self.is_before(at, 1, &["between"])
            || self.is_compared(at);
        is_time.then(|| (self.tokens[at].range.clone(), Uncaught::Literal(instead)))
    }

    /// Whether a type stands before a literal: `timestamp 'now'`, `date('today')`.
    fn is_typed(self, at: usize) -> bool {
        let Some(mut before) = at.checked_sub(1) else {
            return false;
        };
        if self.is(before, "(") {
            return at >= 2 && self.is_before(at, 2, &TYPES);
        }
        // `timestamp(3) with time zone 'now'`
        if self.is(before, "zone") && self.is_before(at, 2, &["time"]) && before >= 3 {
            before -= 3;
        }
        if before >= 3 && self.is(before, ")") && self.precision(before - 2).is_some() {
            before -= 3;
        }
        TYPES.iter().any(|name| self.is(before, name))
    }

    /// Whether a literal is cast: `'now'::timestamptz`, `CAST('today' AS date)`.
    fn is_cast(self, at: usize) -> bool {
        // `('now')::date`, which is no call.
        let is_apart = self.is_before(at, 1, &["("])
            && self.is(at + 1, ")")
            && at
                .checked_sub(2)
                .is_none_or(|at| self.kind(at) != Some(TokenKind::Word))
            && self.is(at + 2, "::");
        let behind = at + if is_apart { 2 } else { 1 };
        if !self.is(behind, "::") && !self.is(behind, "as") {
            return false;
        }
        let name = match self.is(behind + 1, "pg_catalog") && self.is(behind + 2, ".") {
            true => behind + 3,
            false => behind + 1,
        };
        TYPES.iter().any(|known| self.is(name, known))
    }

    /// Whether a literal is the default of a column or a domain that holds times, or of a column of
    /// which the statement does not say what it holds.
    fn is_default_of_time(self, at: usize) -> bool {
        /// How far before its default the type of a column stands.
        const FURTHEST: usize = 16;
        if !self.is_before(at, 1, &["default"]) {
            return false;
        }
        (0..at - 1)
            .rev()
            .take(FURTHEST)
            .take_while(|at| {
                let opens = self.kind(*at) == Some(TokenKind::Open);
                !self.is(*at, ",") && (!opens || self.precision(*at).is_some())
            })
            .any(|at| self.is(at, "set") || TYPES.iter().any(|name| self.is(at, name)))
    }

    /// Whether a literal is compared or reckoned with as words are not: `'now' - t`, `t < 'now'`.
    fn is_compared(self, at: usize) -> bool {
        let tells = |text: &str| matches!(text, "<" | ">" | "-" | "+");
        let before = self.before(at, 1);
        let differs = before == ">" && self.before(at, 2) == "<";
        (tells(before) && !differs)
            || tells(self.text(at + 1))
            || (before == "=" && matches!(self.before(at, 2), "<" | ">"))
    }
}

fn cast(name: &str, precision: Option<&str>) -> String {
    match precision {
        Some(digits) => format!("now()::{name}({digits})"),
        None => format!("now()::{name}"),
    }
}

/// What stands between the quotes of a string.
fn content(string: &str) -> &str {
    if let Some(tagged) = string.strip_prefix('$') {
        let inside = tagged.split_once('$').map_or("", |(_, behind)| behind);
        return inside.rsplit_once('$').map_or(inside, |(inside, _)| {
            inside.rsplit_once('$').map_or(inside, |(inside, _)| inside)
        });
    }
    let inside = string.split_once('\'').map_or("", |(_, behind)| behind);
    inside.strip_suffix('\'').unwrap_or(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sql: &str) -> Vec<&str> {
        uncaught(sql)
            .into_iter()
            .map(|(range, _)| &sql[range])
            .collect()
    }

    #[test]
    fn what_shows_real_time_is_found() {
        for (sql, pieces) in [
            ("SELECT CURRENT_TIMESTAMP", &["CURRENT_TIMESTAMP"][..]),
            (
                "SELECT current_timestamp (3), localtime",
                &["current_timestamp (3)", "localtime"],
            ),
            (
                "CREATE TABLE t (d date DEFAULT CURRENT_DATE)",
                &["CURRENT_DATE"],
            ),
            ("SELECT age(born) FROM t", &["age(born)"]),
            ("SELECT pg_catalog.age(f(a, b))", &["age(f(a, b))"]),
            ("SELECT pg_catalog.now()", &["pg_catalog.now"]),
            (
                "SELECT \"pg_catalog\" . \"now\" ()",
                &["\"pg_catalog\" . \"now\""],
            ),
            ("SELECT timestamptz 'now'", &["'now'"]),
            ("SELECT timestamp(3) with time zone ' NOW '", &["' NOW '"]),
            ("SELECT time without time zone 'now'", &["'now'"]),
            (
                "SELECT 'today'::date, CAST('now' AS timestamp)",
                &["'today'", "'now'"],
            ),
            ("SELECT 'now'::pg_catalog.timestamptz", &["'now'"]),
            ("SELECT date('yesterday')", &["'yesterday'"]),
            (
                "SELECT $$now$$::date, $x$today$x$::date, ('now')::date",
                &["$$now$$", "$x$today$x$", "'now'"],
            ),
            ("SET \"search_path\" = app", &["SET \"search_path\""]),
            (
                "CREATE TABLE t (state text DEFAULT 'now', at timestamptz NOT NULL DEFAULT 'now')",
                &["'now'"],
            ),
            (
                "CREATE TABLE t (a int, at timestamp(3) with time zone NOT NULL DEFAULT 'now')",
                &["'now'"],
            ),
            ("ALTER TABLE t ALTER at SET DEFAULT 'now'", &["'now'"]),
            ("SELECT * FROM t WHERE until <= 'now'", &["'now'"]),
            ("SELECT 'tomorrow' - at FROM t", &["'tomorrow'"]),
            ("SET search_path = app", &["SET search_path"]),
            ("SET LOCAL search_path TO app", &["SET LOCAL search_path"]),
            ("RESET search_path", &["RESET search_path"]),
            ("SET SCHEMA 'app'", &["SET SCHEMA"]),
            (
                "SELECT set_config('search_path', 'app', false)",
                &["set_config('search_path'"],
            ),
            (
                "CREATE FUNCTION f() RETURNS date LANGUAGE sql SET search_path = app AS 'SELECT CURRENT_DATE'",
                &["SET search_path", "CURRENT_DATE"],
            ),
            (
                "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $b$ BEGIN EXECUTE $q$ SELECT age(x) $q$; END $b$",
                &["age(x)"],
            ),
            (
                "DO $$ BEGIN EXECUTE 'SELECT CURRENT_DATE'; END $$",
                &["CURRENT_DATE"],
            ),
            (
                "DO $$ BEGIN PERFORM CURRENT_TIME; END $$",
                &["CURRENT_TIME"],
            ),
        ] {
            assert_eq!(found(sql), pieces, "{sql}");
        }
    }

    #[test]
    fn what_can_be_caught_and_what_only_looks_like_it_is_let_pass() {
        for sql in [
            "SELECT now(), clock_timestamp(), \"now\"(), app.now()",
            "SELECT 'CURRENT_TIMESTAMP', $$CURRENT_DATE$$ -- CURRENT_TIME",
            "SELECT \"current_date\", t.current_date AS current_time FROM t",
            "SELECT age(now(), born), age(datfrozenxid), age(backend_xmin), app.age(born)",
            "WITH age (a) AS (SELECT 1) SELECT a FROM age WHERE word <> 'now'",
            "CREATE TABLE age (age int); INSERT INTO age (age) VALUES (1)",
            "INSERT INTO t (state) VALUES ('now'), ('today')",
            "SELECT * FROM t WHERE state = 'now' AND note = 'do it now'",
            "SELECT 'now'::text, '2026-01-01'::date",
            "SHOW search_path",
            "ALTER TABLE t SET SCHEMA app",
            "SELECT set_config('work_mem', '4MB', false)",
            "UPDATE t SET search_path = 'a'",
            "SELECT uuidv7(), pg_sleep(1)",
        ] {
            assert_eq!(found(sql), [""; 0], "{sql}");
        }
    }

    #[test]
    fn it_is_said_what_to_write_instead() {
        let instead = |sql| match uncaught(sql).pop() {
            Some((_, Uncaught::KeyWord(instead))) => instead,
            other => format!("{other:?}"),
        };
        assert_eq!(instead("SELECT CURRENT_TIMESTAMP"), "now()");
        assert_eq!(
            instead("SELECT CURRENT_TIMESTAMP(0)"),
            "now()::timestamptz(0)"
        );
        assert_eq!(instead("SELECT LOCALTIMESTAMP(3)"), "now()::timestamp(3)");
        assert_eq!(instead("SELECT LOCALTIME"), "now()::time");
    }
}
