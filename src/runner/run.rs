//! Many cases on servers of several releases, side by side through one pool of workers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::case::{Stage, prepare};
use super::event::{CaseId, RunEvent};
use super::exploration::Exploration;
use super::failure::{Fate, explain, fate, with_end, with_last_words};
use super::fleet::{Berth, Fleet, Host};
use super::options::ReplayOptions;
use super::outcome::{CaseResult, Outcome, Trouble, Verdict};
use super::own::{Apart, explore_apart, replay_apart};
use super::seat::{Seat, explore_alone, explore_on, replay_alone};
use crate::scenario::Scenario;
use crate::server::{DatabaseError, Pool, Reach, Release, Server};
use crate::transcript::Transcript;

/// How often a case may be about to begin when its server fails. Each time there is another server,
/// or the same one after a crash.
const ATTEMPTS: usize = 3;

/// How to replay.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// How many cases run side by side, on all servers together.
    pub jobs: usize,
    /// How long a step may take where the scenario does not say.
    pub limit: Duration,
    /// Whether no further case begins once one has not passed.
    pub fail_fast: bool,
}

/// Gives the verdict on a replay.
pub type Judge = dyn Fn(&CaseId, &Outcome) -> Verdict + Send + Sync;

/// Replays cases, each on the fleet's server of its release, and tells what happens as it does.
///
/// Cases begin in their order, but those whose server is not up yet wait for it while others run.
/// They end in any order. The future can be dropped at any moment; what it has made on the servers
/// goes with the servers.
///
/// # Errors
///
/// A database that was made for the cases could not be dropped after the last of them.
pub async fn run(
    cases: Vec<CaseId>,
    fleet: &Fleet,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
) -> Result<(), DatabaseError> {
    let jobs = options.jobs.min(cases.len());
    let mut to_come = HashMap::new();
    for case in &cases {
        let kind = (case.release, Apart::of(&case.scenario));
        *to_come.entry(kind).or_default() += case.scenario.count();
    }
    let shared = Arc::new(Shared {
        queue: Mutex::new(Queue::new(cases)),
        stages: Mutex::default(),
        pools: tokio::sync::Mutex::default(),
        to_come: Mutex::new(to_come),
        places: Semaphore::new(options.jobs),
        enough: watch::Sender::new(false),
        fleet: fleet.clone(),
        options,
        judge,
        events,
    });
    let mut workers = JoinSet::new();
    for _ in 0..jobs {
        workers.spawn(Arc::clone(&shared).work());
    }
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    match Arc::into_inner(shared) {
        Some(shared) => shared.close().await,
        None => Ok(()),
    }
}

/// What the workers of a run share.
struct Shared {
    queue: Mutex<Queue>,
    /// Connections that nobody uses at the moment, each with the number of its server.
    stages: Mutex<HashMap<Release, Vec<(usize, Stage)>>>,
    /// What makes the databases, with the number of the server.
    pools: tokio::sync::Mutex<HashMap<Release, (usize, Arc<Pool>)>>,
    /// How many cases have not ended.
    to_come: Mutex<HashMap<(Release, Apart), usize>>,
    /// For each replay that may be under way; the schedules of one scenario take several.
    places: Semaphore,
    /// Whether no further case begins.
    enough: watch::Sender<bool>,
    fleet: Fleet,
    options: RunOptions,
    judge: Arc<Judge>,
    events: UnboundedSender<RunEvent>,
}

/// The cases that have not begun, with their places in the order.
struct Queue {
    cases: BTreeMap<Release, VecDeque<(usize, CaseId)>>,
}

/// What a worker does next.
enum Next {
    /// Replays a case.
    Replay(CaseId, Box<Host>),
    /// Tells that a case cannot be replayed.
    Refuse(CaseId, String),
    /// Waits for a server.
    Wait,
    /// Nothing is left.
    End,
}

impl Queue {
    fn new(cases: Vec<CaseId>) -> Self {
        let mut queue = Self {
            cases: BTreeMap::new(),
        };
        for (at, case) in cases.into_iter().enumerate() {
            let of_release = queue.cases.entry(case.release).or_default();
            of_release.push_back((at, case));
        }
        queue
    }

    /// The first case whose server is up, or will never be.
    fn next(&mut self, fleet: &Fleet) -> Next {
        let mut best: Option<(usize, Release, Berth)> = None;
        for (release, cases) in &self.cases {
            let Some((at, _)) = cases.front() else {
                continue;
            };
            if best.as_ref().is_some_and(|(first, ..)| first < at) {
                continue;
            }
            match fleet.berth(*release) {
                Berth::Starting => {}
                berth => best = Some((*at, *release, berth)),
            }
        }
        let Some((_, release, berth)) = best else {
            let is_empty = self.cases.values().all(VecDeque::is_empty);
            return if is_empty { Next::End } else { Next::Wait };
        };
        let case = self.cases.get_mut(&release).and_then(VecDeque::pop_front);
        match (case, berth) {
            (Some((_, case)), Berth::Up(host)) => Next::Replay(case, host),
            (Some((_, case)), Berth::Empty(reason)) => Next::Refuse(case, reason),
            _ => Next::Wait,
        }
    }
}

impl Shared {
    /// What each worker does.
    async fn work(self: Arc<Self>) {
        let mut servers = self.fleet.changes();
        let mut enough = self.enough.subscribe();
        while !*enough.borrow_and_update() {
            servers.borrow_and_update();
            let next = lock(&self.queue).next(&self.fleet);
            match next {
                Next::Replay(case, host) => self.replay(case, &host).await,
                Next::Refuse(case, reason) => {
                    self.tell(RunEvent::Started(case.clone()));
                    let verdict = Verdict::Unserved(reason);
                    self.finish(case, Transcript::default(), verdict, Duration::ZERO);
                }
                Next::Wait => {
                    tokio::select! {
                        _ = servers.changed() => {}
                        _ = enough.changed() => {}
                    }
                }
                Next::End => return,
            }
        }
    }

    async fn replay(self: &Arc<Self>, case: CaseId, host: &Host) {
        self.tell(RunEvent::Started(case.clone()));
        let began = Instant::now();
        let outcome = match Exploration::of(&case.scenario, case.release) {
            None => self.replay_in_order(host, &case.scenario).await,
            Some(exploration) => self.explore(host, exploration).await,
        };
        let elapsed = began.elapsed();
        let (transcript, verdict) = match outcome {
            Ok(outcome) => {
                let verdict = (self.judge)(&case, &outcome);
                (outcome.transcript, verdict)
            }
            Err(reason) => (Transcript::default(), Verdict::Unserved(reason)),
        };
        self.finish(case, transcript, verdict, elapsed);
    }

    /// Plays all schedules of a scenario, side by side. Told is why there is no server for them.
    async fn explore(
        self: &Arc<Self>,
        host: &Host,
        exploration: Exploration,
    ) -> Result<Outcome, String> {
        let exploration = Arc::new(exploration);
        let mut lanes = JoinSet::new();
        let count = if exploration.scenario().carries_over {
            1
        } else {
            // A lane without a schedule might start a server for nothing.
            self.options.jobs.min(exploration.count())
        };
        for _ in 0..count {
            let (shared, host) = (Arc::clone(self), host.clone());
            let exploration = Arc::clone(&exploration);
            lanes.spawn(async move {
                let recipe = host.recipe.as_ref();
                if Apart::of(exploration.scenario()).holds(recipe) {
                    let _place = shared.places.acquire().await;
                    let options = shared.options.limit.into();
                    explore_apart(&exploration, recipe, options).await;
                    return Ok(());
                }
                if exploration.scenario().carries_over {
                    let _place = shared.places.acquire().await;
                    shared.explore_in_one(&host, &exploration).await;
                    return Ok(());
                }
                while let Some(turn) = exploration.next() {
                    let outcome = shared.replay_in_order(&host, turn.scenario()).await;
                    match outcome {
                        Ok(outcome) => exploration.take(turn, outcome),
                        Err(reason) => {
                            exploration.give_up();
                            return Err(reason);
                        }
                    }
                }
                Ok(())
            });
        }
        for ended in lanes.join_all().await {
            ended?;
        }
        let exploration = Arc::into_inner(exploration);
        Ok(exploration.expect("no lane has it any more").end())
    }

    /// Plays all schedules of a scenario one after the other, each where the one before has ended.
    async fn explore_in_one(&self, host: &Host, exploration: &Exploration) {
        match self.stage(host).await {
            Ok(mut stage) => {
                explore_on(exploration, &mut stage).await;
                self.keep(host, stage);
            }
            Err(trouble) => exploration.fail(trouble),
        }
        if let Some(mut trouble) = exploration.trouble_of_server() {
            self.after_trouble(host, &mut trouble).await;
            exploration.explain(trouble);
        }
    }

    /// Keeps connections to a server for whoever needs some next.
    fn keep(&self, host: &Host, stage: Stage) {
        let mut stages = lock(&self.stages);
        let of_release = stages.entry(host.release).or_default();
        of_release.push((host.number, stage));
    }

    /// Replays a scenario that has its steps in one order.
    async fn replay_in_order(
        &self,
        host: &Host,
        scenario: &Arc<Scenario>,
    ) -> Result<Outcome, String> {
        // It is never closed.
        let _place = self.places.acquire().await;
        let recipe = host.recipe.as_ref();
        if Apart::of(scenario).holds(recipe) {
            return Ok(replay_apart(scenario, recipe, self.options.limit.into()).await);
        }
        self.replay_among_others(host, scenario).await
    }

    /// Replays a scenario on a server that others are played on: on another one, where that failed
    /// before the case had anything to do with it. Told is why there is none.
    async fn replay_among_others(
        &self,
        host: &Host,
        scenario: &Scenario,
    ) -> Result<Outcome, String> {
        let mut outcome = self.replay_on(host, scenario).await;
        for _ in 1..ATTEMPTS {
            if !outcome.is_unheard() {
                break;
            }
            match self.fleet.settled_berth(host.release).await {
                Berth::Up(host) => outcome = self.replay_on(&host, scenario).await,
                Berth::Empty(reason) => return Err(reason),
                Berth::Starting => {}
            }
        }
        Ok(outcome)
    }

    /// Replays a scenario on a server that others are played on.
    async fn replay_on(&self, host: &Host, scenario: &Scenario) -> Outcome {
        let mut stage = self.stage(host).await;
        let mut outcome = match &mut stage {
            Ok(stage) => stage.replay(scenario, None).await,
            Err(trouble) => Outcome::without_replay(trouble.clone()),
        };
        match (&mut outcome.trouble, stage) {
            (Some(trouble), stage) if trouble.is_of_server() => {
                // Its connections may be dead, or those of a server that is no more.
                drop(stage);
                self.after_trouble(host, trouble).await;
            }
            (_, Ok(stage)) => self.keep(host, stage),
            (_, Err(_)) => {}
        }
        outcome
    }

    /// Connections to a server: those that nobody uses, or else fresh ones.
    async fn stage(&self, host: &Host) -> Result<Stage, Trouble> {
        match self.idle_stage(host) {
            Some(stage) => Ok(stage),
            None => self.connect(host).await,
        }
    }

    /// Connections to a server that somebody has used and is done with.
    fn idle_stage(&self, host: &Host) -> Option<Stage> {
        let mut stages = lock(&self.stages);
        let of_release = stages.get_mut(&host.release)?;
        // Those to servers that have ended, or crashed meanwhile, are of no use any more.
        of_release.retain(|(number, stage)| *number == host.number && stage.is_alive());
        of_release.pop().map(|(_, stage)| stage)
    }

    async fn connect(&self, host: &Host) -> Result<Stage, Trouble> {
        let pool = self.pool(host).await?;
        Stage::connect(&host.endpoint, pool, self.options.limit.into()).await
    }

    /// What makes the databases on a server; the first who asks sets it up.
    async fn pool(&self, host: &Host) -> Result<Arc<Pool>, Trouble> {
        let mut pools = self.pools.lock().await;
        if let Some((number, pool)) = pools.get(&host.release)
            && *number == host.number
            && pool.is_alive()
        {
            return Ok(Arc::clone(pool));
        }
        let wanted = [Apart::Never, Apart::IfPossible, Apart::Always]
            .into_iter()
            .filter(|apart| !apart.holds(host.recipe.as_ref()))
            .filter_map(|apart| lock(&self.to_come).get(&(host.release, apart)).copied())
            .sum();
        let pool = prepare(
            &host.endpoint,
            &host.scripted,
            Reach::Database,
            wanted,
            self.options.jobs,
        );
        let pool = Arc::new(pool.await?);
        pools.insert(host.release, (host.number, Arc::clone(&pool)));
        Ok(pool)
    }

    /// Sees to it that the next case finds a server that lives, and says more of what happened.
    async fn after_trouble(&self, host: &Host, trouble: &mut Trouble) {
        let is_unfit = matches!(trouble, Trouble::Unfit(_));
        let (Trouble::Server(what) | Trouble::Unfit(what)) = trouble else {
            return;
        };
        match fate(&host.endpoint, || self.fleet.end_of(host)).await {
            Fate::Ended(end) => *what = with_end(what, end),
            Fate::Back => *what = with_last_words(what, self.fleet.last_words(host)),
            Fate::Silent => self.fleet.give_up(host, what),
        }
        if is_unfit {
            self.fleet.give_up(host, what);
        }
    }

    /// Drops what was made for the cases, on the servers that are still there.
    async fn close(self) -> Result<(), DatabaseError> {
        drop(self.stages);
        let mut closed = Ok(());
        for (release, (number, pool)) in self.pools.into_inner() {
            let Some(pool) = Arc::into_inner(pool) else {
                continue;
            };
            if self.fleet.is_current(release, number) && pool.is_alive() {
                closed = closed.and(pool.close().await);
            }
        }
        closed
    }

    fn finish(&self, case: CaseId, transcript: Transcript, verdict: Verdict, elapsed: Duration) {
        let kind = (case.release, Apart::of(&case.scenario));
        if let Some(to_come) = lock(&self.to_come).get_mut(&kind) {
            *to_come -= case.scenario.count();
        }
        if self.options.fail_fast && !matches!(verdict, Verdict::Pass) {
            self.enough.send_replace(true);
        }
        self.tell(RunEvent::Finished(Box::new(CaseResult {
            scenario: case.scenario,
            case: case.case,
            release: case.release,
            transcript,
            verdict,
            elapsed,
        })));
    }

    fn tell(&self, event: RunEvent) {
        // Nobody listens any more when the run is being given up.
        let _ = self.events.send(event);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replays one scenario on a server, or on one like it if it must have its own. A length of time
/// stands for the options that have it as their limit.
pub async fn replay(
    scenario: &Scenario,
    server: &Server,
    options: impl Into<ReplayOptions>,
) -> Outcome {
    let options = options.into();
    let recipe = server.recipe();
    let scenario = Arc::new(scenario.clone());
    if Apart::of(&scenario).holds(recipe.as_ref()) {
        let Some(exploration) = Exploration::of(&scenario, server.release()) else {
            return replay_apart(&scenario, recipe.as_ref(), options).await;
        };
        explore_apart(&exploration, recipe.as_ref(), options).await;
        return exploration.end();
    }
    let seat = Seat::Lent(server);
    let mut outcome = match Exploration::of(&scenario, server.release()) {
        None => replay_alone(&scenario, seat, options).await,
        Some(exploration) => {
            if let Err(trouble) = explore_alone(&exploration, seat, options).await {
                exploration.fail(trouble);
            }
            exploration.end()
        }
    };
    if let Some(trouble) = &mut outcome.trouble {
        explain(trouble, server).await;
    }
    outcome
}
