//! Many cases, several side by side on one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::case::{Stage, prepare, replay_alone};
use super::event::{CaseId, RunEvent};
use super::outcome::{CaseResult, Outcome, Trouble, Verdict};
use super::own::replay_apart;
use crate::scenario::Scenario;
use crate::server::{DatabaseError, Endpoint, Pool, Reach, Recipe, Server};

/// How to replay.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// How many cases run side by side.
    pub jobs: usize,
    /// How long a step may take where the scenario does not say.
    pub limit: Duration,
    /// Whether no further case begins once one has not passed.
    pub fail_fast: bool,
}

/// Gives the verdict on a replay.
pub type Judge = dyn Fn(&CaseId, &Outcome) -> Verdict + Send + Sync;

/// Replays cases on a server and tells what happens as it does. Cases end in any order. Those that
/// want a server of their own get one like it.
///
/// The future can be dropped at any moment; what it has made on the server goes with the server.
///
/// # Errors
///
/// A database that was made for the cases could not be dropped after the last of them.
pub async fn run(
    cases: Vec<CaseId>,
    server: &Server,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
) -> Result<(), DatabaseError> {
    let jobs = options.jobs.min(cases.len());
    let sharing = cases
        .iter()
        .filter(|case| case.scenario.own_server.is_none())
        .count();
    let pool = if sharing == 0 {
        None
    } else {
        let (endpoint, scripted) = (server.endpoint(), server.scripted_endpoint());
        let pool = prepare(endpoint, scripted, Reach::Database, sharing, jobs).await;
        Some(pool.map(Arc::new))
    };
    let shared = Arc::new(Shared {
        next: AtomicUsize::new(0),
        enough: AtomicBool::new(false),
        endpoint: server.endpoint().clone(),
        recipe: server.recipe(),
        cases,
        options,
        judge,
        events,
    });
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..jobs {
        workers.spawn(Arc::clone(&shared).work(pool.clone()));
    }
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    match pool {
        Some(Ok(pool)) => match Arc::into_inner(pool) {
            Some(pool) => pool.close().await,
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// What the workers of a run share.
struct Shared {
    cases: Vec<CaseId>,
    next: AtomicUsize,
    enough: AtomicBool,
    endpoint: Endpoint,
    recipe: Option<Recipe>,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
}

/// What makes the databases, or why nothing does; `None` when every case has its own server.
type SharedPool = Option<Result<Arc<Pool>, Trouble>>;

impl Shared {
    async fn work(self: Arc<Self>, pool: SharedPool) {
        let limit = self.options.limit;
        let stage = match pool {
            Some(Ok(pool)) => Some(Stage::connect(&self.endpoint, pool, limit).await),
            Some(Err(trouble)) => Some(Err(trouble)),
            None => None,
        };
        while !self.enough.load(Ordering::Relaxed)
            && let Some(case) = self.cases.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            // Nobody listens any more when the run is being given up.
            let _ = self.events.send(RunEvent::Started(case.clone()));
            let began = Instant::now();
            let outcome = match (&case.scenario.own_server, &stage) {
                (Some(own), _) => {
                    replay_apart(&case.scenario, own, self.recipe.as_ref(), limit).await
                }
                (None, Some(Ok(stage))) => stage.replay(&case.scenario).await,
                (None, Some(Err(trouble))) => Outcome::without_replay(trouble.clone()),
                (None, None) => unreachable!("a case that shares the server is counted"),
            };
            let elapsed = began.elapsed();
            let verdict = (self.judge)(case, &outcome);
            if self.options.fail_fast && !matches!(verdict, Verdict::Pass) {
                self.enough.store(true, Ordering::Relaxed);
            }
            let result = CaseResult {
                scenario: Arc::clone(&case.scenario),
                case: case.case.clone(),
                release: case.release,
                transcript: outcome.transcript,
                verdict,
                elapsed,
            };
            let _ = self.events.send(RunEvent::Finished(Box::new(result)));
        }
    }
}

/// Replays one scenario on a server, or on one like it if the scenario wants its own.
pub async fn replay(scenario: &Scenario, server: &Server, limit: Duration) -> Outcome {
    match &scenario.own_server {
        Some(own) => replay_apart(scenario, own, server.recipe().as_ref(), limit).await,
        None => {
            let (endpoint, scripted) = (server.endpoint(), server.scripted_endpoint());
            replay_alone(scenario, endpoint, scripted, Reach::Database, limit).await
        }
    }
}
