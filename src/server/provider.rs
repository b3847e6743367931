//! Where a release runs, as the user names it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::embedded::{self, Environment, Progress};
use super::external::{self, ConnectionUrl, ExternalError, WantedRelease, redact};
use super::local::{Local, LocalError};
use super::pins::Pin;
use super::running::Server;

/// Where a release runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Provider {
    /// Whatever is at hand.
    #[default]
    Auto,
    /// Programs that Lockstep fetches and runs by itself.
    Embedded,
    /// Programs that the user names: the folder they are in, or the one above it.
    Local(PathBuf),
    /// A server that somebody else runs.
    External(ConnectionUrl),
}

impl FromStr for Provider {
    type Err = ParseProviderError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "embedded" => Ok(Self::Embedded),
            other => match other.strip_prefix("local:") {
                Some(directory) if !directory.is_empty() => Ok(Self::Local(directory.into())),
                _ => ConnectionUrl::from_text(other)
                    .map(Self::External)
                    .ok_or_else(|| ParseProviderError(redact(other))),
            },
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Embedded => f.write_str("embedded"),
            Self::Local(directory) => write!(f, "local:{}", directory.display()),
            Self::External(url) => url.fmt(f),
        }
    }
}

/// A text that names no provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no server provider: write `auto`, `embedded`, `local:DIR` or a connection URL")]
pub struct ParseProviderError(String);

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedded provider could not start one.
    #[error(transparent)]
    Embedded(#[from] embedded::ServerError),
    /// The programs that the user named are not what was asked for.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A server that somebody else runs cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
}

impl StartError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Embedded(error) => error.help(),
            Self::Local(error) => error.help(),
            Self::External(error) => error.help(),
        }
    }

    /// Whether the command line is to be changed, rather than the machine or the server.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        match self {
            Self::Embedded(_) => false,
            Self::Local(error) => error.is_mistake(),
            Self::External(error) => error.is_mistake(),
        }
    }
}

/// Starts a server of a pinned release. Programs that the user names must be that release, and an
/// external server must run it; [`external::start`] takes what it runs.
///
/// # Errors
///
/// When none can be had; [`StartError::help`] says what to do.
pub async fn start(
    provider: &Provider,
    pin: &Pin,
    environment: &Environment,
    report: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Server, StartError> {
    match provider {
        Provider::Auto | Provider::Embedded => Ok(Server::Embedded(
            embedded::start(pin, environment, report).await?,
        )),
        Provider::Local(directory) => {
            let local = Local::find(directory).await?;
            local.must_be(pin.release)?;
            Ok(Server::Embedded(
                embedded::start_installed(pin.release, local.programs(), environment, &[], report)
                    .await?,
            ))
        }
        Provider::External(url) => {
            let asked = Some(WantedRelease::Exact(pin.release));
            let server = external::start(url, asked, &external::Environment::default()).await?;
            Ok(Server::External(server))
        }
    }
}
