//! The servers of a run: one a release, all started at once, and another in the place of one that
//! ends by itself.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::server::{Endpoint, Recipe, Release, Server, StartError};

/// How many servers of a release may follow the first.
const MORE: usize = 3;
/// A server that is being started.
pub type Starting = Pin<Box<dyn Future<Output = Result<Server, StartError>> + Send>>;

/// Starts a server of a release; told is how many there were before.
pub type Start = dyn Fn(Release, usize) -> Starting + Send + Sync;

/// The servers of a run. They end with [`Fleet::stop`], or when the last clone is dropped.
///
/// All servers are started at once. One that ends by itself is replaced, three times for each
/// release: the cases that were on it have failed, and the rest are run on the new one.
#[derive(Clone)]
pub struct Fleet {
    shared: Arc<Shared>,
}

/// How to reach a server of the fleet.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub release: Release,
    /// How many servers of the release there were before.
    pub number: usize,
    pub endpoint: Endpoint,
    pub scripted: Endpoint,
    /// How to start another one like it.
    pub recipe: Option<Recipe>,
}

/// How far a release's server is.
pub(crate) enum Berth {
    /// It is being started.
    Starting,
    /// It runs.
    Up(Box<Host>),
    /// There is none, and none will come; the text says why.
    Empty(String),
}

struct Shared {
    start: Box<Start>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    berths: BTreeMap<Release, Slot>,
    tasks: JoinSet<()>,
    is_stopping: bool,
}

/// A release's place.
struct Slot {
    server: Result<Option<Server>, String>,
    /// How many servers there were before.
    number: usize,
    /// Why those ended, in their order.
    ends: Vec<String>,
}

impl Fleet {
    /// Starts a server for each release, on the current Tokio runtime.
    pub fn start(releases: &[Release], start: Box<Start>) -> Self {
        let fleet = Self {
            shared: Arc::new(Shared {
                start,
                state: Mutex::default(),
                changed: watch::Sender::new(()),
            }),
        };
        let mut state = fleet.shared.lock();
        for release in releases {
            let slot = Slot {
                server: Ok(None),
                number: 0,
                ends: Vec::new(),
            };
            state.berths.insert(*release, slot);
            fleet.shared.launch(&mut state, *release, 0, None);
        }
        drop(state);
        fleet
    }

    /// Ends all servers, side by side, also those that are still being started. Gives what could
    /// not be removed from servers that are somebody else's.
    pub async fn stop(self) -> Vec<String> {
        let (mut tasks, servers) = {
            let mut state = self.shared.lock();
            state.is_stopping = true;
            let slots = state.berths.values_mut();
            let servers: Vec<Server> = slots
                .filter_map(|slot| slot.server.as_mut().ok()?.take())
                .collect();
            (std::mem::take(&mut state.tasks), servers)
        };
        let mut ending = JoinSet::new();
        for server in servers {
            ending.spawn(server.stop());
        }
        tasks.shutdown().await;
        let ended = ending.join_all().await;
        ended.into_iter().filter_map(Result::err).collect()
    }

    /// Tells when a server has come up or gone.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.shared.changed.subscribe()
    }

    /// How far a release's server is.
    pub(crate) fn berth(&self, release: Release) -> Berth {
        let state = self.shared.lock();
        let Some(slot) = state.berths.get(&release) else {
            return Berth::Empty(format!("no server of PostgreSQL {release} was asked for"));
        };
        match &slot.server {
            Ok(None) => Berth::Starting,
            Ok(Some(server)) => Berth::Up(Box::new(Host {
                release,
                number: slot.number,
                endpoint: server.endpoint().clone(),
                scripted: server.scripted_endpoint().clone(),
                recipe: server.recipe(),
            })),
            Err(reason) => Berth::Empty(reason.clone()),
        }
    }

    /// Waits until a release has a server, or will never have one.
    pub(crate) async fn settled_berth(&self, release: Release) -> Berth {
        let mut changes = self.changes();
        loop {
            changes.borrow_and_update();
            match self.berth(release) {
                Berth::Starting => {
                    // The fleet has the other end, as long as it is there.
                    let _ = changes.changed().await;
                }
                berth => return berth,
            }
        }
    }

    /// Why a server has ended, if it has; another is started then.
    pub(crate) fn end_of(&self, host: &Host) -> Option<String> {
        let mut state = self.shared.lock();
        let slot = state.berths.get_mut(&host.release)?;
        if let Some(end) = slot.ends.get(host.number) {
            return Some(end.clone());
        }
        let end = slot.server.as_ref().ok()?.as_ref()?.failed()?;
        self.shared.replace(&mut state, host.release, end.clone());
        Some(end)
    }

    /// The end of a server's log, where it can be had.
    pub(crate) fn last_words(&self, host: &Host) -> Option<String> {
        let state = self.shared.lock();
        let slot = state.berths.get(&host.release)?;
        let server = slot.server.as_ref().ok()?.as_ref()?;
        (slot.number == host.number).then(|| server.last_words())?
    }

    /// Another server is started in the place of one that lets nobody in any more.
    pub(crate) fn give_up(&self, host: &Host, what: &str) {
        let mut state = self.shared.lock();
        let is_there =
            |slot: &Slot| slot.number == host.number && matches!(slot.server, Ok(Some(_)));
        if state.berths.get(&host.release).is_some_and(is_there) {
            self.shared
                .replace(&mut state, host.release, what.to_owned());
        }
    }

    /// Whether a server is the one that its release has now.
    pub(crate) fn is_current(&self, release: Release, number: usize) -> bool {
        let state = self.shared.lock();
        let slot = state.berths.get(&release);
        slot.is_some_and(|slot| slot.number == number && matches!(slot.server, Ok(Some(_))))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts another server in the place of one that has ended, unless there were too many.
    fn replace(self: &Arc<Self>, state: &mut State, release: Release, end: String) {
        let Some(slot) = state.berths.get_mut(&release) else {
            return;
        };
        let number = slot.number + 1;
        let old = std::mem::replace(&mut slot.server, Ok(None)).unwrap_or_default();
        if number > MORE {
            slot.server = Err(format!(
                "{number} servers of PostgreSQL {release} have ended by themselves; the last:\n{end}"
            ));
        }
        slot.number = number;
        slot.ends.push(end);
        self.launch(state, release, number, old);
        self.changed.send_replace(());
    }

    /// Clears an old server away, and starts a new one if the release may have one.
    fn launch(
        self: &Arc<Self>,
        state: &mut State,
        release: Release,
        number: usize,
        old: Option<Server>,
    ) {
        if state.is_stopping {
            return;
        }
        let shared = Arc::clone(self);
        state.tasks.spawn(async move {
            if let Some(old) = old {
                // It has ended already; what it could not remove went with it.
                let _ = old.stop().await;
            }
            if number > MORE {
                return;
            }
            let started = (shared.start)(release, number).await;
            let server = started.map(Some).map_err(|error| {
                let help = error.help();
                let help = help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
                format!("failed to start PostgreSQL {release}: {error}{help}")
            });
            let late = {
                let mut state = shared.lock();
                let is_stopping = state.is_stopping;
                match state.berths.get_mut(&release) {
                    Some(slot) if !is_stopping => {
                        slot.server = server;
                        None
                    }
                    _ => server.ok().flatten(),
                }
            };
            if let Some(server) = late {
                // The run is over, and nobody listens any more.
                let _ = server.stop().await;
            }
            shared.changed.send_replace(());
        });
    }
}
