//! Why an embedded server could not be had, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::account::Account;
use crate::server::{Client, Release};

/// Why an embedded server could not be had.
///
/// The message is a fragment that reads well after "failed to start PostgreSQL 18.6: ";
/// [`ServerError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ServerError(Box<ServerErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ServerErrorKind {
    #[error("release {0} is not pinned")]
    NotPinned(Release),
    #[error("there is no package of release {release} for {platform}")]
    NoPackage { release: Release, platform: String },
    #[error("no {client} answers, which release {release} is downloaded with")]
    NoClient { client: Client, release: Release },
    #[error("`{command}` reaches nothing; it said:\n{said}")]
    Offline { command: String, said: String },
    #[error("`{command}` finds no such package; it said:\n{said}")]
    PackageGone {
        client: Client,
        command: String,
        said: String,
    },
    #[error("`{command}` failed; it said:\n{said}")]
    ClientFailed {
        client: Client,
        command: String,
        said: String,
    },
    #[error("`{command}` did not end within {} s", limit.as_secs())]
    ClientTooSlow { command: String, limit: Duration },
    #[error("`{command}` did not download {file}")]
    OtherFile {
        client: Client,
        command: String,
        file: String,
    },
    #[error("the checksum of {file} is {found}, not the pinned {pinned}")]
    ChecksumDiffers {
        file: String,
        pinned: String,
        found: String,
    },
    #[error("the package {file} cannot be unpacked: {why}")]
    BadPackage { file: String, why: String },
    #[error("the cache folder {} cannot be used: {cause}", path.display())]
    Cache { path: PathBuf, cause: io::Error },
    #[error("the disk of {} is full", path.display())]
    DiskFull { path: PathBuf },
    #[error(
        "{} is closed to the unprivileged account that the server runs as",
        closed.display()
    )]
    OutOfReach { path: PathBuf, closed: PathBuf },
    #[error("{} cannot be run: {said}", program.display())]
    Program { program: PathBuf, said: String },
    #[error("{} is release {found}, not {wanted}", program.display())]
    OtherRelease {
        program: PathBuf,
        found: Release,
        wanted: Release,
    },
    #[error("no folder can hold the server:{}", tried_lines(tried))]
    NoFolder { tried: Vec<(PathBuf, String)> },
    #[error("no process can be started for the server: {0}")]
    Keeper(io::Error),
    #[error("{what} did not end within {} s{}", limit.as_secs(), log_lines(log))]
    TooSlow {
        what: &'static str,
        limit: Duration,
        log: String,
    },
    #[error("{what} failed{}", log_lines(log))]
    Failed { what: &'static str, log: String },
    #[error("the server does not let Lockstep in: {0}")]
    Refused(String),
}

impl ServerError {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ServerErrorKind {
        &self.0
    }

    /// What to do about it; a sentence.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        use ServerErrorKind as Kind;
        Some(match self.kind() {
            Kind::NotPinned(_) => {
                "Choose a pinned release; `lockstep servers` lists them.".to_owned()
            }
            Kind::NoPackage { release, .. } => format!(
                "Install PostgreSQL {release} and put its programs on the PATH, or name the \
                 folder of its programs with `--server local:DIR`."
            ),
            Kind::NoClient { client, release } => {
                let install = match client {
                    Client::Pip => "Python 3 with pip",
                    Client::Npm => "Node.js with npm 7 or newer",
                };
                format!(
                    "Install {install}; or PostgreSQL {release} itself, with its programs on the \
                     PATH or named with `--server local:DIR`."
                )
            }
            Kind::Offline { .. } => "If this machine has no network, run `lockstep servers fetch` \
                 once where it has one, with the same cache folder: what is fetched is kept there."
                .to_owned(),
            Kind::PackageGone { client, .. } => format!(
                "See whether {client} is set up to use a registry that lacks it. If it was taken \
                 down, pin another version in `lockstep-pins.yaml`, or use `--server local:DIR`."
            ),
            Kind::ClientFailed { client, .. } => {
                format!("The command can be tried by hand, to see what {client} needs.")
            }
            Kind::ClientTooSlow { .. } => {
                "Fetch once over a faster line, with `lockstep servers fetch`: what is fetched is \
                 kept in the cache folder."
                    .to_owned()
            }
            Kind::OtherFile { client, .. } => {
                format!("See whether {client} is set up to use a registry that holds other builds.")
            }
            Kind::ChecksumDiffers { .. } => {
                "Nothing of it was kept. See whether the package client is set up to use another \
                 registry or a proxy that changes files; never use the file as it is."
                    .to_owned()
            }
            Kind::BadPackage { .. } => "Nothing of it was kept; try again.".to_owned(),
            Kind::Cache { .. } => {
                "Make the folder writable, or choose another as the cache folder.".to_owned()
            }
            Kind::DiskFull { .. } | Kind::NoFolder { .. } => {
                "Make room (a server takes some 300 MB), or choose another folder.".to_owned()
            }
            Kind::OutOfReach { path, .. } => format!(
                "Since PostgreSQL refuses to run as root, another account runs it. Choose a cache \
                 folder that everybody can enter instead of {}, such as /var/cache/lockstep.",
                path.display()
            ),
            Kind::Program { .. } => {
                "See whether the programs fit this machine (the packages need glibc 2.28 or \
                 newer on Linux), and whether programs may run from that folder (noexec)."
                    .to_owned()
            }
            Kind::OtherRelease { .. } => {
                "Remove this installation from the cache; it is fetched again.".to_owned()
            }
            Kind::Keeper(_) if Account::caller().is_root() => {
                "PostgreSQL refuses to run as root, and here root may not use another account: \
                 run Lockstep as an ordinary user."
                    .to_owned()
            }
            Kind::Keeper(_) | Kind::TooSlow { .. } | Kind::Failed { .. } | Kind::Refused(_) => {
                return None;
            }
        })
    }
}

impl From<ServerErrorKind> for ServerError {
    fn from(kind: ServerErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// Gives an input or output error of the cache its path, and tells a full disk apart.
pub(super) fn in_cache(path: &Path) -> impl FnOnce(io::Error) -> ServerError {
    let path = path.to_owned();
    move |cause| match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ServerErrorKind::DiskFull { path }.into()
        }
        _ => ServerErrorKind::Cache { path, cause }.into(),
    }
}

fn tried_lines(tried: &[(PathBuf, String)]) -> String {
    tried
        .iter()
        .map(|(path, why)| format!("\n  {}: {why}", path.display()))
        .collect()
}

fn log_lines(log: &str) -> String {
    if log.trim().is_empty() {
        String::new()
    } else {
        format!("; it said:\n{}", log.trim_end())
    }
}
