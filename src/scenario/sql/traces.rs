//! SQL that leaves no trace outside of tables and of what belongs to them, and sees none.

use super::lexer::{Token, TokenKind};
use super::prepare::significant;
use super::split;

/// What statements may begin with: what they change is in tables, or ends with the session.
const BEGINNINGS: &str = "abort alter begin close commit create deallocate declare delete do drop \
     end execute explain fetch insert lock merge move prepare release reset rollback savepoint \
     select set show start table truncate update values with";

/// What may be created or dropped: each has a row in `pg_class`, `pg_type`, `pg_proc` or
/// `pg_namespace`, or belongs to what has one. Functions, types and schemas may not be altered: they
/// may be the server's own.
const MADE: &str = "domain function procedure rule schema trigger type";

/// What may be altered as well, and the parts of a table that ALTER TABLE creates, alters and drops.
const OF_TABLES: &str = "column constraint default identity index materialized not sequence table \
     unique unlogged view";

/// Words that reach further wherever they stand: to other databases, to what was there before, to
/// what a session keeps for ever, to SQL that is text. Or that may show such a thing.
const FAR: &str = "analyse analyze buffers cluster comment copy current_setting database extension \
     grant information_schema listen load loread lowrite memory notify policy prepared public \
     publication reassign reindex revoke role search_path security set_config setseed system temp \
     temporary transform ts_rewrite ts_stat user vacuum";

/// What SET and RESET change for good or for what comes next.
const LASTING: &str = "all application_name schema seed";

/// Beginnings of such words.
const FAR_BEGINNINGS: &[&str] = &["binary_upgrade", "currtid", "lo_", "pg_", "txid_"];

/// Of the server's own functions those that neither leave anything that `DISCARD ALL` would not
/// remove nor show what others have left.
const HARMLESS: &str = "pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock \
     pg_advisory_unlock_all pg_advisory_unlock_shared pg_advisory_xact_lock \
     pg_advisory_xact_lock_shared pg_sleep pg_try_advisory_lock pg_try_advisory_xact_lock pg_typeof";

/// The languages of functions whose text can be looked through.
const LANGUAGES: &str = "sql plpgsql";

/// Whether some SQL leaves no trace in its database and its session once the tables, types,
/// functions and schemas that it makes are gone, nor shows a trace of other SQL of this kind. That
/// is told by its words alone, those of functions included; text that is put together when it runs
/// is refused.
pub(crate) fn leaves_no_trace(sql: &str) -> bool {
    split(sql).is_ok_and(|statements| {
        statements.iter().all(|statement| {
            let beginning = statement.beginning().unwrap_or_default();
            is_among(BEGINNINGS, beginning) && is_near(&statement.text, Depth::Statement)
        })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Statement,
    /// The body of a function.
    Body,
}

/// Whether no part of a text reaches further than tables.
fn is_near(text: &str, depth: Depth) -> bool {
    let tokens: Vec<Token> = significant(text).collect();
    let word = |at: usize| match tokens.get(at) {
        Some(token) if token.kind == TokenKind::Word => &text[token.range.clone()],
        _ => "",
    };
    (0..tokens.len()).all(|at| {
        let token = &text[tokens[at].range.clone()];
        match tokens[at].kind {
            TokenKind::Word => match token.to_ascii_lowercase().as_str() {
                "create" if word(at + 1).eq_ignore_ascii_case("or") => is_made(word(at + 3)),
                "create" | "drop" => is_made(word(at + 1)),
                "alter" => is_among(OF_TABLES, word(at + 1)),
                "execute" => {
                    (depth == Depth::Statement && at == 0)
                        || is_among("function procedure", word(at + 1))
                }
                "language" => is_among(LANGUAGES, word(at + 1)),
                "prepare" => !word(at + 1).eq_ignore_ascii_case("transaction"),
                "set" | "reset" => {
                    let name = setting(text, &tokens[at + 1..]);
                    name.is_some_and(|name| !is_among(LASTING, name))
                }
                "show" => {
                    let name = setting(text, &tokens[at + 1..]);
                    name.is_some_and(|name| !name.eq_ignore_ascii_case("all"))
                }
                word => !reaches_far(word),
            },
            // Who writes a name in quotes or with escapes may hide one.
            TokenKind::QuotedIdentifier => {
                let name = token.trim_matches('"');
                is_plain(name) && !reaches_far(&name.to_ascii_lowercase())
            }
            TokenKind::DollarQuote => tokens[at]
                .within_dollars(text)
                .is_some_and(|inside| is_near(&text[inside], Depth::Body)),
            // Two in a row are one.
            TokenKind::String if at > 0 && tokens[at - 1].kind == TokenKind::String => false,
            TokenKind::String if token.contains('\\') || token.starts_with(['u', 'U']) => false,
            TokenKind::String if at > 0 && is_among("as do", word(at - 1)) => {
                is_near(&token.trim_matches('\'').replace("''", "'"), Depth::Body)
            }
            _ => true,
        }
    })
}

fn is_made(kind: &str) -> bool {
    is_among(MADE, kind) || is_among(OF_TABLES, kind)
}

/// The name of the setting behind SET, RESET or SHOW; it may also be that of a column. Nothing if
/// that is a setting of somebody else's, which has a point in its name and stays known for ever.
fn setting<'a>(text: &'a str, tokens: &[Token]) -> Option<&'a str> {
    let written = |token: &Token| &text[token.range.clone()];
    let mut rest = tokens
        .iter()
        .skip_while(|token| is_among("local session", &text[token.range.clone()]));
    let name = rest.next()?;
    let is_whole = rest.next().is_none_or(|token| written(token) != ".");
    let is_near = name.kind != TokenKind::QuotedIdentifier
        && !reaches_far(&written(name).to_ascii_lowercase());
    (is_whole && is_near).then(|| written(name))
}

fn reaches_far(word: &str) -> bool {
    let is_far = is_among(FAR, word)
        || word.contains("_to_xml")
        || FAR_BEGINNINGS
            .iter()
            .any(|beginning| word.starts_with(beginning));
    is_far && !is_among(HARMLESS, word)
}

fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a word is in a list, whatever its case.
fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace()
        .any(|one| one.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::leaves_no_trace;

    #[test]
    fn tables_and_what_belongs_to_them_leave_no_trace() {
        for sql in [
            "",
            "CREATE TABLE a (b int PRIMARY KEY); INSERT INTO a VALUES (1)",
            "-- as it was\n UPDATE a SET b = b + 1 /* at once */ WHERE b > 0",
            "ALTER TABLE a ALTER COLUMN b SET NOT NULL, DROP CONSTRAINT c",
            "INSERT INTO a VALUES (1) ON CONFLICT (b) DO UPDATE SET b = excluded.b",
            "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT ''a''::text'",
            "CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()",
            "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$",
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT pg_advisory_lock(1)",
            "SET lock_timeout = '1s'; SET LOCAL enable_seqscan = off; DROP TABLE a",
            "PREPARE a AS SELECT 1; EXECUTE a; SHOW application_name",
        ] {
            assert!(leaves_no_trace(sql), "{sql}");
        }
    }

    #[test]
    fn what_reaches_further_is_found() {
        for sql in [
            "CREATE ROLE a",
            "CREATE/**/COLLATION a (locale = 'C')",
            "CREATE -- what\n TEXT SEARCH DICTIONARY a (TEMPLATE = simple)",
            "CREATE EXTENSION a",
            "CREATE OR REPLACE LANGUAGE a",
            "ALTER DATABASE a SET jit = off",
            "ALTER FUNCTION now() COST 5",
            "GRANT SELECT ON a TO b",
            "COMMENT ON TABLE a IS 'b'",
            "PREPARE/**/TRANSACTION 'a'",
            "COMMIT PREPARED 'a'",
            "CREATE TEMP TABLE a (b int)",
            "SELECT pg_stat_reset()",
            "SELECT count(*) FROM \"pg_class\"",
            "SELECT lo_create(1)",
            "SELECT count(*) FROM ts_stat('SELECT 1')",
            "SELECT query_to_xml('SELECT 1', true, true, '')",
            "VACUUM a",
            "EXPLAIN (BUFFERS) SELECT 1",
            "not even SQL",
        ] {
            assert!(!leaves_no_trace(sql), "{sql}");
        }
    }

    #[test]
    fn text_that_becomes_sql_when_it_runs_is_refused() {
        for sql in [
            "DO $$ BEGIN EXECUTE 'CREATE ' || 'ROLE a'; END $$",
            "DO $a$ DECLARE s text := 'a'; BEGIN EXECUTE s; END $a$",
            "CREATE FUNCTION f(s text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE s; END'",
            "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS 'BEGIN '\n'EXECUTE s; END'",
            "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS E'BEGIN \\x45XECUTE s; END'",
            "CREATE FUNCTION f() RETURNS text LANGUAGE 'internal' AS 'set_config_by_name'",
            "SELECT U&\"lo\\005fcreate\"(1)",
        ] {
            assert!(!leaves_no_trace(sql), "{sql}");
        }
    }

    #[test]
    fn settings_that_stay_are_found() {
        for sql in [
            "SET a.b = 'c'",
            "SET a .b = 'c'",
            "SET/**/a.b = 'c'",
            "SET \"a.b\" = 'c'",
            "SET SESSION a.b = 'c'",
            "SHOW plpgsql.check_asserts",
            "SHOW ALL",
            "RESET ALL",
            "RESET application_name",
            "SET application_name TO DEFAULT",
            "SET seed = 0.5",
            "SET search_path = 'information_schema'",
            "SET SCHEMA 'information_schema'",
        ] {
            assert!(!leaves_no_trace(sql), "{sql}");
        }
    }
}
