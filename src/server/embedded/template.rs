//! The cluster that every server of a release is a copy of, made once and kept in the cache.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::account::Account;
use super::cache::Workshop;
use super::environment::Environment;
use super::error::{ServerError, in_cache};
use super::folder::Order;
use super::keeper::Duty;
use super::progress::{Progress, Reporter};
use crate::server::Release;
use crate::server::roles::{self, SUPERUSER};

const SETTINGS: &str = concat!(
    include_str!("postgresql.conf"),
    include_str!("../settings.conf")
);
const ACCESS: &str = include_str!("pg_hba.conf");

/// How long making a cluster may take; it takes half a second.
const LIMIT: Duration = Duration::from_secs(120);

/// The superuser's password in the template, which each run changes first of all. The template is
/// no secret, so this is none either.
pub(super) const PASSWORD: &str = "of-the-template";

/// A template for these programs.
pub(super) async fn obtain(
    release: Release,
    programs: &Path,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<PathBuf, ServerError> {
    let place = cache
        .join("templates")
        .join(format!("{release}-{}", key(release, programs)));
    if place.is_dir() {
        return Ok(place);
    }
    let workshop = Workshop::enter(cache, report).await?;
    if place.is_dir() {
        return Ok(place);
    }
    report(Progress::MakingCluster(release));
    let account = match Account::caller() {
        // initdb wants an account that has a name.
        caller if caller.is_root() => Account::nobody(),
        caller => caller,
    };
    let arguments = [
        programs.as_os_str().to_owned(),
        OsString::from(SUPERUSER),
        OsString::from(SETTINGS),
        OsString::from(ACCESS),
    ];
    let order = Order {
        duty: Duty::Template,
        arguments: &arguments,
        account,
        line: &roles_sql(release),
        environment,
        limit: LIMIT,
    };
    let kept = order.place().await?;
    let bench = workshop.bench()?;
    let finished = bench.path().join("template");
    let (from, to) = (kept.folder().join("data"), finished.clone());
    super::blocking(move || copy(&from, &to))
        .await
        .map_err(in_cache(cache))?;
    super::blocking(move || drop(kept)).await;
    workshop.publish(&finished, &place).map(|()| place)
}

/// What two templates must have in common to be the same.
fn key(release: Release, programs: &Path) -> String {
    let mut hasher = Sha256::new();
    for part in [
        SETTINGS,
        ACCESS,
        &roles_sql(release),
        include_str!("template.sh"),
        &programs.to_string_lossy(),
    ] {
        hasher.update(part);
        hasher.update([0]);
    }
    super::hex(&hasher.finalize()[..8])
}

/// Makes the role that scripted sessions have.
fn roles_sql(release: Release) -> String {
    format!(
        "{}ALTER ROLE {SUPERUSER} PASSWORD '{PASSWORD}'; {}",
        roles::quick_scram(release),
        roles::make_scripted()
    )
}

/// Copies a cluster so that every account can read the copy.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644))?;
        } else {
            return Err(io::Error::other(format!(
                "{} is no plain file",
                entry.path().display()
            )));
        }
    }
    Ok(())
}
