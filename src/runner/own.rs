//! Cases that have a server of their own.

use super::exploration::Exploration;
use super::failure::explain;
use super::options::ReplayOptions;
use super::outcome::{Outcome, Trouble};
use super::seat::{Seat, explore_alone, replay_alone};
use super::trouble::tell;
use crate::scenario::{
    Action, Diagnostic, Scenario, Sending, Span, SqlText, Step, prepared_transactions,
    reaches_beyond_its_database,
};
use crate::server::{Reach, Recipe, Server, StartError};

/// Words of SQL whose outcome depends on what others do on the server: on all transactions, or on who
/// wakes whom. (Whoever waits is awake for a moment whenever a database is dropped.)
const OF_ALL: [&str; 8] = [
    "wait_event",
    "wait_event_type",
    "vacuum",
    "cluster",
    "pg_current_snapshot",
    "txid_current_snapshot",
    "pg_export_snapshot",
    "backend_xmin",
];

/// Whether a scenario is replayed on a server of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Apart {
    /// In a database on a server that others are played on.
    Never,
    /// Where Lockstep can start one: what VACUUM may remove or freeze depends on the oldest
    /// transaction of the whole server, through the snapshots of the case's own sessions; a snapshot
    /// that is shown names all transactions of the server; the identifiers of prepared transactions
    /// are the server's; a wait that is shown is interrupted whenever a database is dropped; and no
    /// database can be dropped while a COPY waits for data. All else that cases do they do in
    /// databases of their own.
    IfPossible,
    /// It asks for one, or restarts it.
    Always,
}

impl Apart {
    /// What a scenario needs.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let looks_at_all = |sql: &SqlText| {
            sql.text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| OF_ALL.iter().any(|name| word.eq_ignore_ascii_case(name)))
        };
        let is_shared =
            |sql: &SqlText| looks_at_all(sql) || prepared_transactions(&sql.text).next().is_some();
        if scenario.own_server.is_some() || restart(scenario).is_some() {
            Self::Always
        } else if scenario.all_sql().any(is_shared) || leaves_stream_open(scenario) {
            Self::IfPossible
        } else {
            Self::Never
        }
    }

    /// Whether it has one, where servers can be started by a recipe, or cannot.
    pub(crate) const fn holds(self, recipe: Option<&Recipe>) -> bool {
        match self {
            Self::Never => false,
            Self::IfPossible => recipe.is_some(),
            Self::Always => true,
        }
    }
}

/// Whether a COPY is left open by a step.
fn leaves_stream_open(scenario: &Scenario) -> bool {
    let mut steps = scenario.steps.iter();
    steps.any(|step| {
        matches!(
            step.action,
            Action::Send {
                sending: Sending::Copy { more: true, .. },
                ..
            }
        )
    })
}

/// The first step that stops the server and starts it again.
fn restart(scenario: &Scenario) -> Option<&Step> {
    let mut steps = scenario.steps.iter();
    steps.find(|step| matches!(step.action, Action::Restart(_)))
}

/// A server that is started for a scenario and gone afterwards.
struct Own(Server);

impl Own {
    async fn start(scenario: &Scenario, recipe: Option<&Recipe>) -> Result<Self, Trouble> {
        let Some(recipe) = recipe else {
            return Err(not_to_be_had(scenario));
        };
        let own = scenario.own_server.as_ref();
        let settings: Vec<(String, String)> = own
            .into_iter()
            .flat_map(|own| &own.settings)
            .map(|setting| (setting.name.value.clone(), setting.value.clone()))
            .collect();
        let started = if restart(scenario).is_some() {
            recipe.start_restartable(&settings).await
        } else {
            recipe.start(&settings).await
        };
        started.map(Self).map_err(|error| refused(scenario, &error))
    }

    fn seat(&mut self, scenario: &Scenario) -> Seat<'_> {
        let reach = match scenario.own_server {
            Some(_) => Reach::Server,
            None => Reach::Alone,
        };
        Seat::Own(&mut self.0, reach)
    }

    /// Stops it, and says more of trouble that it met.
    async fn stop(self, trouble: &mut Option<Trouble>) {
        if let Some(trouble) = trouble {
            explain(trouble, &self.0).await;
        }
        if let Err(why) = self.0.stop().await {
            // What went wrong first says more.
            trouble.get_or_insert(Trouble::Server(why));
        }
    }
}

/// Replays a scenario, which has its steps in one order, on a server that is started for it and gone
/// afterwards.
pub(crate) async fn replay_apart(
    scenario: &Scenario,
    recipe: Option<&Recipe>,
    options: ReplayOptions,
) -> Outcome {
    let mut own = match Own::start(scenario, recipe).await {
        Ok(own) => own,
        Err(trouble) => return Outcome::without_replay(trouble),
    };
    let mut outcome = replay_alone(scenario, own.seat(scenario), options).await;
    own.stop(&mut outcome.trouble).await;
    outcome
}

/// Plays the schedules that nobody has begun, on servers that are started for them and gone afterwards:
/// one after the other on the same, unless one might leave something there for the next.
pub(crate) async fn explore_apart(
    exploration: &Exploration,
    recipe: Option<&Recipe>,
    options: ReplayOptions,
) {
    let scenario = exploration.scenario();
    if may_change_server(scenario) && !scenario.carries_over {
        while let Some(turn) = exploration.next() {
            let outcome = replay_apart(turn.scenario(), recipe, options).await;
            exploration.take(turn, outcome);
        }
        return;
    }
    let mut own = match Own::start(scenario, recipe).await {
        Ok(own) => own,
        Err(trouble) => return exploration.fail(trouble),
    };
    let explored = explore_alone(exploration, own.seat(scenario), options).await;
    let mut trouble = explored.err();
    own.stop(&mut trouble).await;
    if let Some(trouble) = trouble {
        exploration.fail(trouble);
    }
}

/// Whether a scenario may change what stays when its database is dropped.
fn may_change_server(scenario: &Scenario) -> bool {
    let mut sql = scenario.all_sql();
    scenario.superuser.is_some() || sql.any(|sql| reaches_beyond_its_database(&sql.text))
}

/// Somebody else's server is not Lockstep's to start once more.
fn not_to_be_had(scenario: &Scenario) -> Trouble {
    let asked = scenario.own_server.as_ref().map(|own| own.span);
    let span = asked.or_else(|| restart(scenario).map(|step| step.span));
    Trouble::Invalid(Diagnostic {
        source: scenario.source.clone(),
        message: "the scenario needs a server of its own".to_owned(),
        span: span.unwrap_or(Span { start: 0, end: 0 }),
        label: "none can be started beside an external one".to_owned(),
        related: Vec::new(),
        help: Some("replay it with `--server embedded`".to_owned()),
    })
}

/// A server that does not take a setting is the scenario's fault, since it chose the value.
fn refused(scenario: &Scenario, error: &StartError) -> Trouble {
    let told = tell(error);
    let settings = scenario.own_server.iter().flat_map(|own| &own.settings);
    let named = settings
        .into_iter()
        .find_map(|setting| Some((setting, complaint(&told, &setting.name.value)?)));
    let Some((setting, complaint)) = named else {
        return Trouble::Server(format!("failed to start a server for the case: {told}"));
    };
    Trouble::Invalid(Diagnostic {
        source: scenario.source.clone(),
        message: complaint.to_owned(),
        span: setting.name.span,
        label: "the server does not start with this".to_owned(),
        related: Vec::new(),
        help: error.help(),
    })
}

/// The line of a server's log that complains about a setting.
fn complaint<'a>(log: &'a str, setting: &str) -> Option<&'a str> {
    let line = log
        .lines()
        .find(|line| line.contains("FATAL:") && line.contains(setting))?;
    line.split_once("FATAL:")
        .map(|(_, message)| message.trim_start())
}
