//! What package clients have in common: finding one, asking it for a file, and what it says when it
//! has none.

use std::ffi::OsString;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::super::account::Account;
use super::super::environment::Environment;
use super::super::error::{ServerError, ServerErrorKind};
use super::super::keeper::{Duty, Keeper, Stage};
use super::{npm, pip};
use crate::server::{Client, Package, PackageFile};

/// How long a client may take to tell its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long a download may take: some 20 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// A program and the arguments before those of the client.
pub(super) type Way = (&'static str, &'static [&'static str]);

/// The arguments of a download.
pub(super) struct Request {
    /// Those that say what is wanted; with these, a user can try it by hand.
    pub(super) shown: Vec<String>,
    /// Those that make it quiet, and name the folder.
    pub(super) hidden: Vec<OsString>,
}

/// A package client that answers.
pub(in super::super) struct PackageClient {
    client: Client,
    program: PathBuf,
    arguments: &'static [&'static str],
    version: String,
}

impl PackageClient {
    /// The first that answers.
    pub(in super::super) async fn find(client: Client, environment: &Environment) -> Option<Self> {
        let ways = match client {
            Client::Pip => pip::WAYS,
            Client::Npm => npm::WAYS,
        };
        for (name, arguments) in ways {
            for program in environment.programs(name) {
                let answer = version(&program, arguments, environment);
                if let Ok(Ok(output)) = tokio::time::timeout(ANSWER_LIMIT, answer).await
                    && output.status.success()
                {
                    let said = String::from_utf8_lossy(&output.stdout);
                    return Some(Self {
                        client,
                        program,
                        arguments,
                        // pip tells its name and its folder too.
                        version: said
                            .split_whitespace()
                            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                            .unwrap_or_default()
                            .to_owned(),
                    });
                }
            }
        }
        None
    }

    /// The program.
    pub(in super::super) fn program(&self) -> &Path {
        &self.program
    }

    /// Its version.
    pub(in super::super) fn version(&self) -> &str {
        &self.version
    }

    /// Downloads a package's file into a folder that is not there yet, and that goes with what is
    /// returned: a client must not outlive the run either.
    pub(in super::super) async fn download(
        &self,
        package: &Package,
        file: &PackageFile,
        folder: &Path,
        environment: &Environment,
    ) -> Result<Keeper, ServerError> {
        let request = match self.client {
            Client::Pip => pip::request(package, file, folder),
            Client::Npm => npm::request(package, file, folder),
        };
        let own = self.arguments.iter().copied().map(OsString::from);
        let shown = request.shown.iter().map(OsString::from);
        let arguments: Vec<OsString> = iter::once(self.program.clone().into_os_string())
            .chain(own.chain(shown).chain(request.hidden))
            .collect();
        let words: Vec<&str> = self
            .arguments
            .iter()
            .copied()
            .chain(request.shown.iter().map(String::as_str))
            .collect();
        let command = format!("{} {}", self.program.display(), words.join(" "));

        let account = Account::caller();
        let mut keeper = Keeper::start(Duty::Download, folder, &arguments, account, environment)
            .map_err(ServerErrorKind::Keeper)?;
        let downloading = async {
            keeper.reach(Stage::Made).await;
            // A keeper that died meanwhile is noticed next.
            let _ = keeper.send("");
            keeper.reach(Stage::Going).await
        };
        let stage = tokio::time::timeout(DOWNLOAD_LIMIT, downloading)
            .await
            .map_err(|_| ServerErrorKind::ClientTooSlow {
                command: command.clone(),
                limit: DOWNLOAD_LIMIT,
            })?;
        if stage != Stage::Going {
            return Err(self.failure(command, keeper.last_words(), folder).into());
        }
        if !folder.join(&file.file).is_file() {
            return Err(ServerErrorKind::OtherFile {
                client: self.client,
                command,
                file: file.file.clone(),
            }
            .into());
        }
        Ok(keeper)
    }

    /// Why a download failed, as far as it can be told from what the client said.
    fn failure(&self, command: String, said: String, folder: &Path) -> ServerErrorKind {
        const UNREACHABLE: &[&str] = &[
            "name resolution",
            "NewConnectionError",
            "ConnectTimeoutError",
            "Network is unreachable",
            "EAI_AGAIN",
            "ENOTFOUND",
            "ENETUNREACH",
            "ECONNREFUSED",
            "ECONNRESET",
            "ETIMEDOUT",
        ];
        // The last is pip's; it says so too when it could not ask, which is looked for first.
        const GONE: &[&str] = &["E404", "ETARGET", "No matching distribution"];
        let says = |any: &[&str]| any.iter().any(|part| said.contains(part));
        let client = self.client;
        if says(&["No space left on device", "ENOSPC", "EDQUOT"]) {
            let path = folder.parent().unwrap_or(folder).to_owned();
            ServerErrorKind::DiskFull { path }
        } else if says(UNREACHABLE) {
            ServerErrorKind::Offline { command, said }
        } else if says(GONE) {
            ServerErrorKind::PackageGone {
                client,
                command,
                said,
            }
        } else {
            ServerErrorKind::ClientFailed {
                client,
                command,
                said,
            }
        }
    }
}

async fn version(
    program: &Path,
    arguments: &[&str],
    environment: &Environment,
) -> io::Result<Output> {
    Command::new(program)
        .args(arguments)
        .arg("--version")
        // npm is a script whose interpreter is looked for there.
        .env("PATH", environment.search_path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
}
