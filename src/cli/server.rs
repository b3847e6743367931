//! What the commands that need a server have in common: start one, end it, whatever happens.

use std::fmt;
use std::future::Future;

use tokio::sync::oneshot;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::{Interrupt, listen};
use super::output::Output;
use crate::server::embedded::Progress;
use crate::server::{Pin, Pins, Provider, Release, Server, StartError, external, start};

/// The release that is meant where none is named.
const DEFAULT_RELEASE: &str = "18";

/// Starts the server that is asked for, lets `work` use it, and ends it: also when a signal asks
/// the program to end, which is the exit status then.
pub(super) fn with_server(
    options: &ServerOptions,
    environment: &Environment,
    output: Output,
    work: impl AsyncFnOnce(&Server) -> ExitStatus,
) -> u8 {
    let meant = match Meant::by(options) {
        Ok(meant) => meant,
        Err(Unknown { release, help }) => {
            output.fail(release, Some(&help));
            return ExitStatus::Invalid.code();
        }
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
    let status = runtime.block_on(async {
        let mut signals = listen().ok();
        let report = |progress| output.say(format_args!("-- {progress} …"));
        let server =
            match or_interrupted(&mut signals, meant.start(options, environment, &report)).await {
                Ok(Ok(server)) => server,
                Ok(Err(error)) => {
                    output.fail(
                        format_args!("failed to {meant}: {error}"),
                        error.help().as_deref(),
                    );
                    return if error.is_mistake() {
                        ExitStatus::Invalid
                    } else {
                        ExitStatus::Server
                    }
                    .code();
                }
                Err(interrupt) => return interrupt.exit_code(),
            };
        for note in server.notes() {
            output.say(format_args!("-- {note}"));
        }
        let status = or_interrupted(&mut signals, work(&server)).await;
        if let Err(left) = server.stop().await {
            output.say(format_args!(
                "-- something is left on the server, for the next run to remove: {left}"
            ));
        }
        match status {
            Ok(status) => status.code(),
            Err(interrupt) => {
                output.say("-- interrupted; nothing is left running");
                interrupt.exit_code()
            }
        }
    });
    // What still blocks a thread, such as a look that is about to come, is not waited for.
    runtime.shutdown_background();
    status
}

/// The server that the command line means.
enum Meant<'a> {
    /// One to be started.
    Pinned(&'static Pin),
    /// One that is there.
    External(&'a external::ConnectionUrl, Option<external::WantedRelease>),
}

/// A release that cannot be had.
struct Unknown {
    release: String,
    help: String,
}

impl<'a> Meant<'a> {
    fn by(options: &'a ServerOptions) -> Result<Self, Unknown> {
        let asked = options.pg.as_deref();
        if let Provider::External(url) = &options.server {
            let wanted = asked.map(str::parse).transpose().map_err(
                |error: crate::server::ParseReleaseError| Unknown {
                    release: error.to_string(),
                    help: "a major version such as 18 will do, too".to_owned(),
                },
            )?;
            return Ok(Self::External(url, wanted));
        }
        let name = asked.unwrap_or(DEFAULT_RELEASE);
        pin(name).map(Self::Pinned).ok_or_else(|| Unknown {
            release: format!("release `{name}` is not pinned"),
            help: pinned(),
        })
    }

    async fn start(
        &self,
        options: &ServerOptions,
        environment: &Environment,
        report: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Server, StartError> {
        match self {
            Self::Pinned(pin) => start(&options.server, pin, &environment.embedded, report).await,
            Self::External(url, asked) => {
                let server = external::start(url, *asked, &environment.external).await?;
                Ok(Server::External(server))
            }
        }
    }
}

impl fmt::Display for Meant<'_> {
    /// Reads well after "failed to".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pinned(pin) => write!(f, "start PostgreSQL {}", pin.release),
            Self::External(..) => f.write_str("use the server"),
        }
    }
}

/// The value of a future, unless a signal comes first.
async fn or_interrupted<T>(
    signals: &mut Option<oneshot::Receiver<Interrupt>>,
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

/// The pin that a release, exact or major, names.
fn pin(name: &str) -> Option<&'static Pin> {
    let pins = Pins::built_in();
    match name.parse::<Release>() {
        Ok(release) => pins.exact(release),
        Err(_) => name.parse().ok().and_then(|major| pins.major(major)),
    }
}

fn pinned() -> String {
    let releases: Vec<String> = Pins::built_in()
        .iter()
        .map(|pin| pin.release.to_string())
        .collect();
    format!("pinned are: {}", releases.join(", "))
}
