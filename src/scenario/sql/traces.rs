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

/// What statements may begin with that read and change rows, and transactions.
const OF_ROWS: &str = "abort begin commit delete end insert lock merge prepare release rollback \
     savepoint select set start table update values with";

/// Words by which a table can be told from another one that holds the same, or its sequence.
const IDENTITIES: &str = "cmax cmin ctid currval lastval oid pg_typeof regclass regcollation \
     regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype \
     tableoid to_regclass to_regcollation to_regnamespace to_regoper to_regoperator to_regproc \
     to_regprocedure to_regrole to_regtype xmax xmin";

/// Words in `CREATE TABLE` behind which something differs once the table is emptied.
const NOT_AS_NEW: &str = "exclude inherits like nextval partition restart setval";

/// Times that are taken when they are read.
const MOMENTS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];

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

/// Whether some SQL only reads and changes rows of tables, in transactions that may also be prepared,
/// and looks neither at what else the server knows of the tables nor at which ones they are.
pub(crate) fn changes_rows_only(sql: &str) -> bool {
    split(sql).is_ok_and(|statements| {
        statements.iter().all(|statement| {
            let beginning = statement.beginning().unwrap_or_default();
            is_among(OF_ROWS, beginning) && is_near(&statement.text, Depth::Rows)
        })
    })
}

/// Whether what `CREATE TABLE` makes is the same when its rows are gone and it is filled once more:
/// it keeps nothing of the moment or the session in which it is made, has no values that it counts
/// otherwise the first time, and no index on a part of its rows, of which the size is known.
pub(crate) fn is_as_new_when_empty(create_table: &str) -> bool {
    let is_lasting = |token: Token| {
        let text = create_table[token.range].to_ascii_lowercase();
        match token.kind {
            TokenKind::Word => !is_among(NOT_AS_NEW, &text),
            // A moment in quotes becomes the time of the table's making.
            TokenKind::String | TokenKind::DollarQuote => {
                !MOMENTS.iter().any(|moment| text.contains(moment))
            }
            _ => true,
        }
    };
    is_near(create_table, Depth::Rows) && significant(create_table).all(is_lasting)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Statement,
    /// A statement that may not reach further than rows.
    Rows,
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
                "prepare" => {
                    let is_transaction = word(at + 1).eq_ignore_ascii_case("transaction");
                    is_transaction == (depth == Depth::Rows)
                }
                "prepared" if depth == Depth::Rows => true,
                "into" if depth == Depth::Rows => {
                    // A column may be called `insert`; the statement begins behind something else.
                    let verb = at.checked_sub(1).map_or("", word);
                    let before = at.checked_sub(2).map(|before| tokens[before].kind);
                    is_among("insert merge", verb)
                        && matches!(before, None | Some(TokenKind::Open | TokenKind::Close))
                }
                "set" | "reset" => {
                    let name = setting(text, &tokens[at + 1..]);
                    name.is_some_and(|name| !is_among(LASTING, name))
                }
                "show" => {
                    let name = setting(text, &tokens[at + 1..]);
                    name.is_some_and(|name| !name.eq_ignore_ascii_case("all"))
                }
                word => !is_refused(word, depth),
            },
            // Who writes a name in quotes or with escapes may hide one.
            TokenKind::QuotedIdentifier => {
                let name = token.trim_matches('"');
                let word = name.to_ascii_lowercase();
                is_plain(name) && !is_refused(&word, depth)
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
            // What psql would take for a variable is a word behind a colon to the server.
            TokenKind::Other => !token.starts_with(':') || matches!(token, ":" | "::"),
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

fn is_refused(word: &str, depth: Depth) -> bool {
    reaches_far(word) || (depth == Depth::Rows && is_among(IDENTITIES, word))
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
    use super::{changes_rows_only, is_as_new_when_empty, leaves_no_trace};

    #[test]
    fn a_table_that_keeps_something_of_its_making_is_not_as_new_when_empty() {
        for sql in [
            "CREATE TABLE a (b serial PRIMARY KEY, c timestamptz DEFAULT now() CHECK (c > 'epoch'))",
            "CREATE TABLE a (b int GENERATED ALWAYS AS IDENTITY (START 7), c int REFERENCES d ON DELETE SET NULL)",
        ] {
            assert!(is_as_new_when_empty(sql), "{sql}");
        }
        for sql in [
            "CREATE TABLE a (b timestamptz DEFAULT 'NOW')",
            "CREATE TABLE a (b tstzrange DEFAULT '[yesterday,)')",
            "CREATE TABLE a (b timestamptz DEFAULT $$now$$)",
            "CREATE TABLE a (b int GENERATED ALWAYS AS IDENTITY (RESTART 5))",
            "CREATE TABLE a (b int, EXCLUDE USING btree (b WITH =) WHERE (b > 0))",
            "CREATE TABLE a (b bigint DEFAULT lastval())",
            "CREATE TABLE a (b bigint DEFAULT nextval('c_b_seq'))",
            "CREATE TABLE a (b bigint DEFAULT pg_relation_size('c'))",
            "CREATE TABLE a (LIKE c INCLUDING ALL)",
        ] {
            assert!(!is_as_new_when_empty(sql), "{sql}");
        }
    }

    #[test]
    fn what_reads_and_changes_rows_is_told_from_the_rest() {
        for sql in [
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM a FOR UPDATE SKIP LOCKED",
            "UPDATE a SET b = b + 1 WHERE c = 'x' RETURNING b; COMMIT",
            "WITH b AS (INSERT INTO a VALUES (1) RETURNING c) SELECT * FROM b",
            "MERGE INTO a USING b ON a.c = b.c WHEN MATCHED THEN DELETE",
            "PREPARE TRANSACTION 's1'",
            "COMMIT PREPARED 's1'",
            "SET lock_timeout = '1s'; LOCK TABLE a; SELECT pg_sleep(0)",
        ] {
            assert!(changes_rows_only(sql), "{sql}");
        }
        for sql in [
            "SELECT * INTO b FROM a",
            "TRUNCATE a",
            "ALTER TABLE a ADD c int",
            "PREPARE p AS SELECT 1",
            "EXECUTE p",
            "DO $$ BEGIN NULL; END $$",
            "EXPLAIN SELECT 1",
            "SELECT ctid FROM a",
            "SELECT \"tableoid\" FROM a",
            "SELECT 'a'::regclass",
            "SELECT to_regclass('a')",
            "SELECT lastval()",
            "SELECT a[1:lastval()] FROM a",
            "SELECT insert INTO b FROM a",
            "SELECT pg_relation_size('a')",
            "SELECT count(*) FROM pg_stat_user_tables",
            "ANALYZE a",
        ] {
            assert!(!changes_rows_only(sql), "{sql}");
        }
    }

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
            "SELECT json_object('a':set_config('a.b', 'c', false))",
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
