//! Cases that have a server of their own.

use std::time::Duration;

use super::case::replay_alone;
use super::outcome::{Outcome, Trouble};
use super::trouble::tell;
use crate::scenario::{Diagnostic, OwnServer, Scenario};
use crate::server::{Reach, Recipe, StartError};

/// Replays a scenario on a server that is started for it and gone afterwards.
pub(crate) async fn replay_apart(
    scenario: &Scenario,
    own: &OwnServer,
    recipe: Option<&Recipe>,
    limit: Duration,
) -> Outcome {
    let Some(recipe) = recipe else {
        return Outcome::without_replay(not_to_be_had(scenario, own));
    };
    let settings: Vec<(String, String)> = own
        .settings
        .iter()
        .map(|setting| (setting.name.value.clone(), setting.value.clone()))
        .collect();
    let server = match recipe.start(&settings).await {
        Ok(server) => server,
        Err(error) => return Outcome::without_replay(refused(scenario, own, &error)),
    };
    let (endpoint, scripted) = (
        server.endpoint().clone(),
        server.scripted_endpoint().clone(),
    );
    let mut outcome = replay_alone(scenario, &endpoint, &scripted, Reach::Server, limit).await;
    if let Err(why) = server.stop().await {
        // What went wrong first says more.
        outcome.trouble.get_or_insert(Trouble::Server(why));
    }
    outcome
}

/// Somebody else's server is not Lockstep's to start once more.
fn not_to_be_had(scenario: &Scenario, own: &OwnServer) -> Trouble {
    Trouble::Invalid(Diagnostic {
        source: scenario.source.clone(),
        message: "the scenario needs a server of its own".to_owned(),
        span: own.span,
        label: "none can be started beside an external one".to_owned(),
        related: Vec::new(),
        help: Some("replay it with `--server embedded`".to_owned()),
    })
}

/// A server that does not take a setting is the scenario's fault, since it chose the value.
fn refused(scenario: &Scenario, own: &OwnServer, error: &StartError) -> Trouble {
    let told = tell(error);
    let named = own
        .settings
        .iter()
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
