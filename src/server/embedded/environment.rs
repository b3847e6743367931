//! What the embedded provider has to know of the machine it runs on.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the embedded provider has to know of the machine: the command line fills it from the
/// environment variables, which nobody else reads.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The cache folder the user asked for.
    pub cache: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub xdg_cache_home: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `PATH`: where package clients and installed servers are looked for.
    pub path: OsString,
    /// The folder for temporary files, such as `/tmp`.
    pub temp: PathBuf,
    /// The folder that the servers' own folders are made in; `None` is memory (`/dev/shm`) where
    /// there is enough of it, else `temp`.
    pub servers: Option<PathBuf>,
}
