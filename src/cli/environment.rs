//! The environment of the process; read here and nowhere else.

use std::path::PathBuf;

use crate::server::{self, embedded, external};

/// What the environment says.
#[derive(Debug)]
pub(super) struct Environment {
    /// `CI`: snapshots are compared, never written.
    pub ci: bool,
    /// `LC_ALL`, `LC_CTYPE` or `LANG`, the first that is set: whether a terminal shows more than
    /// ASCII. On Windows it does.
    pub utf8: bool,
    /// `NO_COLOR`: no colour unless asked for.
    pub no_color: bool,
    /// What servers have to know: `LOCKSTEP_CACHE`, where fetched ones are kept, `XDG_CACHE_HOME`,
    /// `HOME` and `PATH`; `DOCKER_HOST`, which the container engine's client also reads by itself;
    /// what a connection URL leaves out, in the variables that `psql` knows.
    pub servers: server::Environment,
    /// The folder the program was started in.
    pub directory: PathBuf,
}

impl Environment {
    /// The environment of this process. A variable that is set to nothing counts as unset.
    pub(super) fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name| variable(name).map(PathBuf::from);
        let text = |name| variable(name).and_then(|value| value.into_string().ok());
        Self {
            ci: variable("CI").is_some_and(|value| value != "false" && value != "0"),
            utf8: cfg!(windows)
                || ["LC_ALL", "LC_CTYPE", "LANG"]
                    .into_iter()
                    .find_map(variable)
                    .is_some_and(|locale| {
                        let locale = locale.to_string_lossy().to_ascii_lowercase();
                        locale.contains("utf-8") || locale.contains("utf8")
                    }),
            no_color: variable("NO_COLOR").is_some(),
            servers: server::Environment {
                embedded: embedded::Environment {
                    cache: folder("LOCKSTEP_CACHE"),
                    xdg_cache_home: folder("XDG_CACHE_HOME"),
                    home: folder("HOME"),
                    path: variable("PATH").unwrap_or_default(),
                    temp: std::env::temp_dir(),
                    servers: folder("LOCKSTEP_SERVERS"),
                },
                docker_host: variable("DOCKER_HOST")
                    .map(|value| value.to_string_lossy().into_owned()),
                external: external::Environment {
                    host: text("PGHOST"),
                    port: text("PGPORT"),
                    user: text("PGUSER"),
                    password: text("PGPASSWORD"),
                    password_file: folder("PGPASSFILE")
                        .or_else(|| folder("HOME").map(|home| home.join(".pgpass"))),
                    database: text("PGDATABASE"),
                    ssl_mode: text("PGSSLMODE"),
                    ssl_root_cert: text("PGSSLROOTCERT"),
                    ssl_cert: text("PGSSLCERT"),
                    ssl_key: text("PGSSLKEY"),
                    connect_timeout: text("PGCONNECT_TIMEOUT"),
                },
            },
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }
}
