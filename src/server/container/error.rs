//! Why a server in a container could not be had, and what to do about it.

use std::time::Duration;

use crate::server::Release;

/// Why a server in a container could not be had.
///
/// The message is a fragment that reads well after "failed to start PostgreSQL 18.6: ";
/// [`ContainerError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ContainerError(Box<ContainerErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ContainerErrorKind {
    #[error("no container engine answers at {address}: {why}")]
    NoEngine { address: String, why: String },
    #[error("the container engine at {address} did not answer within {} s", limit.as_secs())]
    SilentEngine { address: String, limit: Duration },
    #[error("the container engine at {address} is on another machine")]
    Remote { address: String },
    #[error("the image {image} cannot be pulled: {why}")]
    NoImage { image: String, why: String },
    #[error("the image {image} holds release {found}, not {wanted}")]
    OtherRelease {
        image: String,
        found: Release,
        wanted: Release,
    },
    #[error("the container engine {what}: {why}")]
    Engine { what: &'static str, why: String },
    #[error("the container ended before its server was ready{}", log_lines(log))]
    Ended { log: String },
    #[error("the container's server was not ready within {} s{}", limit.as_secs(), log_lines(log))]
    TooSlow { limit: Duration, log: String },
    #[error("the container's server is ready, and its port {port} on 127.0.0.1 does not answer")]
    Silent { port: u16 },
    #[error("the container engine published the server's port on {address}, not on 127.0.0.1")]
    Open { address: String },
    #[error("the container's server does not let Lockstep in: {0}")]
    Refused(String),
}

/// What can be done where no container will do.
const EMBEDDED: &str = "`--server embedded` needs no engine";

impl ContainerError {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ContainerErrorKind {
        &self.0
    }

    /// What to do about it; a sentence.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        use ContainerErrorKind as Kind;
        Some(match self.kind() {
            Kind::NoEngine { .. } => format!(
                "Start Docker, or set DOCKER_HOST to the engine's socket (for Podman: \
                 unix://$XDG_RUNTIME_DIR/podman/podman.sock); {EMBEDDED}."
            ),
            Kind::SilentEngine { .. } => {
                format!("See whether `docker version` answers; {EMBEDDED}.")
            }
            Kind::Remote { .. } => format!(
                "A server's port is published on the loopback address of the engine's machine only, \
                 so use an engine on this machine; {EMBEDDED}."
            ),
            Kind::NoImage { image, .. } => format!(
                "See whether `docker pull {image}` works, or load the image from a file; {EMBEDDED}."
            ),
            Kind::OtherRelease { image, .. } => {
                format!("Remove the image and pull it again: `docker rmi {image}`.")
            }
            Kind::Silent { .. } => format!(
                "An engine on another machine, or one that was handed into the container that \
                 Lockstep runs in, publishes ports elsewhere; {EMBEDDED}."
            ),
            Kind::Open { .. } => format!("The container was removed at once; {EMBEDDED}."),
            Kind::Engine { .. } | Kind::Ended { .. } | Kind::TooSlow { .. } | Kind::Refused(_) => {
                format!("If it comes back, {EMBEDDED}.")
            }
        })
    }
}

impl From<ContainerErrorKind> for ContainerError {
    fn from(kind: ContainerErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

fn log_lines(log: &str) -> String {
    if log.trim().is_empty() {
        String::new()
    } else {
        format!("; it said:\n{}", log.trim_end())
    }
}
