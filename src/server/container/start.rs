//! Starting and stopping a server in a container.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use testcontainers_modules::testcontainers::bollard::query_parameters::{
    KillContainerOptionsBuilder, StartContainerOptions, WaitContainerOptions,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_postgres::Client;

use super::engine::{Engine, failed};
use super::error::{ContainerError, ContainerErrorKind};
use super::held::{Held, make};
use super::request::{self, LOOPBACK, PORT};
use super::sweep::sweep;
use crate::scenario::Shutdown;
use crate::server::database::explain;
use crate::server::randomness::{random, secret};
use crate::server::roles::{self, SCRIPTED, SUPERUSER};
use crate::server::{Address, Endpoint, Pin, Progress, Release};

/// How long a server may take to be ready; it takes a few seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// How long one attempt to connect may take.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);

/// How long the port of a server that is ready may be silent.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);

/// How often a server that does not answer yet is asked for its log.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// A running server in a container, which is removed with it.
///
/// Dropping it removes the container too, and blocks for the half second which that takes; prefer
/// [`Server::stop`]. When Lockstep dies without doing either, of SIGKILL, the next run removes it.
#[derive(Debug)]
pub struct Server {
    pin: Pin,
    endpoint: Endpoint,
    scripted: Endpoint,
    engine: Engine,
    held: Held,
    guard: Guard,
}

/// Where the data of a server in a container is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Data {
    /// In memory, and gone once the container stops.
    InMemory,
    /// In a volume that goes with the container.
    InVolume,
}

/// Notices when a container ends.
#[derive(Debug)]
struct Guard {
    /// The log of one that has ended by itself.
    ended: watch::Receiver<Option<String>>,
    /// The task that finds out; it ends with this.
    _watching: JoinSet<()>,
}

impl Guard {
    fn of(engine: &Engine, container: &str) -> Self {
        let (sender, ended) = watch::channel(None);
        let mut watching = JoinSet::new();
        watching.spawn(watch(engine.clone(), container.to_owned(), sender));
        Self {
            ended,
            _watching: watching,
        }
    }

    /// Waits until it has ended; its log.
    async fn end(&self) -> String {
        let mut ended = self.ended.clone();
        let log = ended.wait_for(Option::is_some).await;
        log.ok().and_then(|log| log.clone()).unwrap_or_default()
    }
}

/// Starts a server of a pinned release in a container, for one run, with settings that the others
/// do not have. What dead runs left behind is
/// cleared away.
pub(in crate::server) async fn start(
    engine: &Engine,
    pin: &Pin,
    settings: &[(String, String)],
    data: Data,
    report: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Server, ContainerError> {
    let starting = start_server(engine, pin, settings, data, report);
    let ((), server) = tokio::join!(sweep(engine), starting);
    server
}

async fn start_server(
    engine: &Engine,
    pin: &Pin,
    settings: &[(String, String)],
    data: Data,
    report: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Server, ContainerError> {
    let image = pin.image().to_string();
    let found = match engine.image(&image).await? {
        Some(found) => found,
        None => {
            report(Progress::Pulling(image.clone()));
            engine.pull(&image).await?
        }
    };
    let name = format!("lockstep-{:016x}", random());
    let initial = secret();
    let request = request::container(
        &name,
        &image,
        found.config.as_ref(),
        &initial,
        settings,
        data,
    );
    let held = make(engine, &name, request).await?;
    let port = published_port(engine, held.name()).await?;

    let guard = Guard::of(engine, held.name());
    let address = address(port);
    let endpoint = |user: &str, password| Endpoint::new(address.clone(), user, password);
    let (superuser, scripted) = (secret(), secret());
    let server = Server {
        pin: pin.clone(),
        endpoint: endpoint(SUPERUSER, superuser),
        scripted: endpoint(SCRIPTED, scripted),
        engine: engine.clone(),
        held,
        guard,
    };
    let silence = async {
        silence(engine, server.container()).await;
        port
    };
    let client = server
        .wait_until_ready(&endpoint(SUPERUSER, initial), silence)
        .await?;
    server.settle(&client, &image).await?;
    Ok(server)
}

fn address(port: u16) -> Address {
    Address::Tcp {
        host: LOOPBACK.to_owned(),
        port,
    }
}

/// The port that the server is reached at, which must be published on the loopback address alone.
async fn published_port(engine: &Engine, container: &str) -> Result<u16, ContainerError> {
    let what = "does not tell where the server's port is published";
    let found = engine
        .docker()
        .inspect_container(container, None)
        .await
        .map_err(failed(what))?;
    let ports = found
        .network_settings
        .and_then(|network| network.ports)
        .unwrap_or_default();
    let mut port = None;
    for binding in ports.into_iter().flat_map(|(name, bindings)| {
        let bindings = bindings.into_iter().flatten();
        bindings.map(move |binding| (name.clone(), binding))
    }) {
        let (name, binding) = binding;
        let address = binding.host_ip.unwrap_or_default();
        if address != LOOPBACK {
            return Err(ContainerErrorKind::Open { address }.into());
        }
        if name == PORT {
            port = binding.host_port.and_then(|port| port.parse().ok());
        }
    }
    port.ok_or_else(|| {
        ContainerErrorKind::Engine {
            what,
            why: "it names none".to_owned(),
        }
        .into()
    })
}

/// Waits until a container has ended, and says so.
async fn watch(engine: Engine, container: String, sender: watch::Sender<Option<String>>) {
    loop {
        // Its result says how it ended; some engines break the call off before.
        let waiting = engine
            .docker()
            .wait_container(&container, None::<WaitContainerOptions>);
        let began = Instant::now();
        tokio::pin!(waiting);
        let _ = waiting.next().await;
        let runs = engine
            .docker()
            .inspect_container(&container, None)
            .await
            .is_ok_and(|found| {
                found
                    .state
                    .and_then(|state| state.running)
                    .unwrap_or_default()
            });
        if !runs {
            break;
        }
        // An engine that cannot be waited for is asked now and then.
        tokio::time::sleep(Duration::from_secs(1).saturating_sub(began.elapsed())).await;
    }
    sender.send_replace(Some(engine.last_words(&container).await));
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        self.pin.release
    }

    /// The superuser that Lockstep itself uses. Nothing that a scenario brings may run as it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The role of everything a scenario brings: it is no superuser, can neither run programs nor
    /// read files, and may read the monitoring views.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        &self.scripted
    }

    /// The pin it was started from.
    pub(in crate::server) const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// The engine it runs on.
    pub(in crate::server) const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The name of the container.
    #[must_use]
    pub fn container(&self) -> &str {
        self.held.name()
    }

    /// Why the server has ended by itself, with the end of its log; `None` while it runs.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        let log = self.guard.ended.borrow();
        log.as_ref()
            .map(|log| format!("the server's container ended by itself; its log ends:\n{log}"))
    }

    /// Removes the container.
    ///
    /// # Errors
    ///
    /// What the engine could not remove, and why.
    pub async fn stop(self) -> Result<(), String> {
        // The engine may have been making a container yet for a run that was killed just before
        // this one started.
        let (removed, ()) = tokio::join!(self.held.remove(), sweep(&self.engine));
        removed
    }

    /// Shuts the server down and starts it again, in the same container and on the same data, which
    /// must be in a volume. Returns when it takes connections again; its port may be another one then.
    ///
    /// # Errors
    ///
    /// The engine refuses, or the server does not shut down, or not start again.
    pub(in crate::server) async fn restart(&mut self, how: Shutdown) -> Result<(), ContainerError> {
        let (docker, container) = (self.engine.docker(), self.held.name());
        let signal = match how {
            Shutdown::Fast => "SIGINT",
            Shutdown::Immediate => "SIGQUIT",
        };
        let options = KillContainerOptionsBuilder::new().signal(signal).build();
        docker
            .kill_container(container, Some(options))
            .await
            .map_err(failed("cannot shut a server down"))?;
        if tokio::time::timeout(LIMIT, self.guard.end()).await.is_err() {
            return Err(self.too_slow().await);
        }
        docker
            .start_container(container, None::<StartContainerOptions>)
            .await
            .map_err(failed("cannot start a container again"))?;
        let port = published_port(&self.engine, container).await?;
        self.endpoint.address = address(port);
        self.scripted.address = address(port);
        self.guard = Guard::of(&self.engine, container);
        // That ports lead somewhere was seen before; recovery takes as long as it takes.
        self.wait_until_ready(&self.endpoint, std::future::pending())
            .await
            .map(drop)
    }

    /// Connects as soon as the server lets itself be connected to. `silence` ends with its port
    /// when that should long have been.
    async fn wait_until_ready(
        &self,
        endpoint: &Endpoint,
        silence: impl Future<Output = u16>,
    ) -> Result<Client, ContainerError> {
        tokio::select! {
            biased;
            connected = connect(endpoint) => connected,
            log = self.guard.end() => Err(ContainerErrorKind::Ended { log }.into()),
            port = silence => Err(ContainerErrorKind::Silent { port }.into()),
            () = tokio::time::sleep(LIMIT) => Err(self.too_slow().await),
        }
    }

    async fn too_slow(&self) -> ContainerError {
        let log = self.engine.last_words(self.container()).await;
        ContainerErrorKind::TooSlow { limit: LIMIT, log }.into()
    }

    /// Sees that it is the release that was asked for, and gives it its roles and passwords.
    async fn settle(&self, client: &Client, image: &str) -> Result<(), ContainerError> {
        let refused =
            |error: tokio_postgres::Error| ContainerErrorKind::Refused(explain(&error)).into();
        let version: i32 = client
            .query_one("SELECT current_setting('server_version_num')::int4", &[])
            .await
            .map_err(refused)?
            .get(0);
        let version = version.unsigned_abs();
        let found = Release {
            major: version / 10_000,
            minor: version % 10_000,
        };
        if found != self.pin.release {
            return Err(ContainerErrorKind::OtherRelease {
                image: image.to_owned(),
                found,
                wanted: self.pin.release,
            }
            .into());
        }
        roles::set_passwords(
            client,
            &roles::make_scripted(),
            &self.endpoint.password,
            &self.scripted.password,
        )
        .await
        .map_err(refused)
    }
}

/// Tries to connect until it works. Nothing but an attempt shows whether the port leads to the
/// server yet, so there is one after 2 ms, later less often.
async fn connect(endpoint: &Endpoint) -> Result<Client, ContainerError> {
    let mut pause = Duration::from_millis(2);
    loop {
        let attempt = endpoint.connect(&endpoint.database);
        if let Ok(attempt) = tokio::time::timeout(ATTEMPT_LIMIT, attempt).await {
            match attempt {
                Ok(client) => return Ok(client),
                // 57P03 is "not yet"; what else the server says, it will say again.
                Err(error) if error.code().is_some_and(|code| code.code() != "57P03") => {
                    return Err(ContainerErrorKind::Refused(explain(&error)).into());
                }
                Err(_) => {}
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(Duration::from_millis(50));
    }
}

/// Ends when the server has been ready for so long that its port should have answered.
async fn silence(engine: &Engine, container: &str) {
    loop {
        tokio::time::sleep(LOG_INTERVAL).await;
        if engine.is_ready(container).await {
            tokio::time::sleep(SILENCE_LIMIT).await;
            return;
        }
    }
}
