//! What `pg_isolation_regress` sets, and the server it runs on is like.

use std::time::Duration;

use tokio_postgres::Error;

use crate::scenario::SUPERUSER_SETTINGS;
use crate::server::{Endpoint, Release, identifier};

/// How long a server may take to read its configuration again.
const READS_WITHIN: Duration = Duration::from_secs(30);

/// The first release that grants the right to change single settings.
const GRANTS_SETTINGS: u32 = 15;

/// How long to let a server be before it is asked again whether it has.
const ASKS_AGAIN: Duration = Duration::from_millis(2);

/// The server could not be given what specs expect of it. Reads well after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// It refused.
    #[error("give the server the settings that specs expect")]
    Refused(#[from] Error),
    /// It did not read its configuration.
    #[error("give the server the settings that specs expect: it does not read them")]
    Unread,
}

/// The settings that sessions begin with.
pub(super) fn session_settings() -> Vec<(String, String)> {
    [
        ("TimeZone", "America/Los_Angeles"),
        ("DateStyle", "Postgres, MDY"),
        ("IntervalStyle", "postgres_verbose"),
        ("bytea_output", "hex"),
        ("timezone_abbreviations", "Default"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Gives a server of Lockstep's own what specs expect of it.
///
/// Their expected output comes from servers with autovacuum: without it, since PostgreSQL 18,
/// CREATE INDEX leaves the numbers of rows and pages alone from which plans are made. That it is on
/// is enough; it is told to come by so rarely that it never does.
///
/// Harmless settings that only a superuser may change are granted to the role of the specs.
pub(super) async fn provide(
    endpoint: &Endpoint,
    scripted: &Endpoint,
    release: Release,
) -> Result<(), EnvironmentError> {
    let client = endpoint.connect(&endpoint.database).await?;
    if release.major >= GRANTS_SETTINGS {
        let settings = SUPERUSER_SETTINGS.join(", ");
        let role = identifier(&scripted.user);
        let grant = format!("GRANT SET ON PARAMETER {settings} TO {role}");
        client.batch_execute(&grant).await?;
    }
    for sql in [
        "ALTER SYSTEM SET autovacuum_naptime = '2147483s'",
        "ALTER SYSTEM SET autovacuum = on",
        "SELECT pg_reload_conf()",
    ] {
        client.batch_execute(sql).await?;
    }
    // A connection reads the configuration after the postmaster, so that later ones have it, too.
    let read = async {
        while !client
            .query_one("SELECT current_setting('autovacuum')::bool", &[])
            .await?
            .try_get::<_, bool>(0)?
        {
            tokio::time::sleep(ASKS_AGAIN).await;
        }
        Ok(())
    };
    tokio::time::timeout(READS_WITHIN, read)
        .await
        .map_err(|_| EnvironmentError::Unread)?
}
