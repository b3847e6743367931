//! SQL that may make a backend end what it does.

use super::split;

/// The functions that signal a backend.
const FUNCTIONS: [&str; 2] = ["pg_cancel_backend", "pg_terminate_backend"];

/// What a statement begins with that runs once, while it is in flight.
const RUNS_AT_ONCE: [&str; 7] = ["select", "with", "values", "table", "call", "do", "explain"];

/// Words by which a statement may keep the call for another one.
const KEEPS: [&str; 10] = [
    "create",
    "dblink",
    "declare",
    "execute",
    "insert",
    "into",
    "merge",
    "prepare",
    "set_config",
    "update",
];

/// When a backend may be signalled by some SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signals {
    /// Not by what its words say.
    Never,
    /// While the SQL runs.
    AtOnce,
    /// Also when other SQL runs, which need not name the function: what is defined, prepared or
    /// stored does.
    Later,
}

impl Signals {
    /// Whether some SQL may signal a backend, whenever that is.
    pub(crate) fn are_named(sql: &str) -> bool {
        let sql = sql.to_ascii_lowercase();
        FUNCTIONS.iter().any(|function| sql.contains(function))
    }

    /// What some SQL may do; that is told by its words.
    pub(crate) fn of(sql: &str) -> Self {
        if !Self::are_named(sql) {
            return Self::Never;
        }
        let Ok(statements) = split(sql) else {
            return Self::Later;
        };
        let mut naming = statements.iter().filter(|it| Self::are_named(&it.text));
        let all_run_at_once = naming.all(|statement| {
            let beginning = statement.beginning().unwrap_or_default();
            let text = statement.text.to_ascii_lowercase();
            let is_word = |word: &str| word.eq_ignore_ascii_case(beginning);
            RUNS_AT_ONCE.iter().any(|word| is_word(word))
                && !KEEPS.iter().any(|word| text.contains(word))
        });
        if all_run_at_once {
            Self::AtOnce
        } else {
            Self::Later
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_calls_the_function_signals_while_it_runs() {
        for sql in [
            "SELECT pg_cancel_backend(1)",
            "BEGIN; /* now */ select PG_TERMINATE_BACKEND(pid) FROM pg_stat_activity; COMMIT;",
            "DO $$ BEGIN PERFORM pg_cancel_backend(1); END $$",
            "WITH w AS (SELECT pg_cancel_backend(1)) TABLE w",
            "EXPLAIN ANALYZE SELECT pg_cancel_backend(1)",
        ] {
            assert_eq!(Signals::of(sql), Signals::AtOnce, "{sql}");
        }
    }

    #[test]
    fn what_keeps_the_call_for_later_may_signal_whenever_anything_runs() {
        for sql in [
            "CREATE FUNCTION f() RETURNS bool LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT pg_cancel_backend(1); END",
            "CREATE VIEW v AS SELECT pg_cancel_backend(1)",
            "PREPARE p AS SELECT pg_cancel_backend(1)",
            "BEGIN; DECLARE c CURSOR FOR SELECT pg_cancel_backend(1)",
            "INSERT INTO queries VALUES ('SELECT pg_cancel_backend(1)')",
            "SELECT pg_cancel_backend(1); PREPARE p AS SELECT pg_cancel_backend(1)",
            "SELECT pg_cancel_backend(1), 'never closed",
            "DO $$ BEGIN CREATE FUNCTION f() RETURNS bool RETURN pg_cancel_backend(1); END $$",
            "WITH x AS (INSERT INTO queries VALUES ('SELECT pg_cancel_backend(1)')) SELECT 1",
            "SELECT set_config('my.query', 'SELECT pg_cancel_backend(1)', false)",
        ] {
            assert_eq!(Signals::of(sql), Signals::Later, "{sql}");
        }
    }

    #[test]
    fn sql_that_names_no_such_function_signals_nobody() {
        assert_eq!(Signals::of("SELECT pg_backend_pid()"), Signals::Never);
    }
}
