//! Fetching a release with the user's own package client.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cache::SERVERS;
use super::client::PackageClient;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind, in_cache};
use super::programs;
use super::progress::{Progress, Reporter};
use super::unpack::{unpack_tarball, unpack_wheel};
use super::workshop::Workshop;
use crate::server::{Client, PackageFile, Pin, this_platform};

/// Where the programs of a fetched release are, for a release that has a package.
pub(super) fn programs_folder(pin: &Pin, cache: &Path) -> Option<PathBuf> {
    let package = pin.package.as_ref()?;
    Some(place(pin, cache)?.join(&package.root).join("bin"))
}

/// The folder of a fetched release, for a release that has a package.
pub(super) fn place(pin: &Pin, cache: &Path) -> Option<PathBuf> {
    let package = pin.package.as_ref()?;
    Some(cache.join(SERVERS).join(format!(
        "{}-{}-{}-{}",
        pin.release,
        package.name.replace('/', "-"),
        package.version,
        this_platform()
    )))
}

/// Downloads, checks and unpacks a release into the cache, unless another run just did.
pub(super) async fn fetch(
    pin: &Pin,
    cache: &Path,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<(), ServerError> {
    let no_package = || ServerErrorKind::NoPackage {
        release: pin.release,
        platform: this_platform(),
    };
    let package = pin.package.as_ref().ok_or_else(no_package)?;
    let file = package.file_for_this_platform().ok_or_else(no_package)?;
    let place = place(pin, cache).ok_or_else(no_package)?;
    let workshop = Workshop::enter(cache, &place, report).await?;
    let bin = Path::new(&package.root).join("bin");
    if place.join(&bin).join("postgres").is_file() {
        return Ok(());
    }
    let client = PackageClient::find(package.client, environment)
        .await
        .ok_or(ServerErrorKind::NoClient {
            client: package.client,
            release: pin.release,
        })?;

    report(Progress::Fetching {
        release: pin.release,
        megabytes: file.megabytes,
    });
    let bench = workshop.unfinished();
    let kept = client.download(package, file, &bench, environment).await?;

    report(Progress::Unpacking(pin.release));
    let unpacked = bench.join("unpacked");
    let (from, to, pinned) = (bench.join(&file.file), unpacked.clone(), file.clone());
    let unpack = match package.client {
        Client::Pip => unpack_wheel,
        Client::Npm => unpack_tarball,
    };
    super::blocking(move || {
        check(&from, &pinned)?;
        unpack(&from, &to, &pinned.file)
    })
    .await?;
    let program = unpacked.join(&bin).join("postgres");
    let found = programs::version(&program).await?;
    if found != pin.release {
        return Err(ServerErrorKind::OtherRelease {
            program,
            found,
            wanted: pin.release,
        }
        .into());
    }
    workshop.publish(&unpacked)?;
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
