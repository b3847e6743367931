//! One case from its empty database to its end.

use std::time::Duration;

use super::expect::server_error;
use super::live::Answered;
use super::observer::Observer;
use super::outcome::{Outcome, Trouble};
use super::replay::Replay;
use super::trouble::tell;
use crate::scenario::{
    Diagnostic, SUPERUSER_SETTINGS, Scenario, Session, SessionIndex, Span, SqlText,
};
use crate::server::{CaseDatabase, DatabaseError, Databases, Endpoint};
use crate::transcript::Answer;
use crate::wire::{self, ConnectError, Startup};

/// What the cases of one worker share: connections of the runner's own to one server.
pub(crate) struct Stage {
    /// Makes and drops the databases.
    pub databases: Databases,
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
        Ok(Self {
            databases: Databases::connect(endpoint, &scripted.user)
                .await
                .map_err(|error| Trouble::Server(tell(&error)))?,
            observer: Observer::connect(endpoint)
                .await
                .map_err(|error| Trouble::Server(tell(&error)))?,
            scripted: scripted.clone(),
            limit,
        })
    }

    /// Replays a scenario in a database of its own, which is gone afterwards.
    pub(crate) async fn replay(&self, scenario: &Scenario) -> Outcome {
        let limit = scenario.timeout.unwrap_or(self.limit);
        let mut replay = Replay::new(scenario, &self.observer, limit);
        let database = match self.databases.create().await {
            Ok(database) => database,
            Err(error) => {
                return Outcome {
                    transcript: replay.transcript,
                    trouble: Some(Trouble::Server(tell(&error))),
                };
            }
        };
        let mut trouble = self.replay_in(&database, &mut replay).await.err();
        replay.close().await;
        if let Err(error) = self.databases.remove(&database).await {
            // What went wrong first says more.
            trouble.get_or_insert(Trouble::Server(tell(&error)));
        }
        if !matches!(trouble, Some(Trouble::Server(_))) && !self.observer.answers().await {
            trouble = Some(Trouble::Server("the server is gone".to_owned()));
        }
        Outcome {
            transcript: replay.transcript,
            trouble,
        }
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
            replay.run_apart(outside, setup).await?;
            replay.leave(outside).await;
        }
        for at in (0..scenario.sessions.len()).map(SessionIndex) {
            self.enter(database, replay, at).await?;
        }
        self.enter(database, replay, outside).await?;
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(setup) = &session.setup {
                replay.run_apart(SessionIndex(at), setup).await?;
            }
        }
        if let Err((step, halt)) = replay.play().await {
            let span = scenario
                .steps
                .get(step)
                .map_or(Span { start: 0, end: 0 }, |step| step.span);
            return Err(replay.trouble(halt, span).await);
        }
        for (at, session) in scenario.sessions.iter().enumerate() {
            if let Some(teardown) = &session.teardown {
                replay.run_apart(SessionIndex(at), teardown).await?;
            }
        }
        if let Some(teardown) = &scenario.teardown {
            replay.run_apart(outside, teardown).await?;
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
            reset.map_err(|error| Trouble::Server(tell(&error)))?;
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
            replay.run_apart(at, &sql).await?;
        }
        Ok(())
    }
}

impl Replay<'_> {
    /// Runs SQL that is no step: it must end, without an error, and leaves nothing in the
    /// transcript.
    async fn run_apart(&mut self, session: SessionIndex, sql: &SqlText) -> Result<(), Trouble> {
        let ended = match self.run(session, None, sql).await {
            Ok(()) => self.await_end(session).await,
            Err(halt) => Err(halt),
        };
        if let Err(halt) = ended {
            return Err(self.trouble(halt, sql.span).await);
        }
        for answered in self.take_ended(session) {
            if let Some(trouble) = self.failed(session, sql, &answered) {
                return Err(trouble);
            }
        }
        Ok(())
    }

    fn failed(&self, session: SessionIndex, sql: &SqlText, answered: &Answered) -> Option<Trouble> {
        answered.answers.iter().find_map(|answer| match answer {
            Answer::Error(error) => Some(Trouble::Invalid(server_error(
                &self.scenario.source,
                sql,
                &answered.statement,
                error,
            ))),
            Answer::ConnectionLost => Some(Trouble::Server(format!(
                "the connection of {} is lost",
                self.name(session)
            ))),
            _ => None,
        })
    }
}

/// A connection that the server refuses because of what the scenario asks of it is the scenario's
/// fault; any other is not.
fn refused(scenario: &Scenario, session: Option<&Session>, error: &ConnectError) -> Trouble {
    let named = |message: &str| {
        session?
            .settings
            .iter()
            .find(|setting| message.contains(&setting.name.value))
            .map(|s| s.name.span)
    };
    match error
        .refusal()
        .map(|refusal| (refusal, named(&refusal.message)))
    {
        Some((refusal, Some(span))) => Trouble::Invalid(Diagnostic {
            source: scenario.source.clone(),
            message: refusal.message.clone(),
            span,
            label: "the server refuses this setting".to_owned(),
            related: Vec::new(),
            help: refusal.hint.clone(),
        }),
        _ => Trouble::Server(tell(error)),
    }
}

/// A setting that only a superuser may set, where Lockstep's role is none.
fn denied(scenario: &Scenario, session: Option<&Session>, error: &DatabaseError) -> Trouble {
    let reserved = session
        .into_iter()
        .flat_map(|session| &session.settings)
        .find(|setting| SUPERUSER_SETTINGS.contains(&setting.name.value.as_str()));
    match (error.denial(), reserved) {
        (Some(message), Some(setting)) => Trouble::Invalid(Diagnostic {
            source: scenario.source.clone(),
            message,
            span: setting.name.span,
            label: "this needs a server on which Lockstep is a superuser".to_owned(),
            related: Vec::new(),
            help: Some(format!(
                "connect as a superuser, or leave it out; on PostgreSQL 15 and later a superuser \
                 can also allow it: GRANT SET ON PARAMETER {} TO the role of the URL",
                setting.name.value
            )),
        }),
        _ => Trouble::Server(tell(error)),
    }
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
