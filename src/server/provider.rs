//! Where a release runs, as the user names it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::auto;
#[cfg(feature = "container")]
use super::container::{self, ContainerError, Data, Engine};
use super::embedded;
use super::external::{self, ConnectionUrl, ExternalError, WantedRelease, redact};
use super::local::{Local, LocalError};
use super::pins::Pin;
use super::progress::Progress;
use super::running::Server;

/// How long an engine that was asked for may take to answer. One that is started by the first call
/// takes a few seconds.
#[cfg(feature = "container")]
const ENGINE_LIMIT: std::time::Duration = std::time::Duration::from_secs(15);

/// Where a release runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Provider {
    /// Whatever is at hand: a container engine that has the image, programs that were fetched
    /// before, then whatever can be fetched.
    #[default]
    Auto,
    /// A container of the release's image.
    #[cfg(feature = "container")]
    Container,
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
            #[cfg(feature = "container")]
            "container" => Ok(Self::Container),
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
            #[cfg(feature = "container")]
            Self::Container => f.write_str("container"),
            Self::Embedded => f.write_str("embedded"),
            Self::Local(directory) => write!(f, "local:{}", directory.display()),
            Self::External(url) => url.fmt(f),
        }
    }
}

/// A text that names no provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(
    feature = "container",
    error(
        "`{0}` is no server provider: write `auto`, `container`, `embedded`, `local:DIR` or a \
         connection URL"
    )
)]
#[cfg_attr(
    not(feature = "container"),
    error(
        "`{0}` is no server provider: write `auto`, `embedded`, `local:DIR` or a connection URL"
    )
)]
pub struct ParseProviderError(String);

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The container provider could not start one.
    #[cfg(feature = "container")]
    #[error(transparent)]
    Container(#[from] ContainerError),
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
            #[cfg(feature = "container")]
            Self::Container(error) => error.help(),
            Self::Embedded(error) => error.help(),
            Self::Local(error) => error.help(),
            Self::External(error) => error.help(),
        }
    }

    /// Whether the command line is to be changed, rather than the machine or the server.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        match self {
            #[cfg(feature = "container")]
            Self::Container(_) => false,
            Self::Embedded(_) => false,
            Self::Local(error) => error.is_mistake(),
            Self::External(error) => error.is_mistake(),
        }
    }
}

/// What the providers have to know of the machine: the command line fills it from the environment
/// variables, which nobody else of Lockstep reads.
#[derive(Debug, Clone)]
pub struct Environment {
    /// What the embedded provider has to know.
    pub embedded: embedded::Environment,
    /// `DOCKER_HOST`: the container engine's address. The client library reads it by itself; here
    /// it is what messages name.
    pub docker_host: Option<String>,
    /// What a connection URL leaves out.
    pub external: external::Environment,
}

impl From<embedded::Environment> for Environment {
    /// With the default container engine, and nothing that a connection URL leaves out.
    fn from(embedded: embedded::Environment) -> Self {
        Self {
            embedded,
            docker_host: None,
            external: external::Environment::default(),
        }
    }
}

/// Starts a server of a pinned release; of programs that the user names, if they are that release.
/// An external one must run it; [`external::start`] takes what it runs.
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
        Provider::Auto => auto::start(pin, environment, report).await,
        #[cfg(feature = "container")]
        Provider::Container => {
            let engine = Engine::find(environment.docker_host.as_deref(), ENGINE_LIMIT).await?;
            Ok(Server::Container(
                container::start(&engine, pin, &[], Data::InMemory, report).await?,
            ))
        }
        Provider::Embedded => start_embedded(pin, &environment.embedded, report).await,
        Provider::Local(directory) => {
            let local = Local::find(directory).await?;
            local.must_be(pin.release)?;
            let report = |progress| report(Progress::Embedded(progress));
            Ok(Server::Embedded(
                embedded::start_installed(
                    pin.release,
                    local.programs(),
                    &environment.embedded,
                    &[],
                    &report,
                )
                .await?,
            ))
        }
        Provider::External(url) => {
            let asked = Some(WantedRelease::Exact(pin.release));
            let server = external::start(url, asked, &environment.external).await?;
            Ok(Server::External(server))
        }
    }
}

/// Starts an embedded server.
pub(super) async fn start_embedded(
    pin: &Pin,
    environment: &embedded::Environment,
    report: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Server, StartError> {
    let report = |progress| report(Progress::Embedded(progress));
    let server = embedded::start(pin, environment, &report).await?;
    Ok(Server::Embedded(server))
}
