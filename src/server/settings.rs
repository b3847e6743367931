//! The settings that a case's sessions begin with, whatever the server's own are.

use tokio_postgres::{Client, Error};

use super::database::literal;

/// Those that matter to transcripts and can be given to a database, in the units of `pg_settings`.
const WANTED: &[(&str, &str)] = &[
    ("DateStyle", "ISO, MDY"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("bytea_output", "hex"),
    ("client_min_messages", "notice"),
    ("default_tablespace", ""),
    ("default_text_search_config", "pg_catalog.english"),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("jit", "off"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("lock_timeout", "0"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("statement_timeout", "0"),
    ("synchronous_commit", "local"),
    ("transaction_timeout", "0"),
];

/// What the server's defaults do not give, as far as the client's role may set it: `jit = 'off'`.
///
/// The client's own role or database may have settings; what these hide is asked for, too.
pub(super) async fn missing(client: &Client) -> Result<Vec<String>, Error> {
    let (names, values): (Vec<&str>, Vec<&str>) = WANTED.iter().copied().unzip();
    let rows = client
        .query(
            "SELECT wanted.name, wanted.value
             FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
                  JOIN pg_settings USING (name)
             WHERE (reset_val <> wanted.value OR source IN ('database', 'user', 'database user'))
               AND (context = 'user' OR current_setting('is_superuser')::bool)
             ORDER BY 1",
            &[&names, &values],
        )
        .await?;
    Ok(rows
        .iter()
        .map(|row| {
            let (name, value): (&str, &str) = (row.get(0), row.get(1));
            match name {
                // A list, whose first element is quoted already.
                "search_path" => format!("{name} = {value}"),
                _ => format!("{name} = {}", literal(value)),
            }
        })
        .collect())
}

/// What differs from the servers that Lockstep starts itself, matters, and cannot be given to a
/// database by the client's role.
pub(super) async fn differing(client: &Client) -> Result<Vec<String>, Error> {
    let row = client
        .query_one(
            "SELECT current_setting('autovacuum')::bool,
                    current_setting('max_prepared_transactions')::int4,
                    current_setting('lc_messages'), current_setting('is_superuser')::bool",
            &[],
        )
        .await?;
    let mut told = Vec::new();
    if row.get(0) {
        told.push("autovacuum = on (statistics may change in the middle of a case)".to_owned());
    }
    if row.get::<_, i32>(1) == 0 {
        told.push("max_prepared_transactions = 0 (PREPARE TRANSACTION fails)".to_owned());
    }
    let (messages, superuser): (&str, bool) = (row.get(2), row.get(3));
    let english = ["", "C", "POSIX"].contains(&messages)
        || messages.starts_with("C.")
        || messages.starts_with("en");
    if !superuser && !english {
        told.push(format!(
            "lc_messages = {messages} (messages are not in English)"
        ));
    }
    Ok(told)
}
