//! How a server was started, to start another one like it.

use std::path::PathBuf;

#[cfg(feature = "container")]
use super::container::{self, Engine};
use super::embedded::{self, Environment};
#[cfg(feature = "container")]
use super::pins::Pin;
use super::provider::StartError;
use super::release::Release;
use super::running::Server;

/// How a server was started: the same provider and release give a case a server of its own.
#[derive(Debug, Clone)]
pub struct Recipe(pub(super) Kind);

/// What was started, by provider.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A container.
    #[cfg(feature = "container")]
    Container {
        /// The engine it runs on.
        engine: Engine,
        /// The release.
        pin: Pin,
    },
    /// Programs that Lockstep runs by itself.
    Embedded {
        /// The release.
        release: Release,
        /// The folder of its programs.
        programs: PathBuf,
        /// The machine.
        environment: Environment,
    },
}

impl Recipe {
    /// Starts one more, with settings that the others do not have. Their names must be among
    /// [`crate::scenario::SERVER_SETTINGS`].
    ///
    /// # Errors
    ///
    /// When none can be had; a server that does not take a setting says so in the error.
    pub async fn start(&self, settings: &[(String, String)]) -> Result<Server, StartError> {
        // What could be told of was done for the first server.
        match &self.0 {
            #[cfg(feature = "container")]
            Kind::Container { engine, pin } => Ok(Server::Container(
                container::start(engine, pin, settings, &|_| ()).await?,
            )),
            Kind::Embedded {
                release,
                programs,
                environment,
            } => Ok(Server::Embedded(
                embedded::start_installed(*release, programs, environment, settings, &|_| ())
                    .await?,
            )),
        }
    }
}
