//! One case from its empty database to its end.

use std::time::Duration;

use super::expect::server_error;
use super::live::Answered;
use super::loss::Loss;
use super::observer::Observer;
use super::outcome::{Outcome, Trouble};
use super::refusal::{denied, refused, refused_role};
use super::replay::Replay;
use super::trouble::{Place, tell};
use crate::scenario::{SUPERUSER_SETTINGS, Scenario, SessionIndex, Span, SqlText};
use crate::server::{CaseDatabase, DatabaseError, Databases, Endpoint};
use crate::transcript::{Answer, Transcript};
use crate::wire::{self, Startup};

/// How long what the runner asks for itself may take: a database, a look, a connection.
pub(crate) const OWN_LIMIT: Duration = Duration::from_secs(60);

/// What the cases of one worker share: connections of the runner's own to one server.
pub(crate) struct Stage {
    /// Makes and drops the databases.
    pub databases: Databases,
    /// Where the runner itself logs in.
    endpoint: Endpoint,
    /// Whom the scenario's connections log in as.
    pub scripted: Endpoint,
    /// Asks who waits for whom.
    pub observer: Observer,
    /// How long a step may take where the scenario does not say.
    pub limit: Duration,
}

impl Stage {
    /// A worker's own connections to a server.
    pub(crate) async fn connect(
        endpoint: &Endpoint,
        scripted: &Endpoint,
        limit: Duration,
    ) -> Result<Self, Trouble> {
        let databases = within_limit(Databases::connect(endpoint, &scripted.user));
        let observer = within_limit(Observer::connect(endpoint));
        Ok(Self {
            databases: databases.await?.map_err(|error| failed(&error))?,
            observer: observer
                .await?
                .map_err(|error| Trouble::Server(tell(&error)))?,
            endpoint: endpoint.clone(),
            scripted: scripted.clone(),
            limit,
        })
    }

    /// Replays a scenario in a database of its own, which is gone afterwards.
    pub(crate) async fn replay(&self, scenario: &Scenario) -> Outcome {
        let limit = scenario.timeout.unwrap_or(self.limit);
        let mut replay = Replay::new(scenario, &self.observer, limit);
        let database = match self.create().await {
            Ok(database) => database,
            Err(trouble) => {
                return Outcome {
                    transcript: replay.transcript,
                    trouble: Some(trouble),
                };
            }
        };
        let mut trouble = self.replay_in(&database, &mut replay).await.err();
        replay.close().await;
        if !matches!(trouble, Some(Trouble::Server(_))) && !self.is_sound(&replay.transcript).await
        {
            trouble = Some(Trouble::Server("the server failed".to_owned()));
        }
        if !matches!(trouble, Some(Trouble::Server(_)))
            && let Err(why) = self.remove(&database).await
        {
            // What went wrong first says more.
            trouble.get_or_insert(why);
        }
        Outcome {
            transcript: replay.transcript,
            trouble,
        }
    }

    async fn create(&self) -> Result<CaseDatabase, Trouble> {
        let created = within_limit(self.databases.create()).await?;
        created.map_err(|error| failed(&error))
    }

    async fn remove(&self, database: &CaseDatabase) -> Result<(), Trouble> {
        let removed = within_limit(self.databases.remove(database)).await?;
        removed.map_err(|error| failed(&error))
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
        if let Some(setup) = &scenario.setup {
            // A connection of its own, so that nothing it has set is seen by the checks.
            self.enter(database, replay, outside).await?;
            replay.run_fixture(outside, setup).await?;
            replay.leave(outside).await;
        }
        for at in (0..scenario.sessions.len()).map(SessionIndex) {
            self.enter(database, replay, at).await?;
        }
        self.enter(database, replay, outside).await?;
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

    /// Connects a session, or the outside observer, with its settings.
    async fn enter(
        &self,
        database: &CaseDatabase,
        replay: &mut Replay<'_>,
        at: SessionIndex,
    ) -> Result<(), Trouble> {
        let session = replay.scenario.sessions.get(at.0);
        let settings: Vec<(&str, &str)> = session
            .iter()
            .flat_map(|session| &session.settings)
            .map(|setting| (setting.name.value.as_str(), setting.value.as_str()))
            .collect();
        let (reserved, own): (Vec<_>, Vec<_>) = settings
            .into_iter()
            .partition(|(name, _)| SUPERUSER_SETTINGS.contains(name));
        let isolation = session
            .and_then(|session| session.isolation)
            .map(|isolation| {
                (
                    "default_transaction_isolation".to_owned(),
                    isolation.as_sql().to_owned(),
                )
            });
        let startup = Startup {
            user: self.scripted.user.clone(),
            password: self.scripted.password.clone(),
            database: database.name.clone(),
            application_name: replay.name(at).to_owned(),
            options: isolation
                .into_iter()
                .chain(
                    own.into_iter()
                        .map(|(name, value)| (name.to_owned(), value.to_owned())),
                )
                .collect(),
        };
        if !reserved.is_empty() {
            let set = self
                .databases
                .with_superuser_settings(database, &reserved)
                .await;
            set.map_err(|error| denied(replay.scenario, session, &error))?;
        }
        let connected = tokio::time::timeout(
            replay.limit,
            wire::connect_with_tls(&self.scripted.address, &self.scripted.tls, &startup),
        )
        .await;
        if !reserved.is_empty() {
            let reset = self.databases.reset_superuser_settings(database).await;
            reset.map_err(|error| failed(&error))?;
        }
        let (sender, receiver) = match connected {
            Ok(Ok(halves)) => halves,
            Ok(Err(error)) => return Err(refused(replay.scenario, session, &error)),
            Err(_) => {
                return Err(Trouble::Server(
                    "a connection is not answered in time".to_owned(),
                ));
            }
        };
        replay.enter(at, sender, receiver);
        if let Some(role) = session.and_then(|session| session.role.as_ref()) {
            let sql = SqlText {
                text: format!("SET ROLE {};", quote_identifier(&role.value)),
                span: role.span,
                origins: Vec::new(),
            };
            for answered in replay.run_apart(at, &sql).await? {
                if let Some(error) = answered.error() {
                    return Err(refused_role(replay.scenario, role, error));
                }
            }
        }
        Ok(())
    }
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
        let ended = match self.run(session, None, sql).await {
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
async fn within_limit<T>(asked: impl Future<Output = T>) -> Result<T, Trouble> {
    tokio::time::timeout(OWN_LIMIT, asked).await.map_err(|_| {
        let seconds = OWN_LIMIT.as_secs();
        Trouble::Server(format!("the server does not answer within {seconds} s"))
    })
}

fn failed(error: &DatabaseError) -> Trouble {
    Trouble::Server(error.to_string())
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
