//! A running server, whoever provides it.

#[cfg(feature = "container")]
use super::container;
use super::embedded;
use super::endpoint::Endpoint;
use super::external;
use super::recipe::{Kind, Recipe};
use super::release::Release;
use crate::scenario::Shutdown;

/// Why a server was not restarted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestartError {
    /// The container did not do it.
    #[cfg(feature = "container")]
    #[error(transparent)]
    Container(#[from] container::ContainerError),
    /// The server did not do it.
    #[error(transparent)]
    Embedded(#[from] embedded::ServerError),
    /// The server is somebody else's.
    #[error("an external server cannot be restarted")]
    External,
}

/// A running server, whoever provides it. It ends when it is stopped or dropped.
#[derive(Debug)]
pub enum Server {
    /// A container.
    #[cfg(feature = "container")]
    Container(container::Server),
    /// Programs that Lockstep runs by itself.
    Embedded(embedded::Server),
    /// A server that somebody else runs.
    External(external::Server),
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => server.release(),
            Self::Embedded(server) => server.release(),
            Self::External(server) => server.release(),
        }
    }

    /// The role that Lockstep itself uses. Nothing that a scenario brings may run as it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => server.endpoint(),
            Self::Embedded(server) => server.endpoint(),
            Self::External(server) => server.endpoint(),
        }
    }

    /// The role of everything a scenario brings; cases log in as members of it.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => server.scripted_endpoint(),
            Self::Embedded(server) => server.scripted_endpoint(),
            Self::External(server) => server.scripted_endpoint(),
        }
    }

    /// How it was started, to start another one like it; `None` where somebody else did.
    #[must_use]
    pub fn recipe(&self) -> Option<Recipe> {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => Some(Recipe(Kind::Container {
                engine: server.engine().clone(),
                pin: server.pin().clone(),
            })),
            Self::Embedded(server) => Some(Recipe(Kind::Embedded {
                release: server.release(),
                programs: server.programs().to_owned(),
                environment: server.environment().clone(),
            })),
            Self::External(_) => None,
        }
    }

    /// Why the server has ended by itself; `None` while it runs.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => server.failed(),
            Self::Embedded(server) => server.failed(),
            Self::External(server) => server.failed(),
        }
    }

    /// The end of the server's log, where it can be had.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        match self {
            // What a container has said is only known once it has ended.
            #[cfg(feature = "container")]
            Self::Container(_) => None,
            Self::Embedded(server) => Some(server.last_words()),
            Self::External(_) => None,
        }
    }

    /// Shuts the server down and starts it again, on the same data. Returns when it takes
    /// connections again, after recovery if it needs any; the endpoints may have changed then. Only
    /// a server from [`Recipe::start_restartable`] keeps all committed work in a
    /// [`Shutdown::Immediate`].
    ///
    /// # Errors
    ///
    /// The server does not shut down, or not start again: its last words. One that somebody else
    /// runs is not Lockstep's to restart.
    pub async fn restart(&mut self, how: Shutdown) -> Result<(), RestartError> {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => Ok(server.restart(how).await?),
            Self::Embedded(server) => Ok(server.restart(how).await?),
            Self::External(_) => Err(RestartError::External),
        }
    }

    /// What is worth knowing about the server before the results.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        match self {
            #[cfg(feature = "container")]
            Self::Container(_) => &[],
            Self::Embedded(_) => &[],
            Self::External(server) => server.notes(),
        }
    }

    /// Ends the server, or the use of it, and removes what the run has left.
    ///
    /// # Errors
    ///
    /// What could not be removed, and why.
    pub async fn stop(self) -> Result<(), String> {
        match self {
            #[cfg(feature = "container")]
            Self::Container(server) => server.stop().await,
            Self::Embedded(server) => {
                server.stop().await;
                Ok(())
            }
            Self::External(server) => server.stop().await,
        }
    }
}
