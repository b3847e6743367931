//! Cases that have a server of their own.

use std::sync::Arc;

use super::case::{Seat, replay_alone};
use super::failure::explain;
use super::options::ReplayOptions;
use super::outcome::{Outcome, Trouble};
use super::trouble::tell;
use crate::scenario::{Action, Diagnostic, Scenario, Span, SqlText, Step, prepares_transaction};
use crate::server::{Reach, Recipe, StartError};

/// Words of SQL whose outcome depends on all transactions of the server.
const ALL_TRANSACTIONS: [&str; 6] = [
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
    /// that is shown names all transactions of the server; and the identifiers of prepared
    /// transactions are the server's. All else that cases do they do in
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
                .any(|word| {
                    ALL_TRANSACTIONS
                        .iter()
                        .any(|name| word.eq_ignore_ascii_case(name))
                })
        };
        let is_shared = |sql: &SqlText| looks_at_all(sql) || prepares_transaction(&sql.text);
        if scenario.own_server.is_some() || restart(scenario).is_some() {
            Self::Always
        } else if scenario.all_sql().any(is_shared) {
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

/// The first step that stops the server and starts it again.
fn restart(scenario: &Scenario) -> Option<&Step> {
    let mut steps = scenario.steps.iter();
    steps.find(|step| matches!(step.action, Action::Restart(_)))
}

/// Replays a scenario on a server that is started for it and gone afterwards.
pub(crate) async fn replay_apart(
    scenario: &Arc<Scenario>,
    recipe: Option<&Recipe>,
    options: ReplayOptions,
) -> Outcome {
    let own = scenario.own_server.as_ref();
    let Some(recipe) = recipe else {
        return Outcome::without_replay(not_to_be_had(scenario));
    };
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
    let mut server = match started {
        Ok(server) => server,
        Err(error) => return Outcome::without_replay(refused(scenario, &error)),
    };
    let reach = if own.is_some() {
        Reach::Server
    } else {
        Reach::Alone
    };
    let mut outcome = replay_alone(scenario, Seat::Own(&mut server, reach), options).await;
    if let Some(trouble) = &mut outcome.trouble {
        explain(trouble, &server).await;
    }
    if let Err(why) = server.stop().await {
        // What went wrong first says more.
        outcome.trouble.get_or_insert(Trouble::Server(why));
    }
    outcome
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
