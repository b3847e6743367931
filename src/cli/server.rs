//! What the commands that need a server have in common: start one, end it, whatever happens.

use std::fmt;
use std::future::Future;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::{Interrupt, interrupt};
use super::output::Output;
use super::pins;
use crate::server::{
    ParseReleaseError, Pin, Pins, Progress, Provider, Server, StartError, external, start,
};

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
        let meant = match Meant::by(options, &pins, output).await {
            Ok(meant) => meant,
            Err(status) => return status.code(),
        };
        let report = |progress| match progress {
            Progress::Chosen(choice) if is_verbose || choice.is_surprising => {
                output.say(format_args!("-- {choice}"));
            }
            Progress::Chosen(_) => {}
            progress => output.say(format_args!("-- {progress} …")),
        };
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
    })
}

/// The server that the command line means.
enum Meant<'a> {
    /// One to be started.
    Pinned(Pin),
    /// One that is there.
    External(&'a external::ConnectionUrl, Option<external::WantedRelease>),
}

impl<'a> Meant<'a> {
    async fn by(
        options: &'a ServerOptions,
        pins: &Pins,
        output: Output,
    ) -> Result<Self, ExitStatus> {
        let Provider::External(url) = &options.server else {
            return pins::pin(options, pins, output).await.map(Self::Pinned);
        };
        let asked = options.pg.as_deref();
        match asked.map(str::parse).transpose() {
            Ok(wanted) => Ok(Self::External(url, wanted)),
            Err(error) => {
                let error: ParseReleaseError = error;
                output.fail(error, Some("a major version such as 18 will do, too"));
                Err(ExitStatus::Invalid)
            }
        }
    }

    async fn start(
        &self,
        options: &ServerOptions,
        environment: &Environment,
        report: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Server, StartError> {
        match self {
            Self::Pinned(pin) => start(&options.server, pin, &environment.servers, report).await,
            Self::External(url, asked) => {
                let server = external::start(url, *asked, &environment.servers.external).await?;
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
