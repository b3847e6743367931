//! What the commands that need a server have in common: start one, end it, whatever happens.

use std::future::Future;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::{Interrupt, interrupt};
use super::output::Output;
use super::pins;
use crate::server::{Progress, Server, start};

/// Starts the server that is asked for, lets `work` use it, and ends it: also when a signal asks
/// the program to end, which is the exit status then. With `is_verbose` it is told also which server
/// was chosen where that is no surprise.
pub(super) fn with_server(
    options: &ServerOptions,
    is_verbose: bool,
    environment: &Environment,
    output: Output,
    work: impl AsyncFnOnce(&Server) -> ExitStatus,
) -> u8 {
    let pins = match pins::pins(options.pins.as_deref(), environment, output) {
        Ok(pins) => pins,
        Err(status) => return status.code(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output.fail(format_args!("failed to start threads: {error}"), None);
            return ExitStatus::Server.code();
        }
    };
    runtime.block_on(async {
        let signals = interrupt();
        tokio::pin!(signals);
        let pin = match pins::pin(options, &pins, output).await {
            Ok(pin) => pin,
            Err(status) => return status.code(),
        };
        let report = |progress| match progress {
            Progress::Chosen(choice) if is_verbose || choice.is_surprising => {
                output.say(format_args!("-- {choice}"));
            }
            Progress::Chosen(_) => {}
            progress => output.say(format_args!("-- {progress} …")),
        };
        let server = match or_interrupted(
            &mut signals,
            start(&options.server, &pin, &environment.servers, &report),
        )
        .await
        {
            Ok(Ok(server)) => server,
            Ok(Err(error)) => {
                output.fail(
                    format_args!("failed to start PostgreSQL {}: {error}", pin.release),
                    error.help().as_deref(),
                );
                return ExitStatus::Server.code();
            }
            Err(interrupt) => return interrupt.exit_code(),
        };
        let status = or_interrupted(&mut signals, work(&server)).await;
        server.stop().await;
        match status {
            Ok(status) => status.code(),
            Err(interrupt) => {
                output.say("-- interrupted; the server has been ended");
                interrupt.exit_code()
            }
        }
    })
}

/// The value of a future, unless a signal comes first.
pub(super) async fn or_interrupted<T>(
    signals: impl Future<Output = std::io::Result<Interrupt>>,
    future: impl Future<Output = T>,
) -> Result<T, Interrupt> {
    tokio::select! {
        biased;
        Ok(interrupt) = signals => Err(interrupt),
        value = future => Ok(value),
    }
}
