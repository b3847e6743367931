//! How a server was started, to start another one like it.

use std::path::PathBuf;

use super::embedded::{self, Environment};
use super::provider::StartError;
use super::release::Release;
use super::running::Server;

/// How a server was started: the same provider and release give a case a server of its own.
#[derive(Debug, Clone)]
pub enum Recipe {
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
        match self {
            Self::Embedded {
                release,
                programs,
                environment,
            } => Ok(Server::Embedded(
                // What could be told of was done for the first server.
                embedded::start_installed(*release, programs, environment, settings, &|_| ())
                    .await?,
            )),
        }
    }
}
