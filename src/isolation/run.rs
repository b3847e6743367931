//! Many specs on one server, side by side in databases of their own.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

use super::environment::{self, EnvironmentError};
use super::play::{Figures, Place, Played, play};
use super::shared::{Board, Claims};
use super::spec::Spec;
use super::stage::Stage;
use crate::runner::{Backend, Cast, Observer, Trouble, tell};
use crate::scenario::SessionIndex;
use crate::server::{DatabaseError, Databases, Endpoint, Pool, Reach, Server};

/// Specs could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A database could not be made or dropped.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The server could not be given what specs expect of it.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A thread could not be made ready.
    #[error("start a thread")]
    Thread(#[source] std::io::Error),
}

/// How to play specs.
#[derive(Debug, Clone, Copy)]
pub struct PlayOptions {
    /// How many specs are played side by side.
    pub jobs: usize,
    /// How long a step, a set-up or a tear-down may take.
    pub limit: Duration,
    /// Whether the sessions are those of a superuser. Otherwise they own their database and may
    /// read the monitoring views, and no more.
    pub superuser: bool,
    /// Whether none begins any more once one was not played to its end.
    pub fail_fast: bool,
}

/// How many specs are best played side by side: while an answer is on its way from a server to
/// Lockstep and back, neither has anything to do; more only take each other's turns.
#[must_use]
pub fn side_by_side() -> usize {
    std::thread::available_parallelism().map_or(3, |cores| cores.get() + 1)
}

/// A spec that was played.
#[derive(Debug)]
pub struct SpecEnd {
    /// Its position among those that were given.
    pub at: usize,
    /// What came of it.
    pub played: Played,
    /// How long it took.
    pub elapsed: Duration,
}

/// Plays specs on a server, each in a fresh database or one that another spec has left as if it were
/// fresh, and tells of each when it has ended. Those that would meet in what a whole server shares
/// are not played at the same time.
///
/// # Errors
///
/// The server could not be prepared; a database could not be made or dropped.
pub async fn run(
    specs: Vec<Arc<Spec>>,
    server: &Server,
    options: PlayOptions,
    ends: UnboundedSender<SpecEnd>,
) -> Result<(), RunError> {
    let endpoint = server.endpoint().clone();
    let is_own = server.recipe().is_some();
    if is_own {
        environment::provide(&endpoint, server.scripted_endpoint(), server.release()).await?;
    }
    let databases =
        Databases::connect(&endpoint, server.scripted_endpoint(), Reach::Database).await?;
    let jobs = options.jobs.clamp(1, specs.len().max(1));
    let pool = Arc::new(Pool::new(databases, specs.len(), 1));
    let mut open: Vec<_> = specs
        .iter()
        .enumerate()
        .map(|(at, spec)| (at, Claims::of(spec)))
        .collect();
    // Those come last that can be played where others were. The longest first, so that nobody waits
    // for one of them at the end.
    open.sort_by_cached_key(|(at, _)| {
        let spec = &specs[*at];
        (Stage::suits(spec), Reverse(spec.schedules.count()))
    });
    let shared = Arc::new(Shared {
        board: Board::new(open),
        specs,
        pool,
        endpoint,
        is_own,
        options,
        ends,
    });
    let mut workers = JoinSet::new();
    for _ in 0..jobs {
        let shared = Arc::clone(&shared);
        // On a thread that does nothing else: an answer wakes it without a detour by another one.
        workers.spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(shared.work());
            Ok::<_, std::io::Error>(())
        });
    }
    while let Some(ended) = workers.join_next().await {
        match ended {
            Ok(worked) => worked.map_err(RunError::Thread)?,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
    let pool = Arc::into_inner(shared).map(|shared| shared.pool);
    match pool.and_then(Arc::into_inner) {
        Some(pool) => Ok(pool.close().await?),
        None => Ok(()),
    }
}

/// What the workers share.
struct Shared {
    board: Board,
    specs: Vec<Arc<Spec>>,
    pool: Arc<Pool>,
    endpoint: Endpoint,
    /// Whether the server is one of Lockstep's own.
    is_own: bool,
    options: PlayOptions,
    ends: UnboundedSender<SpecEnd>,
}

/// What a worker keeps from one spec to the next.
#[derive(Default)]
struct Kept {
    observer: Option<Observer>,
    /// As new, for specs that leave it so.
    stage: Option<Stage>,
}

impl Shared {
    async fn work(self: Arc<Self>) {
        let mut kept = Kept::default();
        while let Some(at) = self.board.take().await {
            let began = Instant::now();
            let played = self.play(&self.specs[at], &mut kept).await;
            self.board.end(at);
            let is_bad = played.trouble.is_some();
            // Nobody listens any more when the run is being given up.
            let _ = self.ends.send(SpecEnd {
                at,
                played,
                elapsed: began.elapsed(),
            });
            if is_bad && self.options.fail_fast {
                self.board.clear();
            }
        }
        if let Some(stage) = kept.stage {
            self.give_back(stage).await;
        }
    }

    async fn play(&self, spec: &Spec, kept: &mut Kept) -> Played {
        let failed = |what: String| Played {
            output: String::new(),
            trouble: Some(Trouble::Server(what)),
            figures: Figures::default(),
        };
        let observer = match kept.observer.take() {
            Some(observer) => observer,
            None => match observer(&self.endpoint).await {
                Ok(observer) => observer,
                Err(error) => return failed(tell(&error)),
            },
        };
        let is_shared = Stage::suits(spec);
        let mut stage = match self.kept(kept, spec, is_shared).await {
            Some(stage) => stage,
            None => match self.pool.take().await {
                Ok(database) => Stage::new(database),
                Err(error) => return failed(tell(&error)),
            },
        };
        let place = Place {
            endpoint: if self.options.superuser {
                &self.endpoint
            } else {
                &stage.database.role
            },
            database: &stage.database.name,
            observer: &observer,
            limit: self.options.limit,
            is_undisturbed: self.is_own,
        };
        let played = play(spec, &place, &mut stage.connections).await;
        if !played.trouble.as_ref().is_some_and(Trouble::is_of_server) {
            kept.observer = Some(observer);
        }
        if is_shared && stage.clear(&played).await {
            kept.stage = Some(stage);
        } else {
            self.give_back(stage).await;
        }
        played
    }

    /// The stage that was kept, if it suits a spec. Otherwise it is given back, so that nobody sees
    /// its connections.
    async fn kept(&self, kept: &mut Kept, spec: &Spec, is_shared: bool) -> Option<Stage> {
        let mut stage = kept.stage.take()?;
        if is_shared && stage.is_ready_for(spec).await {
            return Some(stage);
        }
        self.give_back(stage).await;
        None
    }

    async fn give_back(&self, stage: Stage) {
        stage.connections.leave().await;
        self.pool.give_back(stage.database).await;
    }
}

/// An observer that has looked once, at nobody: what the server has to read for its first look would
/// make the first wait be known late.
async fn observer(endpoint: &Endpoint) -> Result<Observer, tokio_postgres::Error> {
    let observer = Observer::connect(endpoint).await?;
    let nobody = SessionIndex(0);
    let mut cast = Cast::of(1);
    cast.enter(nobody, 0);
    observer
        .look(&cast, &[Backend::Of(nobody)], |_, _| false)
        .await?;
    Ok(observer)
}
