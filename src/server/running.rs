//! A running server, whoever provides it.

use super::embedded;
use super::endpoint::Endpoint;
use super::recipe::Recipe;
use super::release::Release;

/// A running server, whoever provides it. It ends when it is stopped or dropped.
#[derive(Debug)]
pub enum Server {
    /// Programs that Lockstep runs by itself.
    Embedded(embedded::Server),
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        match self {
            Self::Embedded(server) => server.release(),
        }
    }

    /// The role that Lockstep itself uses. Nothing that a scenario brings may run as it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Embedded(server) => server.endpoint(),
        }
    }

    /// The role of everything a scenario brings; cases log in as members of it.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        match self {
            Self::Embedded(server) => server.scripted_endpoint(),
        }
    }

    /// How it was started, to start another one like it.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        match self {
            Self::Embedded(server) => Recipe::Embedded {
                pin: server.pin().clone(),
                environment: server.environment().clone(),
            },
        }
    }

    /// Why the server has ended by itself; `None` while it runs.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        match self {
            Self::Embedded(server) => server.failed(),
        }
    }

    /// Ends the server and removes what it has left.
    pub async fn stop(self) {
        match self {
            Self::Embedded(server) => server.stop().await,
        }
    }
}
