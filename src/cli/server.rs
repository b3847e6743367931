//! What the commands that need servers have in common: start them, end them, whatever happens.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::{Interrupt, interrupt};
use super::output::Output;
use super::pins::{asked_for, pins};
use crate::runner::{Fleet, Start};
use crate::server::embedded::Progress;
use crate::server::{Pin, Release, Server, start};

/// Who is told what happens to servers.
pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Starts a server of the one release that is asked for, lets `work` use it, and ends it: also when
/// a signal asks the program to end, which is the exit status then.
pub(super) fn with_server(
    options: &ServerOptions,
    environment: &Environment,
    output: Output,
    work: impl AsyncFnOnce(&Server) -> ExitStatus,
) -> u8 {
    let Some(runtime) = runtime(output) else {
        return ExitStatus::Server.code();
    };
    let pins = match pins(options.pins.as_deref(), environment, output) {
        Ok(pins) => pins,
        Err(status) => return status.code(),
    };
    runtime.block_on(async {
        let signals = interrupt();
        tokio::pin!(signals);
        let pin = match asked_for(options, &pins, output).await.as_deref() {
            Ok([pin]) => pin.clone(),
            Ok(several) => {
                let text = format!("`--pg` names {} releases", several.len());
                output.fail(text, Some("a transcript is of one release: name one"));
                return ExitStatus::Invalid.code();
            }
            Err(status) => return status.code(),
        };
        let report = |progress| output.say(format_args!("-- {progress} …"));
        let starting = start(&options.server, &pin, &environment.embedded, &report);
        let server = match or_interrupted(&mut signals, starting).await {
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
        code(status, "the server has been ended", output)
    })
}

/// Starts a server of each release, lets `work` use them while they come up, and ends them: also
/// when a signal asks the program to end, which is the exit status then.
pub(super) fn with_fleet(
    runtime: &Runtime,
    options: &ServerOptions,
    pins: &[Pin],
    environment: &Environment,
    output: Output,
    say: Say,
    work: impl AsyncFnOnce(&Fleet) -> ExitStatus,
) -> u8 {
    let releases: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    let start = starter(options, pins, environment, say);
    runtime.block_on(async {
        let signals = interrupt();
        tokio::pin!(signals);
        let fleet = Fleet::start(&releases, start);
        let status = or_interrupted(&mut signals, work(&fleet)).await;
        fleet.stop().await;
        let ended = match releases.as_slice() {
            [_] => "the server has been ended",
            _ => "the servers have been ended",
        };
        code(status, ended, output)
    })
}

/// How the servers of a fleet are started, and what is told of it.
fn starter(
    options: &ServerOptions,
    pins: &[Pin],
    environment: &Environment,
    say: Say,
) -> Box<Start> {
    let provider = options.server.clone();
    let environment = environment.embedded.clone();
    let pins = pins.to_vec();
    let is_alone = pins.len() == 1;
    Box::new(move |release, number| {
        let pin = pins.iter().find(|pin| pin.release == release).cloned();
        let pin = pin.expect("only releases of these pins are started");
        let (provider, environment, say) = (provider.clone(), environment.clone(), say.clone());
        Box::pin(async move {
            let began = Instant::now();
            if number > 0 {
                say(&format!(
                    "-- a server of PostgreSQL {release} has ended by itself; another is started …"
                ));
            }
            let tell = say.clone();
            let report = move |progress: Progress| {
                tell(&match progress {
                    Progress::Waiting if !is_alone => {
                        format!("-- PostgreSQL {release}: {progress} …")
                    }
                    progress => format!("-- {progress} …"),
                });
            };
            let started = start(&provider, &pin, &environment, &report).await;
            match &started {
                Ok(_) if is_alone => {}
                Ok(_) => {
                    let elapsed = began.elapsed().as_secs_f64();
                    say(&format!("-- PostgreSQL {release} is up [{elapsed:.1}s]"));
                }
                // The report gives it with its reason.
                Err(_) => say(&format!("-- PostgreSQL {release} could not be started")),
            }
            started
        })
    })
}

/// The threads on which everything runs that waits.
pub(super) fn runtime(output: Output) -> Option<Runtime> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    built
        .inspect_err(|error| output.fail(format_args!("failed to start threads: {error}"), None))
        .ok()
}

/// The exit code of work that ended, or was interrupted.
fn code(status: Result<ExitStatus, Interrupt>, ended: &str, output: Output) -> u8 {
    match status {
        Ok(status) => status.code(),
        Err(interrupt) => {
            output.say(format_args!("-- interrupted; {ended}"));
            interrupt.exit_code()
        }
    }
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
