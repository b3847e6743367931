//! Databases for cases: each case has one of its own.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_postgres::{Client, NoTls};

use super::endpoint::Endpoint;
use crate::scenario::SUPERUSER_SETTINGS;

/// The connection that creates and drops cases' databases on one server.
#[derive(Debug)]
pub struct Databases {
    endpoint: Endpoint,
    client: Client,
    /// The role that owns the databases.
    owner: String,
    /// `STRATEGY` where the server knows it.
    strategy: &'static str,
    /// Tells this run's databases from those of other runs on the same server.
    run: u64,
    next: AtomicU64,
}

/// The database of one case. It is not dropped with this value: see [`Databases::remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDatabase {
    /// Its name, which needs no quoting.
    pub name: String,
}

/// A database could not be created, changed or dropped.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {}", explain(cause))]
pub struct DatabaseError {
    what: String,
    #[source]
    cause: tokio_postgres::Error,
}

impl DatabaseError {
    /// The server's own words, when it was the server that refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&tokio_postgres::error::DbError> {
        self.cause.as_db_error()
    }
}

impl Databases {
    /// Connects with the rights to create databases, for `owner`.
    ///
    /// # Errors
    ///
    /// The server does not let this endpoint in.
    pub async fn connect(endpoint: &Endpoint, owner: &str) -> Result<Self, DatabaseError> {
        let what = "connecting to create databases";
        let client = connect(endpoint, "postgres").await.map_err(failed(what))?;
        let version = client
            .query_one("SELECT current_setting('server_version_num')::int4", &[])
            .await
            .map_err(failed(what))?
            .get::<_, i32>(0);
        Ok(Self {
            endpoint: endpoint.clone(),
            client,
            owner: owner.to_owned(),
            // Copying files is quicker than logging each block, where both can be had.
            strategy: if version >= 150_000 {
                "STRATEGY file_copy"
            } else {
                ""
            },
            run: run_number(),
            next: AtomicU64::new(1),
        })
    }

    /// Creates an empty database with the C locale and UTF-8, owned by the scripted role.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn create(&self) -> Result<CaseDatabase, DatabaseError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("lockstep_{:016x}_{number}", self.run);
        self.execute(
            &format!("creating database {name}"),
            &format!(
                "CREATE DATABASE {name} OWNER {} TEMPLATE template0 ENCODING 'UTF8' \
                 LC_COLLATE 'C' LC_CTYPE 'C' {}",
                identifier(&self.owner),
                self.strategy
            ),
        )
        .await?;
        Ok(CaseDatabase { name })
    }

    /// Drops a database, whoever is still connected to it and whatever transactions were left
    /// prepared in it.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn remove(&self, database: &CaseDatabase) -> Result<(), DatabaseError> {
        let name = &database.name;
        let what = format!("dropping database {name}");
        let prepared = self
            .client
            .query(
                "SELECT gid FROM pg_prepared_xacts WHERE database = $1",
                &[name],
            )
            .await
            .map_err(failed(&what))?;
        if !prepared.is_empty() {
            // They can only be ended from inside, and would keep the database.
            let inside = connect(&self.endpoint, name).await.map_err(failed(&what))?;
            for row in prepared {
                let end = format!("ROLLBACK PREPARED {}", literal(row.get(0)));
                inside.batch_execute(&end).await.map_err(failed(&what))?;
            }
        }
        self.execute(
            &what,
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .await
    }

    /// Gives the scripted role settings in a database that only a superuser may set. Connections
    /// made from now on have them. Names must be among [`crate::scenario::SUPERUSER_SETTINGS`].
    ///
    /// # Errors
    ///
    /// The server does not take a value.
    ///
    /// # Panics
    ///
    /// A name is not among [`crate::scenario::SUPERUSER_SETTINGS`]; the loader lets none pass.
    pub async fn with_superuser_settings(
        &self,
        database: &CaseDatabase,
        settings: &[(&str, &str)],
    ) -> Result<(), DatabaseError> {
        for (name, value) in settings {
            assert!(
                SUPERUSER_SETTINGS.contains(name),
                "`{name}` is not a setting that scenarios may have"
            );
            self.execute(
                &format!("setting {name}"),
                &format!(
                    "ALTER ROLE {} IN DATABASE {} SET {name} = {}",
                    identifier(&self.owner),
                    database.name,
                    literal(value)
                ),
            )
            .await?;
        }
        Ok(())
    }

    /// Takes back all settings of the scripted role in a database, for the connections to come.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub async fn reset_superuser_settings(
        &self,
        database: &CaseDatabase,
    ) -> Result<(), DatabaseError> {
        self.execute(
            "resetting settings",
            &format!(
                "ALTER ROLE {} IN DATABASE {} RESET ALL",
                identifier(&self.owner),
                database.name
            ),
        )
        .await
    }

    async fn execute(&self, what: &str, sql: &str) -> Result<(), DatabaseError> {
        self.client.batch_execute(sql).await.map_err(failed(what))
    }
}

/// Connects; the connection ends when the client is dropped.
async fn connect(endpoint: &Endpoint, database: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = endpoint.config(database).connect(NoTls).await?;
    // Its errors are also those of the calls in flight.
    tokio::spawn(connection);
    Ok(client)
}

fn failed(what: &str) -> impl FnOnce(tokio_postgres::Error) -> DatabaseError {
    let what = what.to_owned();
    move |cause| DatabaseError { what, cause }
}

/// What an error of the control connection says, with all that the server said.
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    let Some(db) = error.as_db_error() else {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        return text;
    };
    let mut text = db.message().to_owned();
    for (word, more) in [("detail", db.detail()), ("hint", db.hint())] {
        if let Some(more) = more {
            let _ = write!(text, " ({word}: {more})");
        }
    }
    text
}

/// A number that no other run on the same server has: when it began, and which process it is.
fn run_number() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos());
    let mixed = now ^ (u128::from(std::process::id()) << 40);
    u64::try_from(mixed & u128::from(u64::MAX)).unwrap_or(0)
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
