//! The server programs of a release: in the cache, on the machine, or yet to be fetched.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::cache::check_owner;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind};
use super::fetch;
use super::progress::Reporter;
use crate::server::{Pin, Release};

/// How long a program may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// The folder with `postgres` and `initdb` of exactly the pinned release.
///
/// What the cache holds comes first, since it needs no program to be asked; then an installation on
/// the machine; then it is fetched into the cache.
pub(super) async fn obtain(
    pin: &Pin,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<PathBuf, ServerError> {
    check_owner(cache)?;
    if let Some(found) = find(pin, cache, environment).await {
        return Ok(found);
    }
    fetch::fetch(pin, cache, environment, report).await?;
    Ok(fetch::programs_folder(pin, cache))
}

/// The same folder, if it is there already.
pub(super) async fn find(pin: &Pin, cache: &Path, environment: &Environment) -> Option<PathBuf> {
    let in_cache = fetch::programs_folder(pin, cache);
    if in_cache.join("postgres").is_file() {
        return Some(in_cache);
    }
    installed(pin.release, environment).await
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
        if folder.join("initdb").is_file() && version(&program).await.ok() == Some(release) {
            return Some(folder.to_owned());
        }
    }
    None
}

/// Asks a `postgres` program for its version.
pub(super) async fn version(program: &Path) -> Result<Release, ServerError> {
    let cannot = |said: String| ServerErrorKind::Program {
        program: program.to_owned(),
        said,
    };
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(VERSION_LIMIT, output)
        .await
        .map_err(|_| cannot("it does not answer".to_owned()))?
        .map_err(|error| cannot(error.to_string()))?;
    Release::from_version_line(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| cannot(String::from_utf8_lossy(&output.stderr).trim().to_owned()).into())
}
