//! `lockstep show`: replays one scenario and prints its transcript.

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
    let scenario = match load(slice::from_ref(&options.file), output).map(|mut loaded| loaded.pop())
    {
        Ok(Some(scenario)) => scenario,
        Ok(None) => return ExitStatus::NothingSelected.code(),
        Err(status) => return status.code(),
    };
    with_server(&options.server, environment, output, async |server| {
        print(&scenario, options, server, output).await
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
