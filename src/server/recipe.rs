//! How a server was started, to start another one like it.

use std::path::PathBuf;

#[cfg(feature = "container")]
use super::container::{self, Data, Engine};
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

/// What a server needs besides, so that what was committed survives its death. Flushing to the disk
/// is not among it: the machine stays up, and what was written is in the system's hands.
const LASTING: &[(&str, &str)] = &[("full_page_writes", "on")];

impl Recipe {
    /// Starts one more, with settings that the others do not have. Their names must be among
    /// [`crate::scenario::SERVER_SETTINGS`].
    ///
    /// # Errors
    ///
    /// When none can be had; a server that does not take a setting says so in the error.
    pub async fn start(&self, settings: &[(String, String)]) -> Result<Server, StartError> {
        self.start_with(settings, false).await
    }

    /// Starts one as [`Recipe::start`] does that keeps all committed work when it is restarted with
    /// [`Server::restart`], however it is shut down.
    ///
    /// # Errors
    ///
    /// As [`Recipe::start`].
    pub async fn start_restartable(
        &self,
        settings: &[(String, String)],
    ) -> Result<Server, StartError> {
        let lasting = LASTING.iter();
        let lasting = lasting.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: Vec<_> = lasting.chain(settings.iter().cloned()).collect();
        self.start_with(&settings, true).await
    }

    // What could be told of was done for the first server.
    async fn start_with(
        &self,
        settings: &[(String, String)],
        #[cfg_attr(not(feature = "container"), expect(unused_variables))] is_restartable: bool,
    ) -> Result<Server, StartError> {
        match &self.0 {
            #[cfg(feature = "container")]
            Kind::Container { engine, pin } => {
                // What is in memory is gone when the container stops.
                let data = if is_restartable {
                    Data::InVolume
                } else {
                    Data::InMemory
                };
                let server = container::start(engine, pin, settings, data, &|_| ()).await?;
                Ok(Server::Container(server))
            }
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
