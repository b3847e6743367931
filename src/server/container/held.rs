//! A container that is removed with the value that holds it, whatever happens.

use std::fmt;
use std::future::Future;
use std::thread::{self, JoinHandle};

use testcontainers_modules::postgres::Postgres;
use testcontainers_modules::testcontainers::runners::AsyncRunner;
use testcontainers_modules::testcontainers::{ContainerAsync, ContainerRequest};
use tokio::sync::oneshot;

use super::engine::Engine;
use super::error::{ContainerError, ContainerErrorKind};

/// A container. Dropping it removes it and blocks while that takes; prefer [`Held::remove`].
pub(super) struct Held {
    name: String,
    /// `None` once it is being removed.
    container: Option<Box<ContainerAsync<Postgres>>>,
}

impl fmt::Debug for Held {
    /// Leaves the password out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("name", &self.name).finish()
    }
}

impl Held {
    /// The container's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Removes it. Where that fails, the next run tries again.
    pub(super) async fn remove(mut self) -> Result<(), String> {
        let Some(container) = self.container.take() else {
            return Ok(());
        };
        let removed = container.rm().await;
        removed.map_err(|error| format!("the container {}: {error}", self.name))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(container) = self.container.take() {
            // The runtime of the caller may be the one that this blocks, or be gone.
            let _ = elsewhere(async move {
                let _ = container.rm().await;
            })
            .map(JoinHandle::join);
        }
    }
}

/// A container on its way. It is made in a thread of its own, since a call that was broken off
/// would leave it open whether the engine makes it all the same.
struct Birth {
    /// `None` once it is being waited for.
    maker: Option<JoinHandle<()>>,
    /// Dropped before the maker is waited for, so that the maker drops, and removes, what it made.
    made: Option<oneshot::Receiver<Result<Held, ContainerError>>>,
}

impl Drop for Birth {
    fn drop(&mut self) {
        drop(self.made.take());
        if let Some(maker) = self.maker.take() {
            let _ = maker.join();
        }
    }
}

/// Makes and starts a container. When this is dropped before it is done, the container is removed.
pub(super) async fn make(
    engine: &Engine,
    name: &str,
    request: ContainerRequest<Postgres>,
) -> Result<Held, ContainerError> {
    let (sender, receiver) = oneshot::channel();
    let (engine, name) = (engine.clone(), name.to_owned());
    let maker = elsewhere(async move {
        let made = match request.start().await {
            Ok(container) => Ok(Held {
                name,
                container: Some(Box::new(container)),
            }),
            Err(error) => {
                // It may have been made and not started.
                let _ = engine.remove(&name).await;
                Err(cannot(error.to_string()))
            }
        };
        drop(sender.send(made));
    })
    .map_err(|error| cannot(error.to_string()))?;
    let mut birth = Birth {
        maker: Some(maker),
        made: Some(receiver),
    };
    let made = match &mut birth.made {
        Some(made) => made.await,
        None => return Err(cannot("nobody makes it".to_owned())),
    };
    made.unwrap_or_else(|_| Err(cannot("its maker has ended".to_owned())))
}

fn cannot(why: String) -> ContainerError {
    ContainerErrorKind::Engine {
        what: "cannot start a container",
        why,
    }
    .into()
}

/// Runs a future in a thread and a runtime of its own.
fn elsewhere(work: impl Future<Output = ()> + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::Builder::new()
        .name("lockstep-container".to_owned())
        .spawn(move || runtime.block_on(work))
}
