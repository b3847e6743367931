//! `lockstep run`: replays scenarios and compares them with their snapshots.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;

use super::accept;
use super::args::RunOptions;
use super::environment::Environment;
use super::exit::{ExitStatus, exit_status};
use super::output::Output;
use super::proposals::{Proposals, judge_with};
use super::select::{Selected, count, select};
use super::server::with_server;
use super::unused::unused;
use crate::report::{CaseGroup, Console, Progress, RunSummary, Verbosity};
use crate::runner::{self, CaseId, CaseResult, Judge, RunEvent, Verdict};
use crate::scenario::{Diagnostic, RenderStyle, Scenario, render};
use crate::server::{Release, Server};
use crate::snapshot::{Mode, Store};
use crate::transcript::Transcript;

/// The name of the case of a scenario that has one.
pub(super) const ONLY_CASE: &str = "default";

/// Runs the command.
pub(super) fn run(options: &RunOptions, environment: &Environment, output: Output) -> u8 {
    if environment.ci && (options.accept || options.remove_unused) {
        output.fail(
            "`--accept` and `--remove-unused` change snapshots, and nothing is written in CI",
            Some("run this where the variable CI is not set"),
        );
        return ExitStatus::Invalid.code();
    }
    let selected = match select(&options.selection, output) {
        Ok(selected) => selected,
        Err(status) => return status.code(),
    };
    let mode = if environment.ci {
        Mode::ReadOnly
    } else {
        Mode::Propose
    };
    let store = Arc::new(Store::new(&environment.directory, mode));
    let is_verbose = options.verbose;
    with_server(
        &options.server,
        is_verbose,
        environment,
        output,
        async |server| replay(options, &selected, &store, mode, server, output).await,
    )
}

async fn replay(
    options: &RunOptions,
    selected: &Selected,
    store: &Arc<Store>,
    mode: Mode,
    server: &Server,
    output: Output,
) -> ExitStatus {
    let began = Instant::now();
    let cases = cases(selected, server.release());
    let excluded = selected.scenarios.len() - cases.len();
    if excluded > 0 {
        let scenarios = count(excluded, "scenario");
        output.say(format_args!(
            "-- {scenarios} left out: `postgres:` excludes {}",
            server.release()
        ));
    }
    if cases.is_empty() {
        return ExitStatus::NothingSelected;
    }
    let verbosity = match (options.quiet, options.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let style = if output.out_colored {
        RenderStyle::coloured()
    } else {
        RenderStyle::plain()
    };
    let draw = |diagnostics: &[Diagnostic]| render(diagnostics, style);
    let console = Console::new(output.out_colored, verbosity, mode, &draw);

    let proposals = Arc::new(Proposals::default());
    let mut results = play(
        options,
        &cases,
        server,
        judge_with(store, &proposals),
        &console,
        output,
    )
    .await;

    let mut pending = proposals.take();
    if options.accept {
        match accept::take(store, &selected.paths()) {
            Ok(accepted) => accept::tell(&accepted, output),
            Err(error) => {
                output.fail(&error, None);
                return ExitStatus::Invalid;
            }
        }
        pending.clear();
        for result in &mut results {
            if matches!(result.verdict, Verdict::New | Verdict::Differs { .. }) {
                result.verdict = Verdict::Pass;
            }
        }
    }
    let unused = match unused(options, selected, store) {
        Ok(unused) => unused,
        Err(error) => {
            output.fail(&error, None);
            return ExitStatus::Invalid;
        }
    };
    output.print(&console.conclusion(&RunSummary {
        results: &results,
        elapsed: began.elapsed(),
        pending: &pending,
        unused: &unused,
        are_removed: options.remove_unused,
    }));
    exit_status(&results)
}

/// The cases to run, in the order of the files.
fn cases(selected: &Selected, release: Release) -> Vec<CaseId> {
    let holds =
        |scenario: &&Arc<Scenario>| scenario.postgres.contains(&[release.major, release.minor]);
    selected
        .scenarios
        .iter()
        .filter(holds)
        .map(|scenario| CaseId {
            scenario: Arc::clone(scenario),
            case: ONLY_CASE.to_owned(),
            release,
        })
        .collect()
}

/// Replays the cases, as often as is asked for, and shows what happens as it does.
async fn play(
    options: &RunOptions,
    cases: &[CaseId],
    server: &Server,
    judge: Arc<Judge>,
    console: &Console<'_>,
    output: Output,
) -> Vec<CaseResult> {
    let repeats = options.repeat as usize;
    let all: Vec<CaseId> = std::iter::repeat_n(cases, repeats)
        .flatten()
        .cloned()
        .collect();
    let mut progress = Progress::new(output.err_is_terminal && !options.quiet);
    progress.take(&RunEvent::Planned(all.len()));
    let (tell, mut events) = unbounded_channel();
    let run = runner::run(
        all,
        server,
        runner::RunOptions {
            jobs: options.jobs.map_or_else(default_jobs, usize::from),
            limit: options.server.timeout,
            fail_fast: options.fail_fast,
        },
        judge,
        tell,
    );
    let mut runs: Vec<Vec<CaseResult>> = vec![Vec::new(); cases.len()];
    let show = async {
        while let Some(event) = events.recv().await {
            progress.take(&event);
            let RunEvent::Finished(mut result) = event else {
                continue;
            };
            let is_of = |case: &CaseId| {
                Arc::ptr_eq(&case.scenario, &result.scenario) && case.case == result.case
            };
            let Some(at) = cases.iter().position(is_of) else {
                continue;
            };
            if repeats > 1 && matches!(result.verdict, Verdict::Pass) {
                // Thousands of the same are not worth their memory.
                result.transcript = Transcript::default();
            }
            runs[at].push(*result);
            if runs[at].len() == repeats {
                let line = console.line(
                    &CaseGroup {
                        runs: runs[at].iter().collect(),
                    },
                    cases.len(),
                );
                progress.aside(|| output.print(&line));
            }
        }
    };
    tokio::join!(run, show);
    runs.into_iter().flatten().collect()
}

/// A case spends most of its time on what the server does, on another core.
fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2)
}
