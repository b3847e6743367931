//! Plays the specs, compares what they print, and shows what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;

use super::super::args::RunOptions;
use super::super::environment::Environment;
use super::super::exit::ExitStatus;
use super::super::output::Output;
use super::super::server::with_server;
use crate::isolation::{self, Expected, ExpectedError, PlayOptions, Spec, SpecEnd, beside};
use crate::report::{SpecConsole, SpecResult, SpecVerdict, Verbosity};
use crate::runner::Trouble;
use crate::scenario::{Diagnostic, RenderStyle, render};
use crate::server::Server;

/// Runs specs on a server.
pub(in crate::cli) fn run(
    specs: &[Arc<Spec>],
    options: &RunOptions,
    environment: &Environment,
    output: Output,
) -> u8 {
    if environment.ci && options.accept {
        output.fail(
            "`--accept` changes what is expected, and nothing is written in CI",
            Some("run this where the variable CI is not set"),
        );
        return ExitStatus::Invalid.code();
    }
    if options.accept && options.repeat > 1 {
        output.fail(
            "`--accept` takes one output of a spec, and `--repeat` gives several",
            None,
        );
        return ExitStatus::Invalid.code();
    }
    with_server(&options.server, environment, output, async |server| {
        play(specs, options, server, output).await
    })
}

async fn play(
    specs: &[Arc<Spec>],
    options: &RunOptions,
    server: &Server,
    output: Output,
) -> ExitStatus {
    let began = Instant::now();
    let style = if output.out_colored {
        RenderStyle::coloured()
    } else {
        RenderStyle::plain()
    };
    let draw = |diagnostics: &[Diagnostic]| render(diagnostics, style);
    let verbosity = match (options.quiet, options.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let console = SpecConsole::new(output.out_colored, verbosity, &draw);
    let all: Vec<Arc<Spec>> = std::iter::repeat_n(specs, options.repeat as usize)
        .flatten()
        .cloned()
        .collect();
    let (tell, mut ends) = unbounded_channel();
    let run = isolation::run(
        all.clone(),
        server,
        PlayOptions {
            jobs: options
                .jobs
                .map_or_else(isolation::side_by_side, usize::from),
            limit: options.server.timeout,
            superuser: options.server.allow_superuser,
            fail_fast: options.fail_fast,
        },
        tell,
    );
    let show = async {
        let mut results = Vec::with_capacity(all.len());
        // They end in any order, and are shown in that of the files.
        let mut early: BTreeMap<usize, SpecEnd> = BTreeMap::new();
        let mut next = 0;
        while let Some(end) = ends.recv().await {
            early.insert(end.at, end);
            while let Some(end) = early.remove(&next) {
                results.push(shown(&all[next], end, options, &console, output));
                next += 1;
            }
        }
        for (at, end) in early {
            results.push(shown(&all[at], end, options, &console, output));
        }
        results
    };
    let (left, results) = tokio::join!(run, show);
    let mut status = results
        .iter()
        .map(|result| status_of(&result.verdict))
        .max_by_key(|status| status.code())
        .unwrap_or(ExitStatus::NothingSelected);
    if let Err(error) = left {
        output.fail(error, None);
        status = ExitStatus::Server;
    }
    if options.isolation.format.is_none() {
        output.print(&console.conclusion(&results, began.elapsed()));
    }
    status
}

/// Judges a spec that has ended, and shows it.
fn shown(
    spec: &Spec,
    end: SpecEnd,
    options: &RunOptions,
    console: &SpecConsole<'_>,
    output: Output,
) -> SpecResult {
    let mut result = SpecResult {
        path: spec.source.path.clone(),
        verdict: SpecVerdict::Pass,
        output: end.played.output,
        figures: end.played.figures,
        elapsed: end.elapsed,
        is_denied: false,
    };
    result.is_denied = !options.server.allow_superuser
        && (result.output.contains("permission denied")
            || result.output.contains("must be superuser"));
    result.verdict = match end.played.trouble {
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => SpecVerdict::Error(what),
        // What a spec with a mistake prints is expected of some.
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            SpecVerdict::Invalid(Box::new(diagnostic))
        }
        None => compared(spec, &result.output, options)
            .unwrap_or_else(|error| SpecVerdict::Error(error.to_string())),
    };
    if options.isolation.format.is_some() {
        output.print(&result.output);
        if !matches!(result.verdict, SpecVerdict::Pass) {
            output.say(console.spec(&result));
        }
    } else {
        output.print(&console.spec(&result));
    }
    // Hundreds of them are not worth their memory.
    result.output = String::new();
    result
}

/// Compares what a spec printed with what is expected of it.
fn compared(
    spec: &Spec,
    printed: &str,
    options: &RunOptions,
) -> Result<SpecVerdict, ExpectedError> {
    let Some(folder) = expected_folder(spec, options) else {
        return Ok(SpecVerdict::Pass);
    };
    let expected = Expected::read(&folder, &spec.name())?;
    if expected.holds(printed) {
        return Ok(SpecVerdict::Pass);
    }
    if options.accept {
        expected.accept(printed)?;
        return Ok(SpecVerdict::Accepted(expected.path));
    }
    Ok(match expected.nearest(printed) {
        Some((path, diff)) => SpecVerdict::Differs {
            expected: path.to_owned(),
            diff,
        },
        None => SpecVerdict::New(expected.path),
    })
}

/// Where to look for what is expected. Who only wants to see the output compares nothing.
fn expected_folder(spec: &Spec, options: &RunOptions) -> Option<PathBuf> {
    match &options.isolation.expected {
        Some(folder) => Some(folder.clone()),
        None if options.isolation.format.is_some() && !options.accept => None,
        None => Some(beside(&spec.source.path)),
    }
}

const fn status_of(verdict: &SpecVerdict) -> ExitStatus {
    match verdict {
        SpecVerdict::Pass | SpecVerdict::Accepted(_) => ExitStatus::Passed,
        SpecVerdict::New(_) | SpecVerdict::Differs { .. } => ExitStatus::Differs,
        SpecVerdict::Invalid(_) => ExitStatus::Invalid,
        SpecVerdict::Error(_) => ExitStatus::Server,
    }
}
