//! A running server, whoever provides it.

use super::embedded;
use super::endpoint::Endpoint;
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

    /// The role of everything a scenario brings.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        match self {
            Self::Embedded(server) => server.scripted_endpoint(),
        }
    }

    /// Why the server has ended by itself; `None` while it runs.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        match self {
            Self::Embedded(server) => server.failed(),
        }
    }

    /// Waits until the server has ended by itself, and says why.
    pub async fn wait_for_failure(&self) -> String {
        match self {
            Self::Embedded(server) => server.wait_for_failure().await,
        }
    }

    /// The end of the server's log, where it can be had.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        match self {
            Self::Embedded(server) => Some(server.last_words()),
        }
    }

    /// Ends the server and removes what it has left.
    pub async fn stop(self) {
        match self {
            Self::Embedded(server) => server.stop().await,
        }
    }
}
