//! `lockstep show`: replays one scenario and prints its transcript, or one for each of its cases.

use std::slice;

use super::args::{ShowFormat, ShowOptions};
use super::environment::Environment;
use super::exit::ExitStatus;
use super::output::Output;
use super::select::{load, refuse_superusers};
use super::server::with_server;
use crate::runner::{self, Outcome, ReplayOptions, Trouble};
use crate::scenario::Scenario;
use crate::server::Server;
use crate::transcript::json::{Subject, TranscriptDocument, TranscriptsDocument, TroubleDocument};

/// Runs the command.
pub(super) fn show(options: &ShowOptions, environment: &Environment, output: Output) -> u8 {
    let mut scenarios = match load(slice::from_ref(&options.file), output) {
        Ok(scenarios) => scenarios,
        Err(status) => return status.code(),
    };
    if let Some(name) = &options.case {
        let cases: Vec<String> = scenarios.iter().map(|one| one.case.clone()).collect();
        scenarios.retain(|scenario| scenario.case == *name);
        if scenarios.is_empty() {
            let help = format!("its cases: {}", cases.join(", "));
            output.fail(
                format_args!("the scenario has no case `{name}`"),
                Some(&help),
            );
            return ExitStatus::NothingSelected.code();
        }
    }
    if !options.server.allow_superuser
        && let Err(status) = refuse_superusers(&scenarios, output)
    {
        return status.code();
    }
    with_server(&options.server, environment, output, async |server| {
        let limit = ReplayOptions::from(options.server.timeout);
        match options.format {
            ShowFormat::Text => show_text(&scenarios, limit, server, output).await,
            ShowFormat::Json => show_json(&scenarios, limit.with_locks(), server, output).await,
        }
    })
}

async fn show_text(
    scenarios: &[Scenario],
    options: ReplayOptions,
    server: &Server,
    output: Output,
) -> ExitStatus {
    let mut worst = ExitStatus::Passed;
    for (position, scenario) in scenarios.iter().enumerate() {
        if scenarios.len() > 1 {
            let gap = if position > 0 { "\n" } else { "" };
            output.print(&format!("{gap}-- case {}\n\n", scenario.case));
        }
        let outcome = runner::replay(scenario, server, options).await;
        output.print(outcome.transcript.text().as_str());
        match tell(&outcome, output) {
            ExitStatus::Passed => {}
            ExitStatus::Server => return ExitStatus::Server,
            // The other cases may be right.
            status => worst = status,
        }
    }
    worst
}

async fn show_json(
    scenarios: &[Scenario],
    options: ReplayOptions,
    server: &Server,
    output: Output,
) -> ExitStatus {
    let mut transcripts = Vec::new();
    let mut worst = ExitStatus::Passed;
    for scenario in scenarios {
        let outcome = runner::replay(scenario, server, options).await;
        let subject = Subject {
            scenario: scenario.source.path.display().to_string(),
            case: scenario.case.clone(),
            release: server.release().to_string(),
        };
        let trouble = outcome.trouble.as_ref().map(|trouble| match trouble {
            Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic) => TroubleDocument::Invalid {
                message: diagnostic.message.clone(),
            },
            Trouble::Server(message) | Trouble::Unfit(message) => TroubleDocument::Server {
                message: message.clone(),
            },
        });
        transcripts.push(TranscriptDocument::of(
            subject,
            &outcome.transcript,
            trouble,
        ));
        match tell(&outcome, output) {
            ExitStatus::Passed => {}
            ExitStatus::Server => {
                worst = ExitStatus::Server;
                break;
            }
            status => worst = status,
        }
    }
    output.print(&TranscriptsDocument::of(transcripts).to_json());
    worst
}

/// Says why a replay did not come to its end, if it did not.
fn tell(outcome: &Outcome, output: Output) -> ExitStatus {
    match &outcome.trouble {
        None => ExitStatus::Passed,
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            output.draw(slice::from_ref(diagnostic));
            ExitStatus::Invalid
        }
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => {
            output.fail(what, None);
            ExitStatus::Server
        }
    }
}
