//! Databases for cases: each case has one of its own, and a role of its own.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::endpoint::Endpoint;
use super::settings;
use super::verifier::verifier;
use crate::scenario::SUPERUSER_SETTINGS;

/// Tells the databases of this process apart, whoever makes them.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The first release on which a role that may create roles has rights over those alone.
const CONFINED_CREATEROLE: i32 = 160_000;

/// What the role of a case may do beyond its own database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: others use the same server.
    Database,
    /// Nothing, though the server is the case's own, so that its settings are meant for the case.
    Alone,
    /// Create databases and, where such a role is confined to the roles it has made (PostgreSQL 16
    /// and later), roles. Before 16 it could give itself the right to run programs. The server
    /// must be the case's own, as with [`Reach::Alone`].
    Server,
}

/// What creates and drops cases' databases on one server.
///
/// # Isolation
///
/// A case's database belongs to a role that is made for it and goes with it. So a case cannot drop
/// or change another's database, cannot cancel or end another's statements, and what it does to its
/// role (a setting, a password) is felt by itself alone. The case's role is a member of the
/// scripted role, as which nobody logs in, so that SQL may name that one.
///
/// Only a superuser can make such roles without having rights over what they own. Where Lockstep
/// is none, on somebody else's server, cases share the scripted role.
#[derive(Debug)]
pub struct Databases {
    endpoint: Endpoint,
    scripted: Endpoint,
    reach: Reach,
    /// Makes databases; each of the connections is kept waiting by its own work only.
    maker: Client,
    /// Drops databases.
    remover: Client,
    /// Does what takes no time.
    clerk: Client,
    /// The server's `server_version_num`.
    version: i32,
    /// Whether Lockstep is a superuser there.
    is_superuser: bool,
    /// What makes the databases alike, whatever the server's defaults are.
    alike: &'static str,
    /// What the server's defaults do not give to a database, as `SET` says it.
    settings: Vec<String>,
    /// The database that those of cases are copies of, where there will be many.
    template: Option<String>,
}

/// The database of one case. It is not dropped with this value: see [`Databases::remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDatabase {
    /// Its name, which needs no quoting. The case's own role is called the same.
    pub name: String,
    /// Who owns it, and whom everything that the scenario brings logs in as.
    pub role: Endpoint,
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

    /// What the server said, if it refused because Lockstep's role lacks the right.
    #[must_use]
    pub fn denial(&self) -> Option<String> {
        let lacks = self.cause.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
        lacks.then(|| explain(&self.cause))
    }
}

impl Databases {
    /// Connects with the rights to create databases, for cases that are played as `scripted` or as
    /// members of it.
    ///
    /// # Errors
    ///
    /// The server does not let this endpoint in.
    pub async fn connect(
        endpoint: &Endpoint,
        scripted: &Endpoint,
        reach: Reach,
    ) -> Result<Self, DatabaseError> {
        let what = "connecting to create databases";
        let (maker, remover, clerk) = tokio::try_join!(
            endpoint.connect(&endpoint.database),
            endpoint.connect(&endpoint.database),
            endpoint.connect(&endpoint.database),
        )
        .map_err(failed(what))?;
        let about = "SELECT current_setting('server_version_num')::int4, rolsuper,
                            current_setting('fsync')::bool
                     FROM pg_roles WHERE rolname = current_user";
        let row = clerk.query_one(about, &[]).await.map_err(failed(what))?;
        let (version, durable): (i32, bool) = (row.get(0), row.get(2));
        let settings = match reach {
            Reach::Database => settings::missing(&clerk).await.map_err(failed(what))?,
            Reach::Alone | Reach::Server => Vec::new(),
        };
        let databases = Self {
            endpoint: endpoint.clone(),
            scripted: scripted.clone(),
            reach,
            settings,
            maker,
            remover,
            clerk,
            version,
            is_superuser: row.get(1),
            alike: match (version >= 150_000, durable) {
                // Copying files is quicker than logging each block, where nothing is flushed.
                (true, false) => "LOCALE_PROVIDER libc STRATEGY file_copy",
                (true, true) => "LOCALE_PROVIDER libc",
                (false, _) => "",
            },
            template: (reach == Reach::Database).then(|| name(endpoint.run)),
        };
        databases.prepare().await?;
        Ok(databases)
    }

    /// Makes the database that those of cases are copies of: an empty one to which somebody has
    /// connected once, so that the server has written its cache of the catalogs. The first
    /// connection to each copy finds it instead of spending 10 ms on it. For a single case that
    /// would be a detour.
    async fn prepare(&self) -> Result<(), DatabaseError> {
        if self.is_superuser {
            // Cases may look at pg_stat_activity, where what others need is none of their business.
            let set = self.maker.batch_execute("SET track_activities = off").await;
            set.map_err(failed("connecting to create databases"))?;
        }
        let Some(template) = &self.template else {
            return Ok(());
        };
        let what = format!("creating database {template}");
        self.copy("template0", template, &self.endpoint.user)
            .await?;
        let (visitor, connection) = self
            .endpoint
            .config(template)
            .connect(self.endpoint.tls.clone())
            .await
            .map_err(failed(&what))?;
        let connection = tokio::spawn(connection);
        visitor.simple_query("").await.map_err(failed(&what))?;
        drop(visitor);
        // A database with connections cannot be copied.
        connection
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
            .map_err(failed(&what))
    }

    /// Creates an empty database with the C locale and UTF-8, and the role that owns it.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn create(&self) -> Result<CaseDatabase, DatabaseError> {
        let name = name(self.endpoint.run);
        let mut role = self.scripted.clone();
        if self.is_superuser {
            role.user.clone_from(&name);
            let rights = match self.reach {
                Reach::Database | Reach::Alone => "",
                Reach::Server if self.version >= CONFINED_CREATEROLE => "CREATEDB CREATEROLE",
                Reach::Server => "CREATEDB",
            };
            let sql = format!(
                "CREATE ROLE {name} LOGIN {rights} PASSWORD '{}' IN ROLE {}",
                verifier(&role.password),
                identifier(&self.scripted.user)
            );
            let made = self.maker.batch_execute(&sql).await;
            made.map_err(failed(&format!("creating role {name}")))?;
        }
        let from = self.template.as_deref().unwrap_or("template0");
        self.copy(from, &name, &role.user).await?;
        let database = CaseDatabase { name, role };
        if let Err(error) = self.give_settings(&database.name).await {
            // The first error says why; the next run on the server removes what is left.
            let _ = self.remove(&database).await;
            return Err(error);
        }
        Ok(database)
    }

    /// Sessions in a case's database begin with the same settings on every server.
    async fn give_settings(&self, name: &str) -> Result<(), DatabaseError> {
        if self.settings.is_empty() {
            return Ok(());
        }
        let set: String = self
            .settings
            .iter()
            .map(|set| format!("ALTER DATABASE {name} SET {set}; "))
            .collect();
        let given = self.maker.batch_execute(&set).await;
        given.map_err(failed("giving a database its settings"))
    }

    async fn copy(&self, from: &str, to: &str, owner: &str) -> Result<(), DatabaseError> {
        let sql = format!(
            "CREATE DATABASE {to} OWNER {} TEMPLATE {from} ENCODING 'UTF8' \
             LC_COLLATE 'C' LC_CTYPE 'C' {}",
            identifier(owner),
            self.alike
        );
        let made = self.maker.batch_execute(&sql).await;
        made.map_err(failed(&format!("creating database {to}")))
    }

    /// Drops a database and its role, whoever is still connected to it and whatever transactions
    /// were left prepared in it.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn remove(&self, database: &CaseDatabase) -> Result<(), DatabaseError> {
        let name = &database.name;
        drop_database(&self.remover, &self.endpoint, name).await?;
        if database.role.user == *name {
            let dropped = self
                .remover
                .batch_execute(&format!("DROP ROLE {name}"))
                .await;
            dropped.map_err(failed(&format!("dropping role {name}")))?;
        }
        Ok(())
    }

    /// Whether its connections to the server still stand.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let clients = [&self.maker, &self.remover, &self.clerk];
        clients.iter().all(|client| !client.is_closed())
    }

    /// Drops what the databases of this run were copies of; no more can be created.
    ///
    /// # Errors
    ///
    /// The server refuses.
    pub async fn close(self) -> Result<(), DatabaseError> {
        match &self.template {
            Some(template) => drop_database(&self.remover, &self.endpoint, template).await,
            None => Ok(()),
        }
    }

    /// Gives the role of a case settings in its database that only a superuser may set. Connections
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
            let set = format!("SET {name} = {}", literal(value));
            self.alter(database, &format!("setting {name}"), &set)
                .await?;
        }
        Ok(())
    }

    /// Takes back all settings of a case's role in its database, for the connections to come.
    ///
    /// # Errors
    ///
    /// The connection is lost.
    pub async fn reset_superuser_settings(
        &self,
        database: &CaseDatabase,
    ) -> Result<(), DatabaseError> {
        self.alter(database, "resetting settings", "RESET ALL")
            .await
    }

    async fn alter(
        &self,
        database: &CaseDatabase,
        what: &str,
        change: &str,
    ) -> Result<(), DatabaseError> {
        let sql = format!(
            "ALTER ROLE {} IN DATABASE {} {change}",
            identifier(&database.role.user),
            database.name
        );
        self.clerk.batch_execute(&sql).await.map_err(failed(what))
    }
}

/// A name for a database of a run. All are of one length, so that the width of a name tells nothing.
fn name(run: u64) -> String {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}{number:06}", prefix(run))
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

pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
