//! `lockstep show`: replays one scenario and prints its transcript, or one for each of its cases.

use std::slice;

use super::args::ShowOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::output::Output;
use super::select::load;
use super::server::with_server;
use crate::runner::{self, Trouble};
use crate::scenario::Scenario;
use crate::server::Server;

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
    with_server(&options.server, environment, output, async |server| {
        let mut worst = ExitStatus::Passed;
        for (position, scenario) in scenarios.iter().enumerate() {
            if scenarios.len() > 1 {
                let gap = if position > 0 { "\n" } else { "" };
                output.print(&format!("{gap}-- case {}\n\n", scenario.case));
            }
            match print(scenario, options, server, output).await {
                ExitStatus::Passed => {}
                ExitStatus::Server => return ExitStatus::Server,
                // The other cases may be right.
                status => worst = status,
            }
        }
        worst
    })
}

async fn print(
    scenario: &Scenario,
    options: &ShowOptions,
    server: &Server,
    output: Output,
) -> ExitStatus {
    let outcome = runner::replay(scenario, server, options.server.timeout).await;
    output.print(outcome.transcript.text().as_str());
    match outcome.trouble {
        None => ExitStatus::Passed,
        Some(Trouble::Invalid(diagnostic)) => {
            output.draw(slice::from_ref(&diagnostic));
            ExitStatus::Invalid
        }
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => {
            output.fail(what, None);
            ExitStatus::Server
        }
    }
}
