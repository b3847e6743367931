//! The command line.

mod accept;
mod args;
mod check;
mod docs;
mod environment;
mod exit;
mod interrupt;
mod isolation;
mod output;
mod pins;
mod proposals;
mod releases;
mod run;
mod schema;
mod select;
mod server;
mod servers;
mod shard;
mod show;
mod unused;

pub use exit::{ExitStatus, exit_status};

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use environment::Environment;
use output::Output;

use crate::server::external::redact;

/// Runs the program with the arguments and the environment of the process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refusal) => {
            // It repeats what was typed. Nobody is there to tell when it cannot be printed.
            let text = refusal.to_string();
            if text.contains("://") && refusal.use_stderr() {
                let _ = io::stderr().write_all(redact(&text).as_bytes());
            } else {
                let _ = refusal.print();
            }
            let is_mistake = refusal.use_stderr();
            return if is_mistake {
                ExitStatus::Invalid
            } else {
                ExitStatus::Passed
            }
            .into();
        }
    };
    let environment = Environment::of_process();
    let output = Output::new(arguments.color, &environment);
    let code = match arguments.command {
        Command::Run(options) => run::run(&options, &environment, output),
        Command::Show(options) => show::show(&options, &environment, output),
        Command::Accept(options) => accept::accept(&options, &environment.directory, output).code(),
        Command::Convert(options) => isolation::convert(&options, output).code(),
        Command::Check(options) => check::check(&options, output).code(),
        Command::Docs(options) => docs::docs(&options, &environment, output).code(),
        Command::Schema(options) => schema::schema(&options, output).code(),
        Command::Servers(options) => servers::servers(&options, &environment, output),
    };
    if code == ExitStatus::Passed.code() && Output::is_lost() {
        return ExitStatus::Server.into();
    }
    code.into()
}
