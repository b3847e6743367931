//! Connections for the sessions of a case.

use std::time::Duration;

use tokio::task::JoinSet;

use super::case::Stage;
use super::clock;
use super::outcome::Trouble;
use super::refusal::{denied, refused, refused_role};
use super::replay::{Halt, Replay};
use super::trouble::tell;
use crate::scenario::{SUPERUSER_SETTINGS, SessionIndex, SqlText};
use crate::server::{CaseDatabase, Endpoint, identifier};
use crate::transcript::EventKind;
use crate::wire::{self, ConnectError, Receiver, Sender, Startup};

/// What an attempt to connect gave; nothing when its time was over.
type Connected = Option<Result<(Sender, Receiver), ConnectError>>;

impl Stage {
    /// Gives a session a fresh connection, which is set up as its first one was: with its settings,
    /// its isolation level, its role and its set-up. What is left of the old one has lost its client.
    pub(super) async fn connect_anew(
        &self,
        at: usize,
        session: SessionIndex,
        database: &CaseDatabase,
        replay: &mut Replay<'_>,
    ) -> Result<(), Halt> {
        replay.lose(session);
        replay.settle_and_report(None).await?;
        replay.push(at, EventKind::Connected(session));
        let connected = self.connect_all(database, replay, &[session]).await?;
        Self::enter_all(replay, &[session], connected).await?;
        if let Some(setup) = &replay.scenario.sessions[session.0].setup {
            replay.run_fixture(session, setup).await?;
        }
        Ok(())
    }

    /// As whom everything that the scenario brings logs in.
    fn login<'a>(&'a self, database: &'a CaseDatabase, replay: &Replay<'_>) -> &'a Endpoint {
        match replay.scenario.superuser {
            Some(_) => &self.endpoint,
            None => &database.role,
        }
    }

    /// Connects sessions, or the outside observer, with their settings. All do so at once, apart
    /// from those with settings which are the role's for a moment, so that nobody else gets them.
    pub(super) async fn connect_all(
        &self,
        database: &CaseDatabase,
        replay: &Replay<'_>,
        who: &[SessionIndex],
    ) -> Result<Vec<Connected>, Trouble> {
        let mut connected: Vec<Connected> = who.iter().map(|_| None).collect();
        let mut others = JoinSet::new();
        for (place, at) in who.iter().enumerate() {
            let entrance = Entrance::of(self.login(database, replay), database, replay, *at);
            if entrance.reserved.is_empty() {
                continue;
            }
            let databases = self.databases();
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
            let entrance = Entrance::of(self.login(database, replay), database, replay, *at);
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
    pub(super) async fn enter_all(
        replay: &mut Replay<'_>,
        who: &[SessionIndex],
        connected: Vec<Connected>,
    ) -> Result<(), Trouble> {
        let scenario = replay.scenario;
        let mut kept_out = None;
        for (at, connected) in who.iter().zip(connected) {
            let session = scenario.sessions.get(at.0);
            let trouble = match connected {
                Some(Ok((sender, receiver))) => {
                    replay.enter(*at, sender, receiver);
                    continue;
                }
                Some(Err(error)) => refused(scenario, session, &error),
                None => Trouble::Server("a connection is not answered in time".to_owned()),
            };
            kept_out.get_or_insert(trouble);
        }
        // Those who were let in have taken part all the same: their ends are waited for.
        kept_out.map_or(Ok(()), Err)?;
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
    fn of(
        login: &Endpoint,
        database: &CaseDatabase,
        replay: &Replay<'a>,
        at: SessionIndex,
    ) -> Self {
        let session = replay.scenario.sessions.get(at.0);
        let may_set_all = replay.scenario.superuser.is_some();
        let (reserved, own): (Vec<_>, Vec<_>) = session
            .iter()
            .flat_map(|session| &session.settings)
            .map(|setting| (setting.name.value.as_str(), setting.value.as_str()))
            .partition(|(name, _)| !may_set_all && SUPERUSER_SETTINGS.contains(name));
        let isolation = session
            .and_then(|session| session.isolation)
            .map(|isolation| ("default_transaction_isolation", isolation.as_sql()));
        let path = own.iter().find(|(name, _)| *name == "search_path");
        let path = replay.clock.is_some().then(|| {
            (
                "search_path",
                clock::search_path(path.map(|(_, value)| *value)),
            )
        });
        let startup = Startup {
            user: login.user.clone(),
            password: login.password.clone(),
            database: database.name.clone(),
            application_name: replay.name(at).to_owned(),
            options: isolation
                .into_iter()
                .chain(own)
                .map(|(name, value)| (name, value.to_owned()))
                // The last one of a name counts.
                .chain(path)
                .map(|(name, value)| (name.to_owned(), value))
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
