//! How to reach a running server.

use std::fmt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Error};

use super::tls::Tls;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The Unix socket `.s.PGSQL.<port>` in a folder.
    Unix {
        /// The folder of the socket.
        directory: PathBuf,
        /// The number in the socket's name.
        port: u16,
    },
    /// A TCP port.
    Tcp {
        /// A host name or an IP address.
        host: String,
        /// The port.
        port: u16,
    },
}

/// A server and the superuser (or database creator) that Lockstep itself uses there.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where it listens.
    pub address: Address,
    /// The role.
    pub user: String,
    /// Its password.
    pub password: String,
    /// How connections are encrypted.
    pub tls: Tls,
    /// The database of connections that belong to no case.
    pub database: String,
    /// The number of the run, in the names of all that it makes on the server.
    pub run: u64,
}

impl fmt::Debug for Endpoint {
    /// Leaves the password out: it must never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("tls", &self.tls)
            .field("database", &self.database)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// A role of a server that is reached without encryption, and a run of its own there.
    #[must_use]
    pub fn new(address: Address, user: &str, password: String) -> Self {
        Self {
            address,
            user: user.to_owned(),
            password,
            tls: Tls::off(),
            database: "postgres".to_owned(),
            run: run_number(),
        }
    }

    /// Connects to a database; the connection ends when the client is dropped.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub async fn connect(&self, database: &str) -> Result<Client, Error> {
        let (client, connection) = self.config(database).connect(self.tls.clone()).await?;
        // Its errors are also those of the calls in flight.
        tokio::spawn(connection);
        Ok(client)
    }

    /// How `tokio-postgres` reaches a database of this server.
    #[must_use]
    pub fn config(&self, database: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        match &self.address {
            #[cfg(unix)]
            Address::Unix { directory, port } => config.host_path(directory).port(*port),
            #[cfg(not(unix))]
            Address::Unix { directory, port } => {
                config.host(directory.to_string_lossy()).port(*port)
            }
            Address::Tcp { host, port } => config.host(host).port(*port),
        };
        config
            .user(&self.user)
            .password(&self.password)
            .dbname(database)
            .ssl_mode(match &self.address {
                Address::Tcp { .. } if self.tls.is_on() => SslMode::Require,
                _ => SslMode::Disable,
            })
            .application_name("lockstep");
        config
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix { directory, port } => write!(
                f,
                "the socket `{}`",
                directory.join(format!(".s.PGSQL.{port}")).display()
            ),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// A number that no other run on the same server has: when it began, and which process it is.
fn run_number() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos());
    let mixed = now ^ (u128::from(std::process::id()) << 40);
    u64::try_from(mixed & u128::from(u64::MAX)).unwrap_or(0)
}
