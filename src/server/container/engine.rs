//! The container engine: Docker, or what answers as Docker does.

use std::error::Error;
use std::time::Duration;

use futures_util::StreamExt;
use testcontainers_modules::testcontainers::TestcontainersError;
use testcontainers_modules::testcontainers::bollard::Docker;
use testcontainers_modules::testcontainers::bollard::container::LogOutput;
use testcontainers_modules::testcontainers::bollard::errors::Error as EngineError;
use testcontainers_modules::testcontainers::bollard::models::ImageInspect;
use testcontainers_modules::testcontainers::bollard::query_parameters::{
    LogsOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers_modules::testcontainers::core::client::docker_client_instance;
use testcontainers_modules::testcontainers::core::error::ClientError;
use testcontainers_modules::testcontainers::runners::AsyncRunner;

use super::error::{ContainerError, ContainerErrorKind};
use super::request;

/// How long pulling an image may take.
const PULL_LIMIT: Duration = Duration::from_secs(15 * 60);

/// How much of a log is shown.
const LAST_LINES: &str = "20";

/// A container engine that answers.
#[derive(Debug, Clone)]
pub(in crate::server) struct Engine {
    docker: Docker,
}

impl Engine {
    /// Finds the engine that `DOCKER_HOST`, which is given here to be named in messages, or one of
    /// the usual sockets leads to. It must answer within the limit.
    pub(in crate::server) async fn find(
        docker_host: Option<&str>,
        limit: Duration,
    ) -> Result<Self, ContainerError> {
        let address = docker_host.unwrap_or("the usual sockets").to_owned();
        if docker_host.is_some_and(|host| !is_on_this_machine(host)) {
            return Err(ContainerErrorKind::Remote { address }.into());
        }
        let none = |why: String| ContainerErrorKind::NoEngine {
            address: address.clone(),
            why,
        };
        let docker = docker_client_instance()
            .await
            .map_err(|error| none(error.to_string()))?;
        tokio::time::timeout(limit, docker.ping())
            .await
            .map_err(|_| ContainerErrorKind::SilentEngine {
                address: address.clone(),
                limit,
            })?
            .map_err(|error| none(said(&error)))?;
        Ok(Self { docker })
    }

    pub(super) fn docker(&self) -> &Docker {
        &self.docker
    }

    /// What the engine knows of an image, if it has it.
    pub(in crate::server) async fn image(
        &self,
        image: &str,
    ) -> Result<Option<ImageInspect>, ContainerError> {
        match self.docker.inspect_image(image).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failed("cannot tell its images")(error)),
        }
    }

    /// Asks whether an image could be pulled.
    pub(in crate::server) async fn offers(
        &self,
        image: &str,
        limit: Duration,
    ) -> Result<(), ContainerError> {
        let no = |why| ContainerErrorKind::NoImage {
            image: image.to_owned(),
            why,
        };
        tokio::time::timeout(limit, self.docker.inspect_registry_image(image, None))
            .await
            .map_err(|_| no(format!("its registry is silent for {} s", limit.as_secs())))?
            .map_err(|error| no(said(&error)))?;
        Ok(())
    }

    /// Pulls an image, with the credentials that the user has stored for its registry.
    pub(super) async fn pull(&self, image: &str) -> Result<ImageInspect, ContainerError> {
        let no = |why| ContainerErrorKind::NoImage {
            image: image.to_owned(),
            why,
        };
        // What it gives is the request again.
        let _ = tokio::time::timeout(PULL_LIMIT, request::image(image).pull_image())
            .await
            .map_err(|_| no(format!("not done within {} s", PULL_LIMIT.as_secs())))?
            .map_err(|error| match error {
                TestcontainersError::Client(ClientError::PullImage { err, .. }) => no(said(&err)),
                other => no(other.to_string()),
            })?;
        self.image(image)
            .await?
            .ok_or_else(|| no("the engine does not have it afterwards".to_owned()).into())
    }

    /// Removes a container and its volumes, whatever it is doing. One that is not there is no error.
    pub(super) async fn remove(&self, container: &str) -> Result<(), EngineError> {
        let options = RemoveContainerOptionsBuilder::new()
            .force(true)
            .v(true)
            .build();
        match self.docker.remove_container(container, Some(options)).await {
            Err(error) if !is_absent(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// The end of a container's log.
    pub(super) async fn last_words(&self, container: &str) -> String {
        self.log(container)
            .await
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Whether a container's server has said on standard error that it is ready, as it does once
    /// it accepts connections from outside.
    pub(super) async fn is_ready(&self, container: &str) -> bool {
        self.log(container).await.iter().any(|piece| {
            matches!(piece, LogOutput::StdErr { .. })
                && piece.to_string().contains("ready to accept connections")
        })
    }

    async fn log(&self, container: &str) -> Vec<LogOutput> {
        let options = LogsOptionsBuilder::new()
            .stdout(true)
            .stderr(true)
            .tail(LAST_LINES)
            .build();
        self.docker
            .logs(container, Some(options))
            .filter_map(async |piece| piece.ok())
            .collect()
            .await
    }
}

/// Says what the engine could not do.
pub(super) fn failed(what: &'static str) -> impl FnOnce(EngineError) -> ContainerError {
    move |error| {
        ContainerErrorKind::Engine {
            what,
            why: said(&error),
        }
        .into()
    }
}

/// What an error says, with its causes.
fn said(error: &EngineError) -> String {
    if let EngineError::DockerResponseServerError { message, .. } = error {
        return message.trim().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

fn is_absent(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::DockerResponseServerError {
            status_code: 404,
            ..
        }
    )
}

/// Whether what is published on the loopback address of an engine can be reached from here.
fn is_on_this_machine(docker_host: &str) -> bool {
    let Some((scheme, rest)) = docker_host.split_once("://") else {
        // It is refused for what it is.
        return true;
    };
    if matches!(scheme, "unix" | "npipe") {
        return true;
    }
    let authority = rest.split('/').next().unwrap_or(rest);
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    };
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_of_other_machines_are_told_apart() {
        for here in [
            "unix:///var/run/docker.sock",
            "unix:///run/user/1000/podman/podman.sock",
            "npipe:////./pipe/docker_engine",
            "tcp://localhost:2375",
            "tcp://127.0.0.1:2375",
            "http://[::1]:2375/",
        ] {
            assert!(is_on_this_machine(here), "{here}");
        }
        for elsewhere in [
            "tcp://docker:2375",
            "tcp://10.0.0.1:2376",
            "https://engine.example",
            "ssh://me@engine.example",
            "tcp://[fd00::2]:2375",
        ] {
            assert!(!is_on_this_machine(elsewhere), "{elsewhere}");
        }
    }
}
