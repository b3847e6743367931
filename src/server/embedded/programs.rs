//! The server programs of a release: in the cache, on the machine, or yet to be fetched.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::cache::check_owner;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind, in_cache};
use super::fetch;
use super::lock::lock_shared;
use super::progress::Reporter;
use crate::server::version::ask_version;
use crate::server::{Pin, Release};

/// The programs of a release, which nobody removes from the cache while this is there.
#[derive(Debug)]
pub(super) struct Programs {
    /// The folder with `postgres` and `initdb`.
    pub(super) folder: PathBuf,
    /// The lock on the folder in the cache. There is none on an installation, nor where the file
    /// system knows no locks.
    hold: Option<File>,
}

impl Programs {
    /// Programs that are not in the cache.
    pub(super) fn installed(folder: PathBuf) -> Self {
        Self { folder, hold: None }
    }

    /// Those of a pin that the cache holds.
    pub(super) fn in_cache(pin: &Pin, cache: &Path) -> Option<Self> {
        let folder = fetch::programs_folder(pin, cache)?;
        let place = fetch::place(pin, cache)?;
        let hold = match lock_shared(&place) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => return None,
            Err(_) => None,
        };
        folder
            .join("postgres")
            .is_file()
            .then_some(Self { folder, hold })
    }

    /// Keeps the lock alone.
    pub(super) fn into_hold(self) -> Option<File> {
        self.hold
    }
}

/// The programs of exactly the pinned release.
///
/// What the cache holds comes first, since it needs no program to be asked; then an installation on
/// the machine; then it is fetched into the cache.
pub(super) async fn obtain(
    pin: &Pin,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<Programs, ServerError> {
    check_owner(cache)?;
    if let Some(programs) = find(pin, cache, environment).await {
        return Ok(programs);
    }
    fetch::fetch(pin, cache, environment, report).await?;
    Programs::in_cache(pin, cache).ok_or_else(|| {
        let gone = io::Error::other("what was fetched was removed at once");
        in_cache(cache)(gone)
    })
}

/// The programs of exactly the pinned release, if they are there already.
pub(super) async fn find(pin: &Pin, cache: &Path, environment: &Environment) -> Option<Programs> {
    if let Some(programs) = Programs::in_cache(pin, cache) {
        return Some(programs);
    }
    installed(pin.release, environment)
        .await
        .map(Programs::installed)
}

/// An installation of exactly this release on the machine.
async fn installed(release: Release, environment: &Environment) -> Option<PathBuf> {
    let major = release.major;
    let known = [
        format!("/usr/lib/postgresql/{major}/bin"),
        format!("/usr/pgsql-{major}/bin"),
        format!("/opt/homebrew/opt/postgresql@{major}/bin"),
        format!("/usr/local/opt/postgresql@{major}/bin"),
        format!("/Library/PostgreSQL/{major}/bin"),
    ];
    let known = known
        .iter()
        .map(|folder| Path::new(folder).join("postgres"));
    for program in known.chain(environment.programs("postgres")) {
        // A link on the path leads to the folder that has the other programs too.
        let Ok(program) = program.canonicalize() else {
            continue;
        };
        let folder = program.parent()?;
        if folder.join("initdb").is_file()
            && let Ok(line) = ask_version(&program).await
            && Release::from_version_line(&line) == Some(release)
        {
            return Some(folder.to_owned());
        }
    }
    None
}

/// Asks a `postgres` program for its version.
pub(super) async fn version(program: &Path) -> Result<Release, ServerError> {
    let cannot = |said| ServerErrorKind::Program {
        program: program.to_owned(),
        said,
    };
    let line = ask_version(program).await.map_err(cannot)?;
    Ok(Release::from_version_line(&line).ok_or_else(|| cannot(line))?)
}

/// Tells builds apart without reading them: the folder of the programs, and when the two that make
/// a cluster were changed and how long they are.
pub(super) fn identity(folder: &Path) -> io::Result<String> {
    let mut text = folder.to_string_lossy().into_owned();
    for name in ["postgres", "initdb"] {
        let found = fs::metadata(folder.join(name))?;
        let (size, seconds, nanoseconds) = (found.size(), found.mtime(), found.mtime_nsec());
        text += &format!(" {name} {size} {seconds}.{nanoseconds:09}");
    }
    Ok(text)
}
