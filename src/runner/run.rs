//! Many cases, several side by side on one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{RwLock, oneshot};

use super::case::Stage;
use super::event::{CaseId, RunEvent};
use super::failure::{Failure, failure};
use super::outcome::{CaseResult, Outcome, Trouble, Verdict};
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
        stage_door: RwLock::new(()),
        is_gone: AtomicBool::new(false),
        endpoint: server.endpoint().clone(),
        scripted: server.scripted_endpoint().clone(),
        cases,
        options,
        judge,
        events,
    });
    let mut workers = tokio::task::JoinSet::new();
    let (ask, mut questions) = unbounded_channel();
    for _ in 0..options.jobs.min(shared.cases.len()) {
        workers.spawn(Arc::clone(&shared).work(ask.clone()));
    }
    loop {
        tokio::select! {
            Some(Question { what, answer }) = questions.recv() => {
                // Nobody waits for it any more when the worker was ended.
                let _ = answer.send(failure(server, &what).await);
            }
            ended = workers.join_next() => match ended {
                Some(Err(error)) if error.is_panic() => {
                    std::panic::resume_unwind(error.into_panic())
                }
                Some(_) => {}
                None => break,
            },
        }
    }
}

/// A worker asks why the server failed.
struct Question {
    /// How it was noticed.
    what: String,
    answer: oneshot::Sender<Failure>,
}

/// What the workers of a run share.
struct Shared {
    cases: Vec<CaseId>,
    next: AtomicUsize,
    enough: AtomicBool,
    /// Held by every case while it is replayed; a case that must be alone shares it with nobody.
    stage_door: RwLock<()>,
    /// Whether the server has ended.
    is_gone: AtomicBool,
    endpoint: Endpoint,
    scripted: Endpoint,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
}

impl Shared {
    async fn work(self: Arc<Self>, ask: UnboundedSender<Question>) {
        let mut stage = None;
        while !self.enough.load(Ordering::Relaxed)
            && let Some(case) = self.cases.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let (_alone, _beside_others);
            if must_be_alone(&case.scenario) {
                _alone = self.stage_door.write().await;
            } else {
                _beside_others = self.stage_door.read().await;
            }
            // Nobody listens any more when the run is being given up.
            let _ = self.events.send(RunEvent::Started(case.clone()));
            let began = Instant::now();
            let outcome = self.replay(&case.scenario, &mut stage, &ask).await;
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

impl Shared {
    /// Replays a case on the worker's stage, which is set up where there is none (any more).
    async fn replay(
        &self,
        scenario: &Scenario,
        stage: &mut Option<Stage>,
        ask: &UnboundedSender<Question>,
    ) -> Outcome {
        if self.is_gone.load(Ordering::Relaxed) {
            return without_server(Trouble::Server(
                "the server had ended before this case began".to_owned(),
            ));
        }
        let connected = match stage.take() {
            Some(stage) => Ok(stage),
            None => Stage::connect(&self.endpoint, &self.scripted, self.options.limit).await,
        };
        let mut outcome = match connected {
            Ok(connected) => stage.insert(connected).replay(scenario).await,
            Err(trouble) => without_server(trouble),
        };
        if let Some(Trouble::Server(what)) = &mut outcome.trouble {
            // Its connections may be dead, or those of a server that is no more.
            *stage = None;
            let (answer, answered) = oneshot::channel();
            let question = Question {
                what: what.clone(),
                answer,
            };
            if ask.send(question).is_ok()
                && let Ok(Failure { reason, is_final }) = answered.await
            {
                self.is_gone.fetch_or(is_final, Ordering::Relaxed);
                *what = reason;
            }
        }
        outcome
    }
}

/// Whether a replay is only right when no other case runs on the server. What VACUUM may remove or
/// freeze depends on the oldest transaction of the whole server, through the snapshots of the
/// case's own sessions; everything else that cases do they do in databases of their own.
fn must_be_alone(scenario: &Scenario) -> bool {
    scenario.all_sql().any(|sql| {
        sql.text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word.eq_ignore_ascii_case("vacuum") || word.eq_ignore_ascii_case("cluster"))
    })
}

fn without_server(trouble: Trouble) -> Outcome {
    Outcome {
        transcript: Transcript::default(),
        trouble: Some(trouble),
    }
}

/// Replays one scenario on a server.
pub async fn replay(scenario: &Scenario, server: &Server, limit: Duration) -> Outcome {
    let stage = Stage::connect(server.endpoint(), server.scripted_endpoint(), limit).await;
    let mut outcome = match stage {
        Ok(stage) => stage.replay(scenario).await,
        Err(trouble) => without_server(trouble),
    };
    if let Some(Trouble::Server(what)) = &mut outcome.trouble {
        *what = failure(server, what).await.reason;
    }
    outcome
}
