//! Files of statements that both sides run.
//!
//! A line `--# title` begins an entry: one statement, as long as it may be, or several joined by
//! `\;`, which psql sends as one message. A line `--<` ends the statement of a `COPY … FROM STDIN`;
//! the lines that follow are its data.

use std::path::Path;

/// One thing both sides run.
pub struct Entry {
    /// What it is about.
    pub title: String,
    /// The statement as psql reads it.
    pub sql: String,
    /// What COPY … FROM STDIN reads.
    pub data: Option<String>,
}

impl Entry {
    /// The entries of a file.
    pub fn read_all(path: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("failed to read {}: {error}", path.display()));
        let (head, entries) = text
            .split_once("--# ")
            .unwrap_or_else(|| panic!("no entry in {}", path.display()));
        assert_eq!(head, "", "{} begins with an entry", path.display());
        entries.split("\n--# ").map(Self::parse).collect()
    }

    fn parse(text: &str) -> Self {
        let text = format!("{}\n", text.trim_end_matches('\n'));
        let (title, body) = text.split_once('\n').expect("a statement follows a title");
        let (sql, data) = match body.split_once("\n--<\n") {
            Some((sql, data)) => (sql, Some(data.to_owned())),
            None => (body, None),
        };
        Self {
            title: title.to_owned(),
            sql: sql.trim_end_matches('\n').to_owned(),
            data,
        }
    }

    /// The line that both sides print below what entry `number` gave.
    pub fn mark(number: usize) -> String {
        format!("--# {number}\n")
    }

    /// What psql is to read for this entry, as the entry's number in its file is `number`.
    pub fn psql_input(&self, number: usize) -> String {
        let data = self
            .data
            .as_ref()
            .map_or_else(String::new, |data| format!("{data}\\.\n"));
        format!("{}\n{data}\\echo {}", self.sql, Self::mark(number))
    }

    /// What is sent to the server for this entry.
    pub fn message(&self) -> String {
        self.sql.replace("\\;", ";")
    }
}
