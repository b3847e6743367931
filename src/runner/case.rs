//! One case from its empty database to its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::alias::Alias;
use super::expect::server_error;
use super::failure;
use super::live::Answered;
use super::locks::LockView;
use super::loss::Loss;
use super::observer::Observer;
use super::options::ReplayOptions;
use super::outcome::{Outcome, Trouble};
use super::replay::{Company, Replay};
use super::seat::Seat;
use super::trouble::{HEEDS_WITHIN, Place, tell};
use crate::scenario::{Action, Reply, Scenario, Sending, SessionIndex, Span, SqlText, Step};
use crate::server::{CaseDatabase, DatabaseError, Databases, Endpoint, Pool, Reach};
use crate::transcript::{Answer, Transcript};

/// How long what the runner asks for itself may take: a database, a look, a connection.
const OWN_LIMIT: Duration = Duration::from_secs(60);

/// What the cases of one worker share: the runner's own connections to one server. They are not in
/// the cases' databases, and log in as a role that no case has.
pub(crate) struct Stage {
    /// Makes and drops the databases; all workers share it.
    pub(super) pool: Arc<Pool>,
    /// Where the runner itself logs in.
    pub(super) endpoint: Endpoint,
    /// Asks who waits for whom.
    pub(super) observer: Arc<Observer>,
    options: ReplayOptions,
    /// Whether nothing of a case may be left when the next one begins.
    pub(super) clears_up_at_once: bool,
}

/// Begins to make databases on a server for so many `cases`, of which `workers` run side by side.
pub(crate) async fn prepare(
    endpoint: &Endpoint,
    scripted: &Endpoint,
    reach: Reach,
    cases: usize,
    workers: usize,
) -> Result<Pool, Trouble> {
    let databases = within_limit(Databases::connect(endpoint, scripted, reach)).await?;
    let databases = databases.map_err(|error| failed(&error))?;
    Ok(Pool::new(databases, cases, workers))
}

/// What a replay leaves for the next one.
pub(super) struct Left {
    database: CaseDatabase,
    company: Company,
}

impl Stage {
    /// A worker's own connections to a server.
    pub(crate) async fn connect(
        endpoint: &Endpoint,
        pool: Arc<Pool>,
        options: ReplayOptions,
    ) -> Result<Self, Trouble> {
        let observer = within_limit(Observer::connect(endpoint));
        Ok(Self {
            pool,
            observer: observer
                .await?
                .map_err(|error| Trouble::Server(tell(&error)))?
                .into(),
            endpoint: endpoint.clone(),
            options,
            clears_up_at_once: false,
        })
    }

    /// Replays a scenario in a database of its own, which is soon gone afterwards. Where nothing else
    /// is played on the server, it has a `seat` of its own.
    pub(crate) async fn replay(
        &mut self,
        scenario: &Scenario,
        seat: Option<&mut Seat<'_>>,
    ) -> Outcome {
        let mut database = match self.take_database().await {
            Ok(database) => database,
            Err(trouble) => return Outcome::without_replay(trouble),
        };
        let mut replay = self.begin(scenario, &database, None);
        let played = self.replay_in(&mut database, seat, &mut replay).await;
        let transcript = replay.close().await;
        let mut trouble = self.trouble_of(scenario, &transcript, played).await;
        self.clear_up(database, &mut trouble).await;
        Outcome {
            transcript,
            trouble,
            unmet: Vec::new(),
        }
    }

    /// Replays a scenario in the database, and through the connections, that the one before has left;
    /// where none has, in fresh ones. What it leaves itself is for the next.
    pub(super) async fn replay_next(
        &mut self,
        scenario: &Scenario,
        left: Option<Left>,
    ) -> (Outcome, Option<Left>) {
        let (mut database, company) = match left {
            Some(Left { database, company }) => (database, Some(company)),
            None => match self.take_database().await {
                Ok(database) => (database, None),
                Err(trouble) => return (Outcome::without_replay(trouble), None),
            },
        };
        let is_first = company.is_none();
        let mut replay = self.begin(scenario, &database, company);
        let played = if is_first {
            self.replay_in(&mut database, None, &mut replay).await
        } else {
            self.replay_again(&mut database, &mut replay).await
        };
        let stays = played.is_ok() && replay.everybody().all(|who| replay.is_connected(who));
        let (transcript, company) = if stays {
            let (transcript, company) = replay.hand_over();
            (transcript, Some(company))
        } else {
            (replay.close().await, None)
        };
        let mut trouble = self.trouble_of(scenario, &transcript, played).await;
        let left = match company {
            Some(company) if trouble.is_none() => Some(Left { database, company }),
            _ => {
                self.clear_up(database, &mut trouble).await;
                None
            }
        };
        let outcome = Outcome {
            transcript,
            trouble,
            unmet: Vec::new(),
        };
        (outcome, left)
    }

    /// Ends the connections that the last replay has left, and drops its database.
    pub(super) async fn drop_left(&mut self, scenario: &Scenario, left: Left) {
        let replay = self.begin(scenario, &left.database, Some(left.company));
        replay.close().await;
        self.pool.give_back(left.database).await;
    }

    async fn take_database(&self) -> Result<CaseDatabase, Trouble> {
        let taken = within_limit(self.pool.take()).await?;
        taken.map_err(|error| failed(&error))
    }

    /// A replay about to begin, by a company that is there or one that is still to connect.
    fn begin<'a>(
        &self,
        scenario: &'a Scenario,
        database: &CaseDatabase,
        company: Option<Company>,
    ) -> Replay<'a> {
        let limit = scenario.timeout.unwrap_or(self.options.limit);
        let alias = Alias::of(&database.name);
        let mut replay = Replay::new(scenario, Arc::clone(&self.observer), alias, limit);
        if let Some(company) = company {
            replay.adopt(company);
        }
        replay.locks = LockView::of(scenario, self.options, &self.endpoint, &database.name);
        replay
    }

    /// Why a replay did not come to its end, if it did not.
    async fn trouble_of(
        &self,
        scenario: &Scenario,
        transcript: &Transcript,
        played: Result<(), Trouble>,
    ) -> Option<Trouble> {
        match played {
            Err(trouble) if trouble.is_of_server() => return Some(trouble),
            _ => {}
        }
        if let Some(told) = failure::told_in(scenario, transcript) {
            return Some(told);
        }
        if !self.is_sound(transcript).await {
            return Some(Trouble::Server("the server failed".to_owned()));
        }
        played.err()
    }

    /// Has a database dropped that nobody needs any more.
    async fn clear_up(&self, database: CaseDatabase, trouble: &mut Option<Trouble>) {
        let is_of_server = trouble.as_ref().is_some_and(Trouble::is_of_server);
        // A server that is no more needs no clearing up.
        if is_of_server && timeout(HEEDS_WITHIN, self.observer.answers()).await != Ok(true) {
            return;
        }
        if self.clears_up_at_once {
            if let Err(error) = self.databases().remove(&database).await {
                trouble.get_or_insert(failed(&error));
            }
        } else {
            self.pool.give_back(database).await;
        }
    }

    /// Whether the runner's connections still stand.
    pub(crate) fn is_alive(&self) -> bool {
        self.observer.is_alive() && self.pool.is_alive()
    }

    /// Whether the server is as it was before the case: what was observed is worth nothing if it
    /// crashed meanwhile or is being shut down.
    async fn is_sound(&self, transcript: &Transcript) -> bool {
        let loss = Loss::in_transcript(transcript);
        if loss == Some(Loss::Silent) && !self.observer.outlives_a_crash().await {
            return false;
        }
        let is_open = async || {
            // A server that is being shut down serves whom it has a while longer, but nobody new.
            loss.is_none() || Observer::connect(&self.endpoint).await.is_ok()
        };
        let asked = within_limit(async { self.observer.answers().await && is_open().await });
        asked.await.unwrap_or(false)
    }

    async fn replay_in(
        &mut self,
        database: &mut CaseDatabase,
        seat: Option<&mut Seat<'_>>,
        replay: &mut Replay<'_>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        let outside = replay.outside();
        let everybody: Vec<SessionIndex> = replay
            .everybody()
            .filter(|who| *who != outside || has_use_for_outside(scenario))
            .collect();
        let connected = if !scenario.setup.is_empty() || scenario.clock.is_some() {
            // A connection of its own, so that nothing it has set is seen by the checks.
            let connected = self.connect_all(database, replay, &[outside]).await?;
            Self::enter_all(replay, &[outside], connected).await?;
            replay.install_clock().await?;
            for setup in &scenario.setup {
                replay.run_fixture(outside, setup).await?;
            }
            // What it has made is there; only its end is still to come.
            let connecting = self.connect_all(database, replay, &everybody).await;
            replay.leave(outside).await;
            connecting?
        } else {
            self.connect_all(database, replay, &everybody).await?
        };
        Self::enter_all(replay, &everybody, connected).await?;
        self.perform(database, seat, replay).await
    }

    /// What comes once everybody has connected, where that was for another replay.
    async fn replay_again(
        &mut self,
        database: &mut CaseDatabase,
        replay: &mut Replay<'_>,
    ) -> Result<(), Trouble> {
        for setup in &replay.scenario.setup {
            replay.run_fixture(replay.outside(), setup).await?;
        }
        self.perform(database, None, replay).await
    }

    /// Plays all steps, between the set-ups of the sessions and all tear-downs.
    async fn perform(
        &mut self,
        database: &mut CaseDatabase,
        seat: Option<&mut Seat<'_>>,
        replay: &mut Replay<'_>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        let outside = replay.outside();
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(setup) = &session.setup {
                replay.run_fixture(SessionIndex(at), setup).await?;
            }
        }
        self.play(database, seat, replay).await?;
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(teardown) = &session.teardown
                // Whoever has no connection any more has nothing to tear down.
                && replay.is_connected(SessionIndex(at))
            {
                replay.run_fixture(SessionIndex(at), teardown).await?;
            }
        }
        if let Some(teardown) = &scenario.teardown {
            replay.run_fixture(outside, teardown).await?;
        }
        Ok(())
    }

    /// Plays all steps.
    async fn play(
        &mut self,
        database: &mut CaseDatabase,
        mut seat: Option<&mut Seat<'_>>,
        replay: &mut Replay<'_>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        for (at, step) in scenario.steps.iter().enumerate() {
            let played = match step.action {
                Action::Connect(session) => self.connect_anew(at, session, database, replay).await,
                Action::Restart(how) => {
                    let seat = seat.as_deref_mut();
                    self.restart(at, how, seat, database, replay).await
                }
                _ => replay.play_step(at, step).await,
            };
            let looked = match played {
                Ok(()) => replay.look_at_locks(at).await,
                halted => halted,
            };
            if let Err(halt) = looked {
                return Err(replay.trouble(halt, step.span, Place::Step).await);
            }
        }
        let span = scenario
            .steps
            .last()
            .map_or(Span { start: 0, end: 0 }, |step| step.span);
        match replay.play_out().await {
            Ok(()) => Ok(()),
            Err(halt) => Err(replay.trouble(halt, span, Place::Step).await),
        }
    }

    /// What makes and changes the databases.
    pub(super) fn databases(&self) -> &Databases {
        self.pool.databases()
    }
}

/// Whether there is something for the outside observer to ask or to do once the sessions have
/// connected.
fn has_use_for_outside(scenario: &Scenario) -> bool {
    let asks = |step: &Step| matches!(step.action, Action::Check(_) | Action::Restart(_));
    scenario.teardown.is_some()
        || scenario.clock.is_some()
        || scenario.carries_over
        || scenario.steps.iter().any(asks)
}

impl Replay<'_> {
    /// Runs SQL that is no step: it must end, without an error, and leaves nothing in the
    /// transcript.
    pub(super) async fn run_fixture(
        &mut self,
        session: SessionIndex,
        sql: &SqlText,
    ) -> Result<(), Trouble> {
        for answered in self.run_apart(session, sql).await? {
            if let Some(error) = answered.error() {
                return Err(failure::told_by(error).unwrap_or_else(|| {
                    let source = &self.scenario.source;
                    Trouble::Invalid(server_error(source, sql, &answered.statement, error))
                }));
            }
        }
        Ok(())
    }

    /// Runs SQL that is no step to its end, and gives what was answered.
    pub(super) async fn run_apart(
        &mut self,
        session: SessionIndex,
        sql: &SqlText,
    ) -> Result<Vec<Answered>, Trouble> {
        let sending = Sending::Statements(sql.clone());
        self.send_apart(session, sending, sql.span).await
    }

    /// Has a session send what is no step, waits for its end, and gives what was answered.
    pub(super) async fn send_apart(
        &mut self,
        session: SessionIndex,
        sending: Sending,
        span: Span,
    ) -> Result<Vec<Answered>, Trouble> {
        let ended = match self.run(session, None, &sending, Reply::Awaited).await {
            Ok(()) => self.await_end(session).await,
            Err(halt) => Err(halt),
        };
        if let Err(halt) = ended {
            return Err(self.trouble(halt, span, Place::Apart).await);
        }
        let ended = self.take_ended(session);
        let is_lost = |answered: &Answered| {
            answered.error().is_none() && answered.answers.contains(&Answer::ConnectionLost)
        };
        if ended.iter().any(is_lost) {
            let name = self.name(session);
            return Err(Trouble::Server(format!("the connection of {name} is lost")));
        }
        Ok(ended)
    }
}

/// What the runner asks of the server for itself is answered in time, or the server has failed.
pub(crate) async fn within_limit<T>(asked: impl Future<Output = T>) -> Result<T, Trouble> {
    tokio::time::timeout(OWN_LIMIT, asked).await.map_err(|_| {
        let seconds = OWN_LIMIT.as_secs();
        Trouble::Server(format!("the server does not answer within {seconds} s"))
    })
}

fn failed(error: &DatabaseError) -> Trouble {
    let code = error.refusal().map(|said| said.code().code());
    failure::trouble(code, error.to_string())
}
