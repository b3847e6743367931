//! The user's own package clients.

mod npm;
mod package_client;
mod pip;

pub(super) use package_client::PackageClient;
