//! Node.js's package client, version 7 or newer.

use std::ffi::OsString;
use std::path::Path;

use super::package_client::{Request, Way};
use crate::server::{Package, PackageFile};

/// The way to call npm.
pub(super) const WAYS: &[Way] = &[("npm", &[])];

/// How npm is asked for a file, to be put into a folder.
pub(super) fn request(package: &Package, file: &PackageFile, folder: &Path) -> Request {
    let wanted = format!("{}/{}@{}", package.name, file.tag, package.version);
    // Its own cache would keep the file once more, and needs a home folder.
    let mut cache = OsString::from("--cache=");
    cache.push(folder.join("npm"));
    Request {
        shown: vec!["pack".to_owned(), wanted],
        hidden: vec![
            "--ignore-scripts".into(),
            "--loglevel=error".into(),
            "--no-progress".into(),
            "--no-update-notifier".into(),
            // By itself it tries for more than a minute where there is no network.
            "--fetch-retries=2".into(),
            "--fetch-retry-mintimeout=500".into(),
            "--fetch-retry-maxtimeout=2000".into(),
            cache,
            "--pack-destination".into(),
            folder.into(),
        ],
    }
}
