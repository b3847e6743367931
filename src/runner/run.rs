//! Many cases, several side by side on one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::case::Stage;
use super::event::{CaseId, RunEvent};
use super::outcome::{CaseResult, Outcome, Verdict};
use crate::scenario::Scenario;
use crate::server::{Endpoint, Server};
use crate::transcript::Transcript;

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

/// Replays cases on a server and tells what happens as it does. Cases end in any order.
///
/// The future can be dropped at any moment; what it has made on the server goes with the server.
pub async fn run(
    cases: Vec<CaseId>,
    server: &Server,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
) {
    let shared = Arc::new(Shared {
        next: AtomicUsize::new(0),
        enough: AtomicBool::new(false),
        endpoint: server.endpoint().clone(),
        scripted: server.scripted_endpoint().clone(),
        cases,
        options,
        judge,
        events,
    });
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..options.jobs.min(shared.cases.len()) {
        workers.spawn(Arc::clone(&shared).work());
    }
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

/// What the workers of a run share.
struct Shared {
    cases: Vec<CaseId>,
    next: AtomicUsize,
    enough: AtomicBool,
    endpoint: Endpoint,
    scripted: Endpoint,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
}

impl Shared {
    async fn work(self: Arc<Self>) {
        let stage = Stage::connect(&self.endpoint, &self.scripted, self.options.limit).await;
        while !self.enough.load(Ordering::Relaxed)
            && let Some(case) = self.cases.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            // Nobody listens any more when the run is being given up.
            let _ = self.events.send(RunEvent::Started(case.clone()));
            let began = Instant::now();
            let outcome = match &stage {
                Ok(stage) => stage.replay(&case.scenario).await,
                Err(trouble) => Outcome {
                    transcript: Transcript::default(),
                    trouble: Some(trouble.clone()),
                },
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

/// Replays one scenario on a server.
pub async fn replay(scenario: &Scenario, server: &Server, limit: Duration) -> Outcome {
    match Stage::connect(server.endpoint(), server.scripted_endpoint(), limit).await {
        Ok(stage) => stage.replay(scenario).await,
        Err(trouble) => Outcome {
            transcript: Transcript::default(),
            trouble: Some(trouble),
        },
    }
}
