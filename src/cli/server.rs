//! What the commands that need servers have in common: start them, end them, whatever happens.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::{Interrupt, listen};
use super::output::Output;
use super::pins::{asked_for, left_behind, pins};
use crate::runner::{Fleet, Start};
use crate::server::{Pin, Progress, Release, Server, embedded, start};

/// Where a signal that asks the program to end arrives; `None` where signals cannot be listened to.
pub(super) type Signals = Option<oneshot::Receiver<Interrupt>>;

/// Who is told what happens to servers.
pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What is told of servers while they start.
pub(super) struct Told {
    pub say: Say,
    /// Whether it is told also which provider was chosen where that is no surprise.
    pub is_verbose: bool,
}

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
    let status = runtime.block_on(async {
        let mut signals = listen().ok();
        let pin = match asked_for(options, &pins, environment, output)
            .await
            .as_deref()
        {
            Ok([pin]) => pin.clone(),
            Ok(several) => {
                let text = format!("`--pg` names {} releases", several.len());
                output.fail(text, Some("a transcript is of one release: name one"));
                return ExitStatus::Invalid.code();
            }
            Err(status) => return status.code(),
        };
        let report = |progress| match progress {
            Progress::Chosen(choice) if choice.is_surprising => {
                output.say(format_args!("-- {choice}"));
            }
            Progress::Chosen(_) => {}
            progress => output.say(format_args!("-- {progress} …")),
        };
        let starting = start(&options.server, &pin, &environment.servers, &report);
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
        for note in server.notes() {
            output.say(format_args!("-- {note}"));
        }
        let status = or_interrupted(&mut signals, work(&server)).await;
        if let Err(left) = server.stop().await {
            output.say(left_behind(&left));
        }
        code(status, output)
    });
    // What still blocks a thread, such as a look that is about to come, is not waited for.
    runtime.shutdown_background();
    status
}

/// Starts a server of each release, lets `work` use them while they come up, and ends them: also
/// when `work` says that a signal asks the program to end, which is the exit status then.
pub(super) fn with_fleet(
    runtime: Runtime,
    options: &ServerOptions,
    pins: &[Pin],
    environment: &Environment,
    output: Output,
    told: Told,
    work: impl AsyncFnOnce(&Fleet, &mut Signals) -> Result<ExitStatus, Interrupt>,
) -> u8 {
    let releases: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    let start = starter(options, pins, environment, told);
    let code = runtime.block_on(async {
        let mut signals = listen().ok();
        let fleet = Fleet::start(&releases, start);
        let status = work(&fleet, &mut signals).await;
        for left in fleet.stop().await {
            output.say(left_behind(&left));
        }
        code(status, output)
    });
    runtime.shutdown_background();
    code
}

/// How the servers of a fleet are started, and what is told of it.
fn starter(
    options: &ServerOptions,
    pins: &[Pin],
    environment: &Environment,
    told: Told,
) -> Box<Start> {
    let Told { say, is_verbose } = told;
    let provider = options.server.clone();
    let servers = environment.servers.clone();
    let pins = pins.to_vec();
    let is_alone = pins.len() == 1;
    Box::new(move |release, number| {
        let pin = pins.iter().find(|pin| pin.release == release).cloned();
        let pin = pin.expect("only releases of these pins are started");
        let (provider, servers, say) = (provider.clone(), servers.clone(), say.clone());
        Box::pin(async move {
            let began = Instant::now();
            if number > 0 {
                say(&format!(
                    "-- a server of PostgreSQL {release} has ended by itself; another is started …"
                ));
            }
            let tell = say.clone();
            let report = move |progress: Progress| match progress {
                Progress::Chosen(choice) if is_verbose || choice.is_surprising => {
                    let prefix = if is_alone {
                        String::new()
                    } else {
                        format!("PostgreSQL {release}: ")
                    };
                    tell(&format!("-- {prefix}{choice}"));
                }
                Progress::Chosen(_) => {}
                Progress::Embedded(embedded::Progress::Waiting) if !is_alone => {
                    tell(&format!("-- PostgreSQL {release}: {progress} …"));
                }
                progress => tell(&format!("-- {progress} …")),
            };
            let started = start(&provider, &pin, &servers, &report).await;
            for note in started.iter().flat_map(Server::notes) {
                say(&format!("-- {note}"));
            }
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
fn code(status: Result<ExitStatus, Interrupt>, output: Output) -> u8 {
    match status {
        Ok(status) => status.code(),
        Err(interrupt) => {
            output.say("-- interrupted; nothing is left running");
            interrupt.exit_code()
        }
    }
}

/// The value of a future, unless a signal comes first.
pub(super) async fn or_interrupted<T>(
    signals: &mut Signals,
    future: impl Future<Output = T>,
) -> Result<T, Interrupt> {
    let signalled = async {
        match signals {
            Some(signals) => signals.await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        Ok(interrupt) = signalled => Err(interrupt),
        value = future => Ok(value),
    }
}
