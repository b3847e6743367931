//! Statements that reach beyond their own database.

use std::ops::Range;

use super::lexer::{Lexer, TokenKind};
use super::split;

/// What a statement changes that all databases of a server share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterWide {
    /// The server's configuration.
    System,
    /// A role, or who is a member of it.
    Role,
    /// A database as a whole.
    Database,
    /// A tablespace.
    Tablespace,
}

/// Whether one of several statements changes what the whole server shares.
pub(crate) fn reaches_beyond_its_database(sql: &str) -> bool {
    let statements = split(sql).unwrap_or_default();
    statements
        .iter()
        .any(|statement| cluster_wide(&statement.text).is_some())
}

/// What a statement changes that the whole server shares, and the words that say so. Statements
/// that others run for it (`DO`, `EXECUTE`, functions) cannot be seen.
pub(crate) fn cluster_wide(statement: &str) -> Option<(Range<usize>, ClusterWide)> {
    let mut tokens = Lexer::new(statement).filter(|token| {
        !matches!(
            token.kind,
            TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment
        )
    });
    let mut word = || {
        let token = tokens.next().filter(|token| token.kind == TokenKind::Word);
        token.map(|token| {
            let text = statement[token.range.clone()].to_ascii_lowercase();
            (token.range, text)
        })
    };
    let (first, verb) = word()?;
    match verb.as_str() {
        "create" | "alter" | "drop" => {}
        // Rights are granted ON something, memberships are not.
        "grant" | "revoke" => {
            return (!tokens.any(|token| statement[token.range].eq_ignore_ascii_case("on")))
                .then_some((first, ClusterWide::Role));
        }
        _ => return None,
    }
    let (second, object) = word()?;
    let what = match object.as_str() {
        "system" if verb == "alter" => ClusterWide::System,
        "user" if word().is_some_and(|(_, third)| third == "mapping") => return None,
        "role" | "user" | "group" => ClusterWide::Role,
        "database" => ClusterWide::Database,
        "tablespace" => ClusterWide::Tablespace,
        _ => return None,
    };
    Some((first.start..second.end, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_whole_server_shares_is_told_by_its_first_words() {
        for (sql, words, what) in [
            (
                "ALTER SYSTEM SET wal_level = minimal",
                "ALTER SYSTEM",
                ClusterWide::System,
            ),
            (
                "/* a */ create -- b\n role clerk",
                "create -- b\n role",
                ClusterWide::Role,
            ),
            (
                "ALTER ROLE lockstep SET work_mem = 64",
                "ALTER ROLE",
                ClusterWide::Role,
            ),
            ("DROP USER clerk", "DROP USER", ClusterWide::Role),
            ("CREATE GROUP g", "CREATE GROUP", ClusterWide::Role),
            (
                "GRANT clerk, boss TO CURRENT_USER",
                "GRANT",
                ClusterWide::Role,
            ),
            (
                "REVOKE ADMIN OPTION FOR a FROM b",
                "REVOKE",
                ClusterWide::Role,
            ),
            (
                "ALTER DATABASE d RESET ALL",
                "ALTER DATABASE",
                ClusterWide::Database,
            ),
            (
                "CREATE TABLESPACE t LOCATION '/x'",
                "CREATE TABLESPACE",
                ClusterWide::Tablespace,
            ),
        ] {
            let found = cluster_wide(sql).map(|(range, what)| (&sql[range], what));
            assert_eq!(found, Some((words, what)), "{sql}");
        }
    }

    #[test]
    fn what_stays_in_the_database_is_let_pass() {
        for sql in [
            "SELECT 'ALTER SYSTEM'",
            "-- CREATE ROLE r\nSELECT 1",
            "/* DROP DATABASE d */ SELECT 1",
            "CREATE USER MAPPING FOR CURRENT_USER SERVER s",
            "ALTER TABLE role ADD \"database\" int",
            "CREATE TABLE database (role int)",
            "CREATE \"role\"",
            "GRANT SELECT (id) ON t TO PUBLIC",
            "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC",
            "DO $$ BEGIN EXECUTE 'CREATE ROLE r'; END $$",
            "SET ROLE clerk",
            "(SELECT 1)",
            "",
        ] {
            assert_eq!(cluster_wide(sql), None, "{sql}");
        }
    }
}
