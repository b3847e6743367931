//! Databases for cases: each case has one of its own.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::endpoint::Endpoint;
use super::settings;
use crate::scenario::SUPERUSER_SETTINGS;

/// Tells the databases of this process apart, whoever makes them.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The connection that creates and drops cases' databases on one server.
#[derive(Debug)]
pub struct Databases {
    endpoint: Endpoint,
    client: Client,
    /// The role that owns the databases.
    owner: String,
    /// What makes the databases alike, whatever the server's defaults are.
    alike: &'static str,
    /// What the server's defaults do not give to a database, as `SET` says it.
    settings: Vec<String>,
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
    /// What the server said, if it refused because Lockstep's role lacks the right.
    #[must_use]
    pub fn denial(&self) -> Option<String> {
        let lacks = self.cause.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
        lacks.then(|| explain(&self.cause))
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
        let client = endpoint
            .connect(&endpoint.database)
            .await
            .map_err(failed(what))?;
        // The lock says that this run lives: see `external::sweep`.
        let row = client
            .query_one(
                "SELECT current_setting('server_version_num')::int4,
                        current_setting('fsync')::bool, pg_try_advisory_lock_shared($1)",
                &[&endpoint.run.cast_signed()],
            )
            .await
            .map_err(failed(what))?;
        let (version, durable): (i32, bool) = (row.get(0), row.get(1));
        let settings = settings::missing(&client).await.map_err(failed(what))?;
        Ok(Self {
            endpoint: endpoint.clone(),
            client,
            owner: owner.to_owned(),
            alike: match (version >= 150_000, durable) {
                // Copying files is quicker than logging each block, where nothing is flushed.
                (true, false) => "LOCALE_PROVIDER libc STRATEGY file_copy",
                (true, true) => "LOCALE_PROVIDER libc",
                (false, _) => "",
            },
            settings,
        })
    }

    /// Creates an empty database with the C locale and UTF-8, owned by the scripted role. Sessions
    /// in it begin with the same settings on every server.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn create(&self) -> Result<CaseDatabase, DatabaseError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{number}", prefix(self.endpoint.run));
        self.execute(
            &format!("creating database {name}"),
            &format!(
                "CREATE DATABASE {name} OWNER {} TEMPLATE template0 ENCODING 'UTF8' \
                 LC_COLLATE 'C' LC_CTYPE 'C' {}",
                identifier(&self.owner),
                self.alike
            ),
        )
        .await?;
        let database = CaseDatabase { name };
        if !self.settings.is_empty() {
            let set: String = self
                .settings
                .iter()
                .map(|set| format!("ALTER DATABASE {} SET {set}; ", database.name))
                .collect();
            if let Err(error) = self.execute("giving a database its settings", &set).await {
                // The first error says why; the next run on the server removes what is left.
                let _ = self.remove(&database).await;
                return Err(error);
            }
        }
        Ok(database)
    }

    /// Drops a database, whoever is still connected to it and whatever transactions were left
    /// prepared in it.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn remove(&self, database: &CaseDatabase) -> Result<(), DatabaseError> {
        drop_database(&self.client, &self.endpoint, &database.name).await
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

/// What the names of a run's databases begin with.
pub(super) fn prefix(run: u64) -> String {
    format!("lockstep_{run:016x}_")
}

/// Drops a database whose name needs no quoting, with the transactions that are prepared in it.
pub(super) async fn drop_database(
    client: &Client,
    endpoint: &Endpoint,
    name: &str,
) -> Result<(), DatabaseError> {
    let what = format!("dropping database {name}");
    let prepared = client
        .query(
            "SELECT gid, owner::text FROM pg_prepared_xacts WHERE database = $1",
            &[&name],
        )
        .await
        .map_err(failed(&what))?;
    if !prepared.is_empty() {
        // They can only be ended from inside, by who prepared them, and would keep the database.
        let inside = endpoint.connect(name).await.map_err(failed(&what))?;
        for row in prepared {
            let (transaction, owner): (&str, &str) = (row.get(0), row.get(1));
            let become_owner = format!("SET ROLE {}", identifier(owner));
            // In statements of their own: neither may be in a transaction with the other.
            for sql in [
                become_owner,
                format!("ROLLBACK PREPARED {}", literal(transaction)),
            ] {
                inside.batch_execute(&sql).await.map_err(failed(&what))?;
            }
        }
    }
    client
        .batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        .await
        .map_err(failed(&what))
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

/// A name, quoted.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text, quoted.
pub(super) fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
