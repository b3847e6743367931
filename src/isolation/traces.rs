//! Which specs leave no trace in their database and their sessions once their own tear-downs are done,
//! as far as their text tells.

use std::sync::LazyLock;

use regex::Regex;

use super::spec::Spec;
use crate::scenario::split;

/// What statements may begin with: what they change is in tables, or ends with the session.
const BEGINNINGS: &str = "abort alter begin close commit create deallocate declare delete do drop \
     end execute explain fetch insert lock merge move prepare release reset rollback savepoint \
     select set show start table truncate update values with";

/// What is created, altered or dropped, wherever that is said: in a statement, in a part of one or
/// in a function.
static CHANGES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?: create (?: \s+ or \s+ replace )? | alter | drop ) \s+ \w+"));

/// Kinds of which each one has a row in `pg_class`, `pg_type`, `pg_proc` or `pg_namespace`, or
/// belongs to one that has; and what ALTER TABLE changes in tables. Of those, only tables and what
/// belongs to them may be altered: functions and types may be the server's own.
static OF_TABLES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?: (?: create .* | drop ) \s (?: function | procedure | trigger | rule | type | domain | schema )
            | .* \s (?: table | unlogged | unique | index | view | materialized | sequence
                | column | constraint | default | not | identity ) )$",
    )
});

/// What reaches further wherever it stands: to other databases, to what was there before, to what a
/// session keeps for ever, to text that is put together when it runs; or what may look there.
static REACHES_FURTHER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?: analyze | cluster | comment | copy | current_setting | database | execute \s+ format
            | extension | grant | information_schema | language \s+ (?: c | internal ) | listen
            | lo_\w+ | load | notify | policy | prepare \s+ transaction | prepared | public
            | publication | reindex | revoke | role | security | set_config | setseed | system
            | temp | temporary | txid_\w+ | user | vacuum )\b
        | \b execute \s* (?: ' | \( | \|\| )
        | \b (?: set | reset ) \s+ (?: session \s+ | local \s+ )? \w+ \.",
    )
});

/// The server's own functions and catalogs.
static OF_THE_SERVER: LazyLock<Regex> = LazyLock::new(|| regex(r"\b pg_\w+"));

/// Those that neither leave anything that DISCARD ALL would not remove nor show anything that
/// others have left.
static HARMLESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^pg_(?: (?: try_ )? advisory_\w+ | sleep | typeof )$"));

fn regex(text: &str) -> Regex {
    Regex::new(&format!("(?ix){text}")).expect("this is a regular expression")
}

/// Whether a spec leaves no trace behind its tear-downs, nor can see one. What tear-downs forget is
/// not found here.
pub(super) fn leaves_none(spec: &Spec) -> bool {
    spec.all_sql().all(|sql| leaves_no_trace(&sql.value))
}

fn leaves_no_trace(sql: &str) -> bool {
    let begins_well = split(sql).is_ok_and(|statements| {
        statements.iter().all(|statement| {
            let beginning = statement.beginning().unwrap_or_default();
            BEGINNINGS
                .split_whitespace()
                .any(|word| beginning.eq_ignore_ascii_case(word))
        })
    });
    begins_well
        && !REACHES_FURTHER.is_match(sql)
        && CHANGES
            .find_iter(sql)
            .all(|found| OF_TABLES.is_match(found.as_str()))
        && OF_THE_SERVER
            .find_iter(sql)
            .all(|found| HARMLESS.is_match(found.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_what_belongs_to_them_leave_no_trace() {
        for sql in [
            "",
            "CREATE TABLE a (b int PRIMARY KEY); INSERT INTO a VALUES (1)",
            "ALTER TABLE a ALTER COLUMN b SET NOT NULL, DROP CONSTRAINT c",
            "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT pg_advisory_lock(1)",
            "SET lock_timeout = '1s'; DROP TABLE a",
        ] {
            assert!(leaves_no_trace(sql), "{sql}");
        }
    }

    #[test]
    fn what_reaches_further_is_found() {
        for sql in [
            "CREATE ROLE a",
            "CREATE EXTENSION a",
            "ALTER DATABASE a SET jit = off",
            "ALTER FUNCTION now() COST 5",
            "GRANT SELECT ON a TO b",
            "COMMENT ON TABLE a IS 'b'",
            "PREPARE TRANSACTION 'a'",
            "CREATE TEMP TABLE a (b int)",
            "SET a.b = 'c'",
            "DO $$ BEGIN EXECUTE 'CREATE ' || 'ROLE a'; END $$",
            "SELECT pg_stat_reset()",
            "SELECT count(*) FROM pg_class",
            "VACUUM a",
            "not even SQL",
        ] {
            assert!(!leaves_no_trace(sql), "{sql}");
        }
    }
}
