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
}

impl FilledTables {
    /// Whether they all are gone, and nothing else, once tables have been dropped in an order: none
    /// before what may depend on it.
    pub(crate) fn are_dropped(&self, dropped: &[String]) -> bool {
        let place = |table: &String| dropped.iter().position(|other| other == table);
        let mut tables = self.tables.iter();
        let mut dependent = self.dependent.iter();
        dropped.len() == self.tables.len()
            && tables.all(|table| place(table).is_some())
            && dependent.all(|(table, other)| place(other) < place(table))
    }

    /// The tables that some SQL may change, if it changes rows only.
    pub(crate) fn changed_by<'a>(&'a self, sql: &[&str]) -> Vec<&'a str> {
        let statements: Vec<Statement> = sql
            .iter()
            .flat_map(|sql| split(sql).unwrap_or_default())
            .filter(|statement| !Words::of(statement).only_reads())
            .collect();
        let is_named = |name: &str| {
            statements
                .iter()
                .any(|statement| statement.text.to_ascii_lowercase().contains(name))
        };
        // What is done to one table may reach those that depend on it, or that it depends on.
        let is_changed = |table: &&String| {
            is_named(table)
                || self
                    .dependent
                    .iter()
                    .any(|(one, other)| one == *table || other == *table)
        };
        let changed = self.tables.iter().filter(is_changed);
        changed.map(String::as_str).collect()
    }
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
                let text = statement.text.to_ascii_lowercase();
                let mentioned = filled.tables.iter().filter(|table| text.contains(*table));
                let pairs = mentioned.map(|table| (table.clone(), name.clone()));
                filled.dependent.extend(pairs);
                if filled.tables.contains(&name) {
                    return None;
                }
                filled.tables.push(name);
            }
            "insert" if words.only_inserts() => {
                let table = words.name(2)?;
                filled.inserts.push((table, statement.text));
            }
            _ => return None,
        }
    }
    let is_no_other = absent.iter().all(|table| filled.tables.contains(table));
    (is_no_other && !filled.tables.is_empty()).then_some(filled)
}

/// The names of the tables that some SQL drops, in order, if it does nothing else: `DROP TABLE a, b`.
pub(crate) fn dropped_tables(sql: &str) -> Option<Vec<String>> {
    let mut dropped = Vec::new();
    for statement in split(sql).ok()? {
        dropped.extend(Words::of(&statement).dropped()?);
    }
    Some(dropped)
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
    /// locks that stay when it fails.
    fn only_inserts(&self) -> bool {
        let mut words = (0..self.tokens.len()).map(|at| self.get(at));
        changes_rows_only(self.text)
            && words.all(|word| word != "returning" && !word.starts_with("pg_"))
    }

    /// Whether this reads rows and does no more than that to them. (A sequence goes on when it is
    /// read.)
    fn only_reads(&self) -> bool {
        let words = (0..self.tokens.len()).map(|at| self.get(at));
        let changes = "delete for insert merge nextval setval update";
        ["select", "table"].contains(&self.get(0).as_str())
            && words
                .into_iter()
                .all(|word| !changes.split(' ').any(|change| change == word))
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
        let changed = filled.changed_by(&["SELECT nextval('two_c_seq')"]);
        assert_eq!(changed, ["two", "four", "five"]);
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
        assert_eq!(dropped, Some(vec!["a".into(), "b".into(), "c".into()]));
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
        let are_dropped = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            filled.are_dropped(&names)
        };
        assert!(are_dropped(&["two", "one"]));
        assert!(!are_dropped(&["one", "two"]));
        assert!(!are_dropped(&["two", "one", "one"]));
        assert!(!are_dropped(&["two"]));
        assert!(!are_dropped(&["two", "three"]));
    }
}
