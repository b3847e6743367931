//! What `auto` chooses: what is at hand already, and what has to be fetched only then.

use super::pins::Pin;
use super::progress::Progress;
use super::provider::{Environment, StartError, start_embedded};
use super::running::Server;

/// Starts a server in a container where an engine has the image, else an embedded one where its
/// programs are there; else in a container if the image can be pulled, else an embedded one after
/// all.
///
/// A container that cannot be had is no failure: it is told, and the server is an embedded one.
pub(super) async fn start(
    pin: &Pin,
    environment: &Environment,
    report: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Server, StartError> {
    #[cfg(feature = "container")]
    match containers::start(pin, environment, report).await {
        Ok(server) => return Ok(server),
        Err(choice) => report(Progress::Chosen(choice)),
    }
    start_embedded(pin, &environment.embedded, report).await
}

#[cfg(feature = "container")]
mod containers {
    use std::time::Duration;

    use super::super::container::{self, ContainerError, ContainerErrorKind, Data, Engine};
    use super::super::embedded;
    use super::super::progress::Choice;
    use super::{Environment, Pin, Progress, Server};

    /// How long an engine may take to answer; one that runs takes a few milliseconds.
    const ANSWER_LIMIT: Duration = Duration::from_secs(2);

    /// How long an image's registry may take to say whether it has it.
    const OFFER_LIMIT: Duration = Duration::from_secs(5);

    /// A server in a container, or why it is to be an embedded one.
    pub(super) async fn start(
        pin: &Pin,
        environment: &Environment,
        report: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Server, Choice> {
        let found = Engine::find(environment.docker_host.as_deref(), ANSWER_LIMIT).await;
        let engine = found.map_err(|error| embedded_since(&error))?;
        let image = pin.image().to_string();
        let has_image = engine.image(&image).await;
        if has_image.map_err(|error| embedded_since(&error))?.is_none() {
            if embedded::is_at_hand(pin, &environment.embedded).await {
                return Err(Choice {
                    provider: "embedded",
                    why: format!("the container engine does not have {image}"),
                    is_surprising: false,
                });
            }
            let offered = engine.offers(&image, OFFER_LIMIT).await;
            offered.map_err(|error| embedded_since(&error))?;
        }
        report(Progress::Chosen(Choice {
            provider: "container",
            why: image,
            is_surprising: false,
        }));
        container::start(&engine, pin, &[], Data::InMemory, report)
            .await
            .map(Server::Container)
            .map_err(|error| embedded_since(&error))
    }

    fn embedded_since(error: &ContainerError) -> Choice {
        let is_usual = matches!(error.kind(), ContainerErrorKind::NoEngine { .. });
        Choice {
            provider: "embedded",
            why: if is_usual {
                "no container engine answers".to_owned()
            } else {
                error.to_string()
            },
            is_surprising: !is_usual,
        }
    }
}
