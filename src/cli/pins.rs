//! The pins that hold for a command, and which of them are meant.

use std::path::Path;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::output::Output;
use super::releases::{ChoiceError, choose};
use crate::server::external::{self, ConnectionUrl, WantedRelease};
use crate::server::{Local, PINS_FILE, Pin, Pins, Provider, Release};

/// The major version that is meant where none is named.
pub(super) const DEFAULT: &str = "18";

/// The pins: those of the file that is named, or of the one that lies in the current folder, in the
/// place of those that are compiled in.
pub(super) fn pins(
    file: Option<&Path>,
    environment: &Environment,
    output: Output,
) -> Result<Pins, ExitStatus> {
    let found = environment.directory.join(PINS_FILE);
    let file = match file {
        Some(file) => file,
        None if found.exists() => {
            // It decides which programs are run, so that its use must be seen.
            output.say(format_args!("-- pins of {PINS_FILE}"));
            &found
        }
        None => return Ok(Pins::built_in().clone()),
    };
    Pins::built_in().overridden_by(file).map_err(|error| {
        output.fail(
            format_args!("failed to read the pins: {error}"),
            Some("the file has the form of the table in docs/servers.md"),
        );
        ExitStatus::Invalid
    })
}

/// The pins of the releases that are asked for, oldest first: by their names, or by a folder of
/// programs. There is at least one.
pub(super) async fn asked_for(
    options: &ServerOptions,
    pins: &Pins,
    environment: &Environment,
    output: Output,
) -> Result<Vec<Pin>, ExitStatus> {
    if let Provider::External(url) = &options.server {
        return on_external(url, options.pg.as_deref(), environment, output).await;
    }
    if let Provider::Local(directory) = &options.server {
        let local = match Local::find(directory).await {
            Ok(local) => local,
            Err(error) => {
                output.fail(&error, error.help().as_deref());
                return Err(if error.is_mistake() {
                    ExitStatus::Invalid
                } else {
                    ExitStatus::Server
                });
            }
        };
        if let Some(wanted) = &options.pg
            && let Err(error) = local.must_be_named(wanted)
        {
            output.fail(&error, error.help().as_deref());
            return Err(ExitStatus::Invalid);
        }
        let release = local.release();
        if release.to_string() != local.version() {
            let version = local.version();
            output.say(format_args!("-- PostgreSQL {version} counts as {release}"));
        }
        return Ok(vec![Pin::of(release)]);
    }
    let name = options.pg.as_deref().unwrap_or(DEFAULT);
    let chosen = choose_from(pins, name).map_err(|(error, help)| {
        let text = format!("failed to understand `--pg {name}`: {error}");
        output.fail(text, Some(&help));
        ExitStatus::Invalid
    })?;
    Ok(chosen.into_iter().cloned().collect())
}

/// What the server behind a URL runs. It is asked once before the run, which is planned for it.
async fn on_external(
    url: &ConnectionUrl,
    wanted: Option<&str>,
    environment: &Environment,
    output: Output,
) -> Result<Vec<Pin>, ExitStatus> {
    let wanted = wanted.map(str::parse::<WantedRelease>).transpose();
    let wanted = wanted.map_err(|error| {
        output.fail(
            error,
            Some("a server that is there runs one release: name it or none"),
        );
        ExitStatus::Invalid
    })?;
    let found = external::start(url, wanted, &environment.servers.external).await;
    let server = found.map_err(|error| {
        let text = format!("failed to use the server: {error}");
        output.fail(text, error.help().as_deref());
        if error.is_mistake() {
            ExitStatus::Invalid
        } else {
            ExitStatus::Server
        }
    })?;
    let pin = Pin::of(server.release());
    if let Err(left) = server.stop().await {
        output.say(format_args!("{}", left_behind(&left)));
    }
    Ok(vec![pin])
}

/// What is said where a server that is somebody else's could not be left as it was.
pub(super) fn left_behind(left: &str) -> String {
    format!("-- something is left on the server, for the next run to remove: {left}")
}

/// The pins that words name: releases, ranges such as `14..18`, lists with commas, `all`.
pub(super) fn chosen<'a>(
    pins: &'a Pins,
    words: &[String],
    output: Output,
) -> Result<Vec<&'a Pin>, ExitStatus> {
    choose_from(pins, &words.join(",")).map_err(|(error, help)| {
        output.fail(error, Some(&help));
        ExitStatus::Invalid
    })
}

/// The pins that a text names; else what is wrong with it, and what to do about it.
fn choose_from<'a>(pins: &'a Pins, text: &str) -> Result<Vec<&'a Pin>, (ChoiceError, String)> {
    let mut pinned: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    pinned.sort();
    let chosen = choose(text, &pinned).map_err(|error| {
        let help = error.help(&pinned);
        (error, help)
    })?;
    let chosen = chosen.into_iter();
    Ok(chosen.filter_map(|release| pins.exact(release)).collect())
}
