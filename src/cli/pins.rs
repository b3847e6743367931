//! The pins that hold for a command, and which of them are meant.

use std::path::Path;

use super::args::ServerOptions;
use super::environment::Environment;
use super::exit::ExitStatus;
use super::output::Output;
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

/// The pin of the release that is asked for: by its name, or by a folder of programs.
pub(super) async fn pin(
    options: &ServerOptions,
    pins: &Pins,
    output: Output,
) -> Result<Pin, ExitStatus> {
    if let Provider::Local(directory) = &options.server {
        let local = match Local::find(directory).await {
            Ok(local) => local,
            Err(error) => {
                output.fail(&error, error.help().as_deref());
                return Err(ExitStatus::Server);
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
        return Ok(Pin::of(release));
    }
    let name = options.pg.as_deref().unwrap_or(DEFAULT);
    named(pins, name).cloned().ok_or_else(|| {
        not_pinned(name, pins, output);
        ExitStatus::Invalid
    })
}

/// The pin that a release, exact or major, names.
pub(super) fn named<'a>(pins: &'a Pins, name: &str) -> Option<&'a Pin> {
    match name.parse::<Release>() {
        Ok(release) => pins.exact(release),
        Err(_) => name.parse().ok().and_then(|major| pins.major(major)),
    }
}

/// The pins that words name: releases, ranges of majors such as `14..18`, lists with commas, `all`.
pub(super) fn chosen<'a>(
    pins: &'a Pins,
    words: &[String],
    output: Output,
) -> Result<Vec<&'a Pin>, ExitStatus> {
    let mut chosen: Vec<&Pin> = Vec::new();
    for word in words.iter().flat_map(|word| word.split(',')) {
        let found: Vec<&Pin> = if word == "all" {
            pins.iter().collect()
        } else if let Some((first, last)) = word.split_once("..") {
            match (first.parse::<u32>(), last.parse::<u32>()) {
                (Ok(first), Ok(last)) => pins
                    .iter()
                    .filter(|pin| (first..=last).contains(&pin.release.major))
                    .collect(),
                _ => Vec::new(),
            }
        } else {
            named(pins, word).into_iter().collect()
        };
        if found.is_empty() {
            not_pinned(word, pins, output);
            return Err(ExitStatus::Invalid);
        }
        chosen.extend(found);
    }
    chosen.sort_by_key(|pin| pin.release);
    chosen.dedup();
    Ok(chosen)
}

fn not_pinned(name: &str, pins: &Pins, output: Output) {
    let releases: Vec<String> = pins.iter().map(|pin| pin.release.to_string()).collect();
    output.fail(
        format_args!("release `{name}` is not pinned"),
        Some(&format!("pinned are: {}", releases.join(", "))),
    );
}
