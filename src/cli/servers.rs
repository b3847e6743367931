//! `lockstep servers`: what is pinned and at hand, fetching it, and making room.

use std::fmt::Write;
use std::future::Future;

use super::args::{ServersAction, ServersOptions};
use super::environment::Environment;
use super::exit::ExitStatus;
use super::interrupt::listen;
use super::output::Output;
use super::pins;
use super::server::or_interrupted;
use crate::server::embedded::{self, AtHand, Needless, Pruned, ServerError, Survey};
use crate::server::{Client, Pin, Pins};
use crate::words::count;

/// Runs the command.
pub(super) fn servers(options: &ServersOptions, environment: &Environment, output: Output) -> u8 {
    let pins = match pins::pins(options.pins.as_deref(), environment, output) {
        Ok(pins) => pins,
        Err(status) => return status.code(),
    };
    match &options.action {
        None => on_a_runtime(output, async {
            let survey = embedded::survey(&pins, &environment.servers.embedded).await;
            output.print(&listing(&pins, &survey));
            ExitStatus::Passed
        }),
        Some(ServersAction::Fetch { releases }) => match pins::chosen(&pins, releases, output) {
            Ok(chosen) => on_a_runtime(output, fetch(&chosen, environment, output)),
            Err(status) => status.code(),
        },
        Some(ServersAction::Prune { all }) => on_a_runtime(output, async {
            match embedded::prune(&pins, &environment.servers.embedded, *all).await {
                Ok(pruned) => {
                    output.print(&account(&pruned));
                    ExitStatus::Passed
                }
                Err(error) => failed("prune the cache", &error, output),
            }
        }),
    }
}

/// Runs the work of the command, until a signal asks the program to end.
fn on_a_runtime(output: Output, work: impl Future<Output = ExitStatus>) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output.fail(format_args!("failed to start threads: {error}"), None);
            return ExitStatus::Server.code();
        }
    };
    let ended = runtime.block_on(async {
        let mut signals = listen().ok();
        or_interrupted(&mut signals, work).await
    });
    match ended {
        Ok(status) => status.code(),
        Err(interrupt) => interrupt.exit_code(),
    }
}

/// Makes releases ready to run without a network; one that cannot be had does not keep the others
/// from it.
async fn fetch(pins: &[&Pin], environment: &Environment, output: Output) -> ExitStatus {
    let mut status = ExitStatus::Passed;
    for pin in pins {
        let release = pin.release;
        let report = |progress| output.say(format_args!("-- {progress} …"));
        match embedded::prepare(pin, &environment.servers.embedded, &report).await {
            Ok(programs) => output.print(&format!("{release:<8} {}\n", programs.display())),
            Err(error) => status = failed(&format!("fetch PostgreSQL {release}"), &error, output),
        }
    }
    status
}

fn failed(what: &str, error: &ServerError, output: Output) -> ExitStatus {
    output.fail(
        format_args!("failed to {what}: {error}"),
        error.help().as_deref(),
    );
    ExitStatus::Server
}

/// The pins and what is at hand of them, as a table.
fn listing(pins: &Pins, survey: &Survey) -> String {
    let mut rows = vec![["release", "image", "package", "at hand"].map(str::to_owned)];
    for (pin, (release, at_hand)) in pins.iter().zip(&survey.releases) {
        let package = pin.package.as_ref().map_or_else(
            || "none".to_owned(),
            |package| format!("{} {} {}", package.client, package.name, package.version),
        );
        rows.push([
            release.to_string(),
            pin.image().to_string(),
            package,
            in_words(at_hand),
        ]);
    }
    let mut text = table(&rows);
    text.push('\n');
    for client in [Client::Pip, Client::Npm] {
        let found = survey.clients.iter().find(|found| found.client == client);
        let _ = match found {
            Some(found) => writeln!(
                text,
                "{client:<7} {} at {}",
                found.version,
                found.program.display()
            ),
            None => writeln!(text, "{client:<7} is not there"),
        };
    }
    let cache = survey.cache.display();
    let _ = writeln!(text, "cache   {cache} ({})", megabytes(survey.bytes));
    text
}

fn in_words(at_hand: &AtHand) -> String {
    match at_hand {
        AtHand::Fetched(programs) => format!("fetched: {}", programs.display()),
        AtHand::Installed(programs) => format!("installed: {}", programs.display()),
        AtHand::Fetchable { client, megabytes } => {
            format!("can be fetched with {client} ({megabytes} MB)")
        }
        AtHand::NeedsClient(client) => format!("can be fetched once {client} is installed"),
        AtHand::NoPackage => "no package for this platform".to_owned(),
    }
}

/// Rows with aligned columns, two spaces between them.
fn table(rows: &[[String; 4]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [release, image, package, at_hand] in rows {
        let _ = writeln!(
            text,
            "{release:<0$}  {image:<1$}  {package:<2$}  {at_hand}",
            widths[0], widths[1], widths[2]
        );
    }
    text
}

/// What was removed, and how much room that made.
fn account(pruned: &Pruned) -> String {
    let mut text = String::new();
    for removed in &pruned.removed {
        let why = match removed.why {
            Needless::Unfinished => "unfinished",
            Needless::NotPinned => "not pinned",
            Needless::Outdated => "outdated",
            Needless::Everything => "everything",
        };
        let room = megabytes(removed.bytes);
        let _ = writeln!(text, "{room:>8}  {} ({why})", removed.path.display());
    }
    for path in &pruned.in_use {
        let _ = writeln!(text, "  in use  {}", path.display());
    }
    let bytes = pruned.removed.iter().map(|removed| removed.bytes).sum();
    let _ = writeln!(
        text,
        "{} removed from the cache, {} freed",
        count(pruned.removed.len(), "folder"),
        megabytes(bytes)
    );
    text
}

/// Bytes as whole megabytes (10⁶ bytes).
fn megabytes(bytes: u64) -> String {
    format!("{} MB", (bytes + 500_000) / 1_000_000)
}
