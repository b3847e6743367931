//! Tables that are made, filled and dropped.

use super::Statement;
use super::lexer::{Token, TokenKind};
use super::prepare::significant;
use super::split;
use super::traces::{changes_rows_only, is_as_new_when_empty};

/// Tables that some SQL makes and fills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilledTables {
    /// Their names, as PostgreSQL keeps them, in the order in which they are made.
    pub tables: Vec<String>,
    /// What puts rows into them, in order, with the name of the table each is about.
    pub inserts: Vec<(String, String)>,
    /// Pairs of a table and one that may depend on it: its name occurs where that is made.
    dependent: Vec<(String, String)>,
    /// Tables that are filled from others, or others from them.
    filled_together: Vec<String>,
}

impl FilledTables {
    /// Whether they all are gone, and nothing else, once statements have dropped tables: none before
    /// what may depend on it.
    pub(crate) fn are_dropped(&self, statements: &[Vec<String>]) -> bool {
        let place = |table: &String| statements.iter().position(|names| names.contains(table));
        let dropped: usize = statements.iter().map(Vec::len).sum();
        let mut tables = self.tables.iter();
        let mut dependent = self.dependent.iter();
        dropped == self.tables.len()
            && tables.all(|table| place(table).is_some())
            && dependent.all(|(table, other)| place(other) <= place(table))
    }

    /// The tables so far whose names occur in some SQL.
    fn mentioned(&self, sql: &str) -> Vec<String> {
        let sql = sql.to_ascii_lowercase();
        let tables = self.tables.iter();
        tables
            .filter(|table| sql.contains(*table))
            .cloned()
            .collect()
    }

    /// The tables that some SQL may change, if it changes rows only.
    pub(crate) fn changed_by<'a>(&'a self, sql: &[&str]) -> Vec<&'a str> {
        let statements = sql.iter().flat_map(|sql| split(sql).unwrap_or_default());
        let changing: Vec<String> = statements
            .filter(|statement| !Words::of(statement).only_reads())
            .map(|statement| statement.text)
            .collect();
        let named = self.mentioned(&changing.join("\n"));
        // A sequence may have any name.
        let counts = sql.iter().any(|sql| names_a_count(sql));
        // What is done to one table may reach those that depend on it, or that it depends on.
        let is_linked = |table: &String| {
            let mut dependent = self.dependent.iter();
            self.filled_together.contains(table)
                || dependent.any(|(one, other)| one == table || other == table)
        };
        let tables = self.tables.iter();
        let changed = tables.filter(|table| counts || is_linked(table) || named.contains(table));
        changed.map(String::as_str).collect()
    }
}

/// Whether SQL may change a sequence by its name.
fn names_a_count(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    sql.contains("nextval") || sql.contains("setval")
}

/// The tables that some SQL makes and fills, if it does nothing else, and if they can be emptied and
/// filled once more without a difference. In front of it `DROP TABLE IF EXISTS` may make room.
pub(crate) fn filled_tables(sql: &str) -> Option<FilledTables> {
    let mut filled = FilledTables::default();
    let mut absent = Vec::new();
    for statement in split(sql).ok()? {
        let words = Words::of(&statement);
        match words.get(0).as_str() {
            "drop" if filled.tables.is_empty() && words.get(2) == "if" => {
                absent.extend(words.dropped()?);
            }
            "create" if words.makes_a_table() && is_as_new_when_empty(&statement.text) => {
                let name = words.name(2)?;
                if filled.tables.contains(&name) {
                    return None;
                }
                let mentioned = filled.mentioned(&statement.text);
                let pairs = mentioned.into_iter().map(|table| (table, name.clone()));
                filled.dependent.extend(pairs);
                filled.tables.push(name);
            }
            "insert" if words.only_inserts() => {
                let table = words.name(2)?;
                let mentioned = filled.mentioned(&statement.text);
                if mentioned.iter().any(|other| *other != table) {
                    filled.filled_together.extend(mentioned);
                }
                filled.inserts.push((table, statement.text));
            }
            _ => return None,
        }
    }
    let is_no_other = absent.iter().all(|table| filled.tables.contains(table));
    (is_no_other && !filled.tables.is_empty()).then_some(filled)
}

/// The names of the tables that some SQL drops, for each of its statements, if it does nothing else:
/// `DROP TABLE a, b`.
pub(crate) fn dropped_tables(sql: &str) -> Option<Vec<Vec<String>>> {
    let statements = split(sql).ok()?;
    let dropped = statements.iter().map(|it| Words::of(it).dropped());
    dropped.collect()
}

/// What a statement says, word by word.
struct Words<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Words<'a> {
    fn of(statement: &'a Statement) -> Self {
        Self {
            text: &statement.text,
            tokens: significant(&statement.text).collect(),
        }
    }

    /// In lower case; nothing behind the end.
    fn get(&self, at: usize) -> String {
        let token = self.tokens.get(at);
        token.map_or_else(String::new, |token| {
            self.text[token.range.clone()].to_ascii_lowercase()
        })
    }

    /// A name without quotes, as PostgreSQL keeps it.
    fn name(&self, at: usize) -> Option<String> {
        let is_word = self.tokens.get(at)?.kind == TokenKind::Word;
        (is_word && self.get(at).is_ascii()).then(|| self.get(at))
    }

    /// Whether this is `CREATE TABLE name (…)`, with nothing behind it.
    fn makes_a_table(&self) -> bool {
        self.get(1) == "table" && self.get(3) == "(" && self.ends_with_it(3)
    }

    /// Whether this does nothing but insert, and says nothing: functions of the server's own may take
    /// locks that stay when it fails, and sequences go on.
    fn only_inserts(&self) -> bool {
        let mut words = (0..self.tokens.len()).map(|at| self.get(at));
        changes_rows_only(self.text)
            && !names_a_count(self.text)
            && words.all(|word| word != "returning" && !word.trim_matches('"').starts_with("pg_"))
    }

    /// Whether this reads rows and does no more than that to them.
    fn only_reads(&self) -> bool {
        let mut words = (0..self.tokens.len()).map(|at| self.get(at));
        let changes = ["delete", "for", "insert", "merge", "update"];
        ["select", "table"].contains(&self.get(0).as_str())
            && words.all(|word| !changes.contains(&word.as_str()))
    }

    /// The names in `DROP TABLE a, b`.
    fn dropped(&self) -> Option<Vec<String>> {
        if self.get(0) != "drop" || self.get(1) != "table" {
            return None;
        }
        let has_condition = self.get(2) == "if" && self.get(3) == "exists";
        let mut at = if has_condition { 4 } else { 2 };
        let mut dropped = Vec::new();
        loop {
            dropped.push(self.name(at)?);
            match self.get(at + 1).as_str() {
                "," => at += 2,
                "" | ";" => return Some(dropped),
                _ => return None,
            }
        }
    }

    /// Whether nothing stands behind what a parenthesis encloses.
    fn ends_with_it(&self, opening: usize) -> bool {
        let mut depth = 0_usize;
        for at in opening..self.tokens.len() {
            match self.get(at).as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return matches!(self.get(at + 1).as_str(), "" | ";");
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_made_and_filled_are_found() {
        let filled = filled_tables(
            "DROP TABLE IF EXISTS c;\n\
             CREATE TABLE A (id serial PRIMARY KEY, b numeric(4, 2) DEFAULT (1)); -- for b\n\
             INSERT INTO a (b) VALUES (2); create table c (d int REFERENCES a);",
        )
        .expect("it does nothing else");
        assert_eq!(filled.tables, ["a", "c"]);
        assert_eq!(filled.inserts.len(), 1);
    }

    #[test]
    fn tables_that_are_only_read_are_not_changed() {
        let filled = filled_tables(
            "CREATE TABLE one (b int); CREATE TABLE two (c serial); CREATE TABLE three (d int);
             CREATE TABLE four (e int PRIMARY KEY); CREATE TABLE five (f int REFERENCES four)",
        )
        .expect("it does nothing else");
        let all = "BEGIN; SELECT * FROM one, two, three, four, five; TABLE one; COMMIT";
        assert_eq!(filled.changed_by(&[all]), ["four", "five"]);
        for change in [
            "INSERT INTO one VALUES (1)",
            "SELECT * FROM one FOR UPDATE",
            "WITH x AS (DELETE FROM \"one\" RETURNING b) SELECT * FROM x",
            "LOCK TABLE One",
        ] {
            let changed = filled.changed_by(&[all, change]);
            assert_eq!(changed, ["one", "four", "five"], "{change}");
        }
        let changed = filled.changed_by(&["SELECT \"nextval\"('two_c_seq')"]);
        assert_eq!(changed.len(), 5);
    }

    #[test]
    fn tables_that_are_filled_from_each_other_change_together() {
        let filled = filled_tables(
            "CREATE TABLE one (b int); CREATE TABLE two (b int); CREATE TABLE three (b int);
             INSERT INTO one VALUES (1); INSERT INTO two SELECT b FROM one; INSERT INTO one VALUES (2)",
        )
        .expect("it does nothing else");
        assert_eq!(filled.changed_by(&["DELETE FROM two"]), ["one", "two"]);
        assert_eq!(
            filled.changed_by(&["DELETE FROM three"]),
            ["one", "two", "three"]
        );
    }

    #[test]
    fn what_does_more_than_make_and_fill_tables_is_not() {
        for sql in [
            "CREATE TABLE IF NOT EXISTS a (b int)",
            "CREATE TABLE a (b int) PARTITION BY LIST (b)",
            "CREATE TABLE a (b int) INHERITS (c)",
            "CREATE TABLE a AS SELECT 1",
            "CREATE TABLE a.b (c int)",
            "CREATE TABLE \"a\" (b int)",
            "CREATE TEMP TABLE a (b int)",
            "CREATE TABLE a (b int",
            "CREATE TABLE a (b int); CREATE INDEX ON a (b)",
            "CREATE TABLE a (b int); INSERT INTO a VALUES (1) RETURNING b",
            "CREATE TABLE a (b int); INSERT INTO a SELECT 1 FROM pg_advisory_lock(1)",
            "CREATE TABLE a (b int); INSERT INTO a SELECT 1 FROM \"pg_advisory_lock\"(1)",
            "CREATE TABLE a (b serial); INSERT INTO a SELECT nextval('a_b_seq')",
            "CREATE TABLE a (b int); SELECT 1",
            "DROP TABLE IF EXISTS b; CREATE TABLE a (b int)",
            "DROP TABLE a; CREATE TABLE a (b int)",
            "CREATE TABLE a (b int); CREATE TABLE a (b int)",
            "",
        ] {
            assert_eq!(filled_tables(sql), None, "{sql}");
        }
    }

    #[test]
    fn tables_that_are_dropped_are_found() {
        let dropped = dropped_tables("DROP TABLE a; drop table if exists B, c;");
        let expected = [vec!["a"], vec!["b", "c"]];
        assert_eq!(dropped.expect("it does nothing else"), expected);
        for sql in [
            "DROP TABLE a CASCADE",
            "DROP TABLE a.b",
            "DROP VIEW a",
            "DROP TABLE a; SELECT 1",
            "DROP TABLE",
        ] {
            assert_eq!(dropped_tables(sql), None, "{sql}");
        }
    }

    #[test]
    fn tables_are_dropped_before_those_they_depend_on() {
        let filled = filled_tables("CREATE TABLE one (b int); CREATE TABLE two (c one)");
        let filled = filled.expect("it does nothing else");
        let are_dropped = |sql: &str| {
            let statements = dropped_tables(sql).expect("it does nothing else");
            filled.are_dropped(&statements)
        };
        assert!(are_dropped("DROP TABLE two; DROP TABLE one"));
        assert!(are_dropped("DROP TABLE one, two"));
        assert!(!are_dropped("DROP TABLE one; DROP TABLE two"));
        assert!(!are_dropped("DROP TABLE one, two; DROP TABLE one"));
        assert!(!are_dropped("DROP TABLE two"));
        assert!(!are_dropped("DROP TABLE two, three"));
    }
}
