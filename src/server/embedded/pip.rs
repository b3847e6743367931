//! Python's package client.

use std::ffi::OsString;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::account::Account;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind};
use super::keeper::{Duty, Keeper, Stage};
use crate::server::{Package, PackageFile};

/// How long pip may take to tell its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long a download may take: 14 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// A way to call pip.
pub(super) struct Pip {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Pip {
    /// The first that answers.
    pub(super) async fn find(environment: &Environment) -> Option<Self> {
        const WAYS: [(&str, &[&str]); 4] = [
            ("pip", &[]),
            ("pip3", &[]),
            ("python3", &["-m", "pip"]),
            ("python", &["-m", "pip"]),
        ];
        for (name, arguments) in WAYS {
            for program in environment.programs(name) {
                let pip = Self { program, arguments };
                let answer = tokio::time::timeout(ANSWER_LIMIT, pip.run(&["--version"])).await;
                if answer.is_ok_and(|output| output.is_ok_and(|output| output.status.success())) {
                    return Some(pip);
                }
            }
        }
        None
    }

    async fn run(&self, arguments: &[&str]) -> io::Result<Output> {
        Command::new(&self.program)
            .args(self.arguments)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
    }

    /// Downloads a package's file into a folder that is not there yet, and that goes with what is
    /// returned: a client must not outlive the run either.
    pub(super) async fn download(
        &self,
        package: &Package,
        file: &PackageFile,
        folder: &Path,
        environment: &Environment,
    ) -> Result<Keeper, ServerError> {
        // The platform is named, so that a pip too old to know the tag finds the file too.
        let wanted = format!("{}=={}", package.name, package.version);
        let download = ["download", "--no-deps", "--only-binary=:all:", "--platform"];
        let quiet = [
            "--no-input",
            "--disable-pip-version-check",
            "--progress-bar=off",
        ];
        let command: Vec<&str> = [self.arguments, &download, &[&file.tag, &wanted]].concat();
        let shown = format!("{} {}", self.program.display(), command.join(" "));
        let arguments: Vec<OsString> = iter::once(self.program.clone().into_os_string())
            .chain(command.iter().chain(&quiet).map(OsString::from))
            .collect();

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
                command: shown.clone(),
                limit: DOWNLOAD_LIMIT,
            })?;
        if stage != Stage::Going {
            let said = keeper.last_words();
            let path = folder.parent().unwrap_or(folder).to_owned();
            return Err(if said.contains("No space left on device") {
                ServerErrorKind::DiskFull { path }
            } else {
                ServerErrorKind::ClientFailed {
                    command: shown,
                    said,
                }
            }
            .into());
        }
        if !folder.join(&file.file).is_file() {
            return Err(ServerErrorKind::OtherFile {
                command: shown,
                file: file.file.clone(),
            }
            .into());
        }
        Ok(keeper)
    }
}
