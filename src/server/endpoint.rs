//! How to reach a running server.

use std::fmt;
use std::path::PathBuf;

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
}

impl fmt::Debug for Endpoint {
    /// Leaves the password out: it must never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.address)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
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
            .application_name("lockstep");
        config
    }
}
