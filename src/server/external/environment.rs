//! What the environment says about servers that somebody else runs.

use std::fmt;
use std::path::PathBuf;

/// What a connection URL leaves out: the command line fills it from the environment variables that
/// `psql` knows, which nobody else reads.
#[derive(Clone, Default)]
pub struct Environment {
    /// `PGHOST`.
    pub host: Option<String>,
    /// `PGPORT`.
    pub port: Option<String>,
    /// `PGUSER`.
    pub user: Option<String>,
    /// `PGPASSWORD`.
    pub password: Option<String>,
    /// `PGPASSFILE`, else `.pgpass` in the home folder.
    pub password_file: Option<PathBuf>,
    /// `PGDATABASE`.
    pub database: Option<String>,
    /// `PGSSLMODE`.
    pub ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`.
    pub ssl_root_cert: Option<String>,
    /// `PGSSLCERT`.
    pub ssl_cert: Option<String>,
    /// `PGSSLKEY`.
    pub ssl_key: Option<String>,
    /// `PGCONNECT_TIMEOUT`.
    pub connect_timeout: Option<String>,
}

impl fmt::Debug for Environment {
    /// Leaves the password out: it must never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("password_file", &self.password_file)
            .field("database", &self.database)
            .field("ssl_mode", &self.ssl_mode)
            .finish_non_exhaustive()
    }
}
