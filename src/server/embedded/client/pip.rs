//! Python's package client.

use std::path::Path;

use super::package_client::{Request, Way};
use crate::server::{Package, PackageFile};

/// The ways to call pip, best first.
pub(super) const WAYS: &[Way] = &[
    ("pip", &[]),
    ("pip3", &[]),
    ("python3", &["-m", "pip"]),
    ("python", &["-m", "pip"]),
];

/// How pip is asked for a file, to be put into a folder.
pub(super) fn request(package: &Package, file: &PackageFile, folder: &Path) -> Request {
    // The platform is named, so that a pip too old to know the tag finds the file too.
    let wanted = format!("{}=={}", package.name, package.version);
    let download = ["download", "--no-deps", "--only-binary=:all:", "--platform"];
    Request {
        shown: download
            .into_iter()
            .chain([file.tag.as_str(), wanted.as_str()])
            .map(str::to_owned)
            .collect(),
        hidden: vec![
            "--no-input".into(),
            "--disable-pip-version-check".into(),
            "--progress-bar=off".into(),
            "--dest".into(),
            folder.into(),
        ],
    }
}
