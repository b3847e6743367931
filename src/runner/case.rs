//! One case from its empty database to its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::alias::Alias;
use super::expect::server_error;
use super::live::Answered;
use super::locks::LockView;
use super::loss::Loss;
use super::observer::Observer;
use super::options::ReplayOptions;
use super::outcome::{Outcome, Trouble};
use super::refusal::{denied, refused, refused_role};
use super::replay::Replay;
use super::trouble::{Place, tell};
use crate::scenario::{Reply, SUPERUSER_SETTINGS, Scenario, Sending, SessionIndex, Span, SqlText};
use crate::server::{
    CaseDatabase, DatabaseError, Databases, Endpoint, Pool, Reach, Server, identifier,
};
use crate::transcript::{Answer, Transcript};
use crate::wire::{self, ConnectError, Receiver, Sender, Startup};

/// How long what the runner asks for itself may take: a database, a look, a connection.
const OWN_LIMIT: Duration = Duration::from_secs(60);

/// What an attempt to connect gave; nothing when its time was over.
type Connected = Option<Result<(Sender, Receiver), ConnectError>>;

/// What the cases of one worker share: the runner's own connections to one server. They are not in
/// the cases' databases, and log in as a role that no case has.
pub(crate) struct Stage {
    /// Makes and drops the databases; all workers share it.
    pool: Arc<Pool>,
    /// Where the runner itself logs in.
    endpoint: Endpoint,
    /// Asks who waits for whom.
    observer: Observer,
    options: ReplayOptions,
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

/// A server which nothing else is played on.
pub(crate) enum Seat<'a> {
    /// Others may be played on it later.
    Lent(&'a Server),
    /// The case's own to restart, and gone afterwards.
    Own(&'a mut Server, Reach),
}

impl Seat<'_> {
    fn server(&self) -> &Server {
        match self {
            Self::Lent(server) => server,
            Self::Own(server, _) => server,
        }
    }

    const fn reach(&self) -> Reach {
        match self {
            Self::Lent(_) => Reach::Database,
            Self::Own(_, reach) => *reach,
        }
    }
}

/// Replays one scenario on a server which nothing else is played on.
pub(crate) async fn replay_alone(
    scenario: &Scenario,
    seat: Seat<'_>,
    options: ReplayOptions,
) -> Outcome {
    let server = seat.server();
    let (endpoint, scripted) = (server.endpoint(), server.scripted_endpoint());
    let pool = match prepare(endpoint, scripted, seat.reach(), 1, 1).await {
        Ok(pool) => Arc::new(pool),
        Err(trouble) => return Outcome::without_replay(trouble),
    };
    let mut outcome = match Stage::connect(endpoint, Arc::clone(&pool), options).await {
        Ok(stage) => stage.replay(scenario).await,
        Err(trouble) => Outcome::without_replay(trouble),
    };
    // What is on the case's own server goes with it.
    if let Seat::Lent(_) = seat
        && let Some(pool) = Arc::into_inner(pool)
        && let Err(error) = pool.close().await
    {
        // What went wrong first says more.
        let trouble = || Trouble::Server(tell(&error));
        outcome.trouble.get_or_insert_with(trouble);
    }
    outcome
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
                .map_err(|error| Trouble::Server(tell(&error)))?,
            endpoint: endpoint.clone(),
            options,
        })
    }

    /// Replays a scenario in a database of its own, which is soon gone afterwards.
    pub(crate) async fn replay(&self, scenario: &Scenario) -> Outcome {
        let database = match within_limit(self.pool.take()).await {
            Ok(Ok(database)) => database,
            Ok(Err(error)) => return Outcome::without_replay(failed(&error)),
            Err(trouble) => return Outcome::without_replay(trouble),
        };
        let limit = scenario.timeout.unwrap_or(self.options.limit);
        let alias = Alias::of(&database.name);
        let mut replay = Replay::new(scenario, &self.observer, alias, limit);
        replay.locks = LockView::of(scenario, self.options, &self.endpoint, &database.name);
        let mut trouble = self.replay_in(&database, &mut replay).await.err();
        let transcript = replay.close().await;
        if !matches!(trouble, Some(Trouble::Server(_))) && !self.is_sound(&transcript).await {
            trouble = Some(Trouble::Server("the server failed".to_owned()));
        }
        if !matches!(trouble, Some(Trouble::Server(_))) {
            self.pool.give_back(database).await;
        }
        Outcome {
            transcript,
            trouble,
        }
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
        &self,
        database: &CaseDatabase,
        replay: &mut Replay<'_>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        let outside = replay.outside();
        let everybody: Vec<SessionIndex> = replay.everybody().collect();
        let connected = if let Some(setup) = &scenario.setup {
            // A connection of its own, so that nothing it has set is seen by the checks.
            let connected = self.connect_all(database, replay, &[outside]).await?;
            Self::enter_all(replay, &[outside], connected).await?;
            replay.run_fixture(outside, setup).await?;
            // What it has made is there; only its end is still to come.
            let connecting = self.connect_all(database, replay, &everybody).await;
            replay.leave(outside).await;
            connecting?
        } else {
            self.connect_all(database, replay, &everybody).await?
        };
        Self::enter_all(replay, &everybody, connected).await?;
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(setup) = &session.setup {
                replay.run_fixture(SessionIndex(at), setup).await?;
            }
        }
        if let Err((step, halt)) = replay.play().await {
            let span = scenario
                .steps
                .get(step)
                .map_or(Span { start: 0, end: 0 }, |step| step.span);
            return Err(replay.trouble(halt, span, Place::Step).await);
        }
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(teardown) = &session.teardown {
                replay.run_fixture(SessionIndex(at), teardown).await?;
            }
        }
        if let Some(teardown) = &scenario.teardown {
            replay.run_fixture(outside, teardown).await?;
        }
        Ok(())
    }

    /// Connects sessions, or the outside observer, with their settings. All do so at once, apart
    /// from those with settings which are the role's for a moment, so that nobody else gets them.
    async fn connect_all(
        &self,
        database: &CaseDatabase,
        replay: &Replay<'_>,
        who: &[SessionIndex],
    ) -> Result<Vec<Connected>, Trouble> {
        let mut connected: Vec<Connected> = who.iter().map(|_| None).collect();
        let mut others = JoinSet::new();
        for (place, at) in who.iter().enumerate() {
            let entrance = Entrance::of(database, replay, *at);
            if entrance.reserved.is_empty() {
                continue;
            }
            let databases = self.pool.databases();
            let set = databases
                .with_superuser_settings(database, &entrance.reserved)
                .await;
            set.map_err(|error| {
                denied(replay.scenario, replay.scenario.sessions.get(at.0), &error)
            })?;
            connected[place] = connect(database, entrance.startup, replay.limit).await;
            let reset = databases.reset_superuser_settings(database).await;
            reset.map_err(|error| Trouble::Server(tell(&error)))?;
        }
        for (place, at) in who.iter().enumerate() {
            let entrance = Entrance::of(database, replay, *at);
            if entrance.reserved.is_empty() {
                let (database, limit) = (database.clone(), replay.limit);
                others.spawn(
                    async move { (place, connect(&database, entrance.startup, limit).await) },
                );
            }
        }
        for (place, attempt) in others.join_all().await {
            connected[place] = attempt;
        }
        Ok(connected)
    }

    /// Lets those who have connected take part, in the order of the file.
    async fn enter_all(
        replay: &mut Replay<'_>,
        who: &[SessionIndex],
        connected: Vec<Connected>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        for (at, connected) in who.iter().zip(connected) {
            let session = scenario.sessions.get(at.0);
            match connected {
                Some(Ok((sender, receiver))) => replay.enter(*at, sender, receiver),
                Some(Err(error)) => return Err(refused(scenario, session, &error)),
                None => {
                    return Err(Trouble::Server(
                        "a connection is not answered in time".to_owned(),
                    ));
                }
            }
        }
        for at in who {
            let session = scenario.sessions.get(at.0);
            if let Some(role) = session.and_then(|session| session.role.as_ref()) {
                let sql = SqlText {
                    text: format!("SET ROLE {};", identifier(&role.value)),
                    span: role.span,
                    origins: Vec::new(),
                };
                for answered in replay.run_apart(*at, &sql).await? {
                    if let Some(error) = answered.error() {
                        return Err(refused_role(scenario, role, error));
                    }
                }
            }
        }
        Ok(())
    }
}

/// How a session connects.
struct Entrance<'a> {
    startup: Startup,
    /// The settings that it may not bring itself.
    reserved: Vec<(&'a str, &'a str)>,
}

impl<'a> Entrance<'a> {
    fn of(database: &CaseDatabase, replay: &Replay<'a>, at: SessionIndex) -> Self {
        let session = replay.scenario.sessions.get(at.0);
        let (reserved, own): (Vec<_>, Vec<_>) = session
            .iter()
            .flat_map(|session| &session.settings)
            .map(|setting| (setting.name.value.as_str(), setting.value.as_str()))
            .partition(|(name, _)| SUPERUSER_SETTINGS.contains(name));
        let isolation = session
            .and_then(|session| session.isolation)
            .map(|isolation| ("default_transaction_isolation", isolation.as_sql()));
        let startup = Startup {
            user: database.role.user.clone(),
            password: database.role.password.clone(),
            database: database.name.clone(),
            application_name: replay.name(at).to_owned(),
            options: isolation
                .into_iter()
                .chain(own)
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        };
        Self { startup, reserved }
    }
}

async fn connect(database: &CaseDatabase, startup: Startup, limit: Duration) -> Connected {
    let Endpoint { address, tls, .. } = &database.role;
    tokio::time::timeout(limit, wire::connect_with_tls(address, tls, &startup))
        .await
        .ok()
}

impl Replay<'_> {
    /// Runs SQL that is no step: it must end, without an error, and leaves nothing in the
    /// transcript.
    async fn run_fixture(&mut self, session: SessionIndex, sql: &SqlText) -> Result<(), Trouble> {
        for answered in self.run_apart(session, sql).await? {
            if let Some(error) = answered.error() {
                return Err(Trouble::Invalid(server_error(
                    &self.scenario.source,
                    sql,
                    &answered.statement,
                    error,
                )));
            }
        }
        Ok(())
    }

    /// Runs SQL that is no step to its end, and gives what was answered.
    async fn run_apart(
        &mut self,
        session: SessionIndex,
        sql: &SqlText,
    ) -> Result<Vec<Answered>, Trouble> {
        let sending = Sending::Statements(sql.clone());
        let ended = match self.run(session, None, &sending, Reply::Awaited).await {
            Ok(()) => self.await_end(session).await,
            Err(halt) => Err(halt),
        };
        if let Err(halt) = ended {
            return Err(self.trouble(halt, sql.span, Place::Apart).await);
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
    Trouble::Server(error.to_string())
}
