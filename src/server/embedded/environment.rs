//! What the embedded provider has to know of the machine it runs on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::account::Account;

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

impl Environment {
    /// The programs named `name` on the path, in its order.
    pub(super) fn programs<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        self.search_folders()
            .map(move |folder| folder.join(name))
            .filter(|program| program.is_file())
    }

    /// A `PATH` for what runs in another folder than the caller's, with the system's own programs
    /// at its end.
    pub(super) fn search_path(&self) -> OsString {
        let system = ["/usr/bin", "/bin"].map(PathBuf::from);
        std::env::join_paths(self.search_folders().chain(system))
            .expect("what was split can be joined")
    }

    fn search_folders(&self) -> impl Iterator<Item = PathBuf> {
        std::env::split_paths(&self.path).filter(|folder| folder.is_absolute())
    }
}

/// The folder in which what was fetched and made once is kept for later runs.
///
/// That is the folder asked for; else, for root, `/var/cache/lockstep`, since the server's account
/// cannot enter root's home; else `lockstep` in `XDG_CACHE_HOME` or in `.cache` of the home folder;
/// else, for accounts without a home, `lockstep-cache-<uid>` in the folder for temporary files.
#[must_use]
pub fn cache_folder(environment: &Environment) -> PathBuf {
    let caller = Account::caller();
    let absolute = |path: &Option<PathBuf>| path.clone().filter(|path| path.is_absolute());
    if let Some(told) = &environment.cache {
        return std::path::absolute(told).unwrap_or_else(|_| told.clone());
    }
    if caller.is_root() {
        return Path::new("/var/cache/lockstep").to_owned();
    }
    if let Some(caches) = absolute(&environment.xdg_cache_home) {
        return caches.join("lockstep");
    }
    // Accounts of services and containers often get `/` or a folder that is not there.
    if let Some(home) =
        absolute(&environment.home).filter(|home| home != Path::new("/") && home.is_dir())
    {
        return home.join(".cache").join("lockstep");
    }
    environment
        .temp
        .join(format!("lockstep-cache-{}", caller.uid))
}
