//! The embedded provider on platforms where it does not run yet: it says so.

use std::path::{Path, PathBuf};

use super::at_hand::{AtHand, Survey};
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind};
use super::progress::Reporter;
use super::pruned::Pruned;
use crate::scenario::Shutdown;
use crate::server::{Endpoint, Pin, Pins, Release};

/// A server that cannot be had here.
#[derive(Debug)]
pub enum Server {}

/// Fetches nothing.
///
/// # Errors
///
/// Always: [`ServerErrorKind::OtherPlatform`].
pub async fn fetch(_: &Pin, _: &Environment, _: Reporter<'_>) -> Result<PathBuf, ServerError> {
    Err(ServerErrorKind::OtherPlatform.into())
}

/// Prepares nothing.
///
/// # Errors
///
/// Always: [`ServerErrorKind::OtherPlatform`].
pub async fn prepare(_: &Pin, _: &Environment, _: Reporter<'_>) -> Result<PathBuf, ServerError> {
    Err(ServerErrorKind::OtherPlatform.into())
}

/// Starts nothing.
///
/// # Errors
///
/// Always: [`ServerErrorKind::OtherPlatform`].
pub async fn start(_: &Pin, _: &Environment, _: Reporter<'_>) -> Result<Server, ServerError> {
    Err(ServerErrorKind::OtherPlatform.into())
}

/// Starts nothing.
///
/// # Errors
///
/// Always: [`ServerErrorKind::OtherPlatform`].
pub async fn start_installed(
    _: Release,
    _: &Path,
    _: &Environment,
    _: &[(String, String)],
    _: Reporter<'_>,
) -> Result<Server, ServerError> {
    Err(ServerErrorKind::OtherPlatform.into())
}

/// Finds nothing at hand.
pub async fn survey(pins: &Pins, environment: &Environment) -> Survey {
    let releases = pins.iter().map(|pin| (pin.release, AtHand::NoPackage));
    Survey {
        cache: environment.cache.clone().unwrap_or_default(),
        bytes: 0,
        clients: Vec::new(),
        releases: releases.collect(),
    }
}

/// Removes nothing.
///
/// # Errors
///
/// Always: [`ServerErrorKind::OtherPlatform`].
pub async fn prune(_: &Pins, _: &Environment, _: bool) -> Result<Pruned, ServerError> {
    Err(ServerErrorKind::OtherPlatform.into())
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        match *self {}
    }

    /// The superuser that Lockstep itself uses.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        match *self {}
    }

    /// The role of everything a scenario brings.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        match *self {}
    }

    /// Why the server has ended by itself.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        match *self {}
    }

    /// Waits until the server has ended by itself.
    pub async fn wait_for_failure(&self) -> String {
        match *self {}
    }

    /// Restarts the server.
    ///
    /// # Errors
    ///
    /// None: there is no server.
    pub async fn restart(&mut self, _: Shutdown) -> Result<(), ServerError> {
        match *self {}
    }

    /// Ends the server.
    pub async fn stop(self) {
        match self {}
    }
}
