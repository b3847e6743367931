//! The cluster that every server of a release is a copy of, made once and kept in the cache.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::account::Account;
use super::cache::{TEMPLATES, make};
use super::environment::Environment;
use super::error::{ServerError, in_cache};
use super::folder::Order;
use super::keeper::Duty;
use super::lock::lock_shared;
use super::programs::identity;
use super::progress::{Progress, Reporter};
use super::workshop::Workshop;
use crate::server::Release;
use crate::server::roles::{self, SUPERUSER};
use crate::server::verifier::verifier;

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

/// The file in a template's folder that names the folder of the programs it was made with.
const PROGRAMS: &str = "programs";

/// A cluster to copy, which nobody removes from the cache while this is there.
#[derive(Debug)]
pub(super) struct Template {
    /// The folder of the cluster.
    pub(super) cluster: PathBuf,
    /// The lock on it; there is none where the file system knows no locks.
    _hold: Option<File>,
}

impl Template {
    fn in_cache(place: &Path) -> Option<Self> {
        let hold = match lock_shared(place) {
            Ok(Some(lock)) => Some(lock),
            Ok(None) => return None,
            Err(_) => None,
        };
        let cluster = place.join("cluster");
        cluster.is_dir().then_some(Self {
            cluster,
            _hold: hold,
        })
    }
}

/// A template for these programs.
pub(super) async fn obtain(
    release: Release,
    programs: &Path,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<Template, ServerError> {
    let name = name(release, programs).map_err(in_cache(programs))?;
    let place = cache.join(TEMPLATES).join(name);
    if let Some(template) = Template::in_cache(&place) {
        return Ok(template);
    }
    let workshop = Workshop::enter(cache, &place, report).await?;
    if let Some(template) = Template::in_cache(&place) {
        return Ok(template);
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
        line: &roles_sql(),
        environment,
        limit: LIMIT,
    };
    let kept = order.place().await?;
    let bench = workshop.bench()?;
    let finished = bench.path().join("template");
    make(&finished).map_err(in_cache(&finished))?;
    fs::write(finished.join(PROGRAMS), programs.as_os_str().as_bytes())
        .map_err(in_cache(&finished))?;
    let (from, to) = (kept.folder().join("data"), finished.join("cluster"));
    super::blocking(move || copy(&from, &to))
        .await
        .map_err(in_cache(cache))?;
    super::blocking(move || drop(kept)).await;
    Ok(Template {
        _hold: workshop.publish(&finished)?,
        cluster: place.join("cluster"),
    })
}

/// The folder of the programs that a template was made with, if the template would still be the one
/// for them: neither they nor the settings have changed since.
pub(super) fn programs_of(place: &Path) -> Option<PathBuf> {
    let text = fs::read(place.join(PROGRAMS)).ok()?;
    let programs = PathBuf::from(OsString::from_vec(text));
    let own = place.file_name()?.to_str()?;
    let release = own.rsplit_once('-')?.0.parse().ok()?;
    (name(release, &programs).ok()? == own).then_some(programs)
}

/// What a template is called: the release, and a digest of all that makes it what it is.
fn name(release: Release, programs: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for part in [
        SETTINGS,
        ACCESS,
        &roles_sql(),
        include_str!("template.sh"),
        &identity(programs)?,
    ] {
        hasher.update(part);
        hasher.update([0]);
    }
    let digest = super::hex(&hasher.finalize()[..8]);
    Ok(format!("{release}-{digest}"))
}

/// Makes the role that scripted sessions have.
fn roles_sql() -> String {
    format!(
        "ALTER ROLE {SUPERUSER} PASSWORD '{}'; {}",
        verifier(PASSWORD),
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
