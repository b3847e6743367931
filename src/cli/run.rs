//! `lockstep run`: replays scenarios and compares them with their snapshots.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;

use super::accept;
use super::args::RunOptions;
use super::environment::Environment;
use super::exit::{ExitStatus, exit_status};
use super::interrupt::Interrupt;
use super::isolation;
use super::output::Output;
use super::pins::{asked_for, pins};
use super::proposals::{Proposals, judge_with};
use super::select::{Selected, refuse_superusers, select};
use super::server::{Signals, Told, or_interrupted, runtime, with_fleet};
use super::unused::unused;
use crate::report::{
    CaseGroup, Console, Cut, Progress, RunSummary, Verbosity, WhyCut, scenario_name,
};
use crate::runner::{self, CaseId, CaseResult, Fleet, Judge, RunEvent, Verdict};
use crate::scenario::{Diagnostic, RenderStyle, render};
use crate::server::{Pins, Release};
use crate::snapshot::{Mode, Store};
use crate::transcript::Transcript;
use crate::words::count;

/// Runs the command.
pub(super) fn run(options: &RunOptions, environment: &Environment, output: Output) -> u8 {
    match isolation::specs(options, output) {
        Ok(None) => {}
        Ok(Some(specs)) => return isolation::run(&specs, options, environment, output),
        Err(status) => return status.code(),
    }
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
    if !options.server.allow_superuser
        && let Err(status) = refuse_superusers(selected.scenarios.iter().map(Arc::as_ref), output)
    {
        return status.code();
    }
    let mode = if environment.ci {
        Mode::ReadOnly
    } else {
        Mode::Propose
    };
    let Some(runtime) = runtime(output) else {
        return ExitStatus::Server.code();
    };
    let pinned = match pins(options.server.pins.as_deref(), environment, output) {
        Ok(pinned) => pinned,
        Err(status) => return status.code(),
    };
    let pins = match runtime.block_on(asked_for(&options.server, &pinned, environment, output)) {
        Ok(pins) => pins,
        Err(status) => return status.code(),
    };
    let releases: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    let cases = match cases(options, &selected, &releases, output) {
        Ok(cases) => cases,
        Err(status) => return status.code(),
    };
    let newest = pinned.iter().map(|pin| pin.release.major).max();
    let mut store = Store::new(&environment.directory, mode);
    if let Some(newest) = newest {
        store = store.with_default(newest);
    }
    let progress = Progress::new(output.err_is_terminal && !options.quiet);
    let aside = progress.asides();
    let told = Told {
        say: Arc::new(move |text: &str| aside(&mut || output.say(text))),
        is_verbose: options.verbose,
    };
    let run = Run {
        options,
        selected,
        pinned,
        releases,
        cases,
        store: store.into(),
        mode,
        output,
    };
    with_fleet(
        runtime,
        &options.server,
        &pins,
        environment,
        output,
        told,
        async |fleet, signals| run.replay(fleet, signals, progress).await,
    )
}

/// A run that is about to begin.
struct Run<'a> {
    options: &'a RunOptions,
    selected: Selected,
    pinned: Pins,
    releases: Vec<Release>,
    cases: Vec<CaseId>,
    store: Arc<Store>,
    mode: Mode,
    output: Output,
}

impl Run<'_> {
    async fn replay(
        &self,
        fleet: &Fleet,
        signals: &mut Signals,
        progress: Progress,
    ) -> Result<ExitStatus, Interrupt> {
        let (options, output) = (self.options, self.output);
        let began = Instant::now();
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
        let console =
            Console::new(output.out_colored, verbosity, self.mode, &draw).ascii(output.out_ascii);

        let proposals = Arc::new(Proposals::default());
        let judge = judge_with(&self.store, &proposals);
        let (played, interrupt) = self.play(fleet, signals, judge, &console, progress).await;
        let cut = self.cut(&played, interrupt);
        let mut results: Vec<CaseResult> = played.into_iter().flatten().collect();

        let mut pending = proposals.written();
        // One snapshot that is broken must not hide what came of all the others.
        let mut broken = None;
        if options.accept && interrupt.is_none() {
            let accepted = accept::take(&self.store, &self.selected.paths());
            let confirmed = accepted.and_then(|mut accepted| {
                accepted.extend(proposals.confirm(&self.store)?);
                Ok(accepted)
            });
            match confirmed {
                Ok(accepted) => {
                    accept::tell(&accepted, output);
                    pending.clear();
                    for result in &mut results {
                        if matches!(result.verdict, Verdict::New | Verdict::Differs { .. }) {
                            result.verdict = Verdict::Pass;
                        }
                    }
                }
                Err(error) => broken = Some(error),
            }
        }
        let mut unneeded = Vec::new();
        if interrupt.is_none() {
            match unused(options, &self.selected, &self.pinned, &self.store) {
                Ok(unused) => unneeded = unused,
                Err(error) => {
                    broken.get_or_insert(error);
                }
            }
        }
        output.print(&console.conclusion(&RunSummary {
            releases: &self.releases,
            results: &results,
            elapsed: began.elapsed(),
            pending: &pending,
            unused: &unneeded,
            are_removed: options.remove_unused,
            cut,
        }));
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let status = exit_status(&results);
        Ok(match broken {
            Some(error) => {
                output.fail(&error, None);
                // A server that failed says more.
                if status == ExitStatus::Server {
                    status
                } else {
                    ExitStatus::Invalid
                }
            }
            None => status,
        })
    }

    /// What was not replayed, and why; `None` if everything was.
    fn cut(&self, played: &[Vec<CaseResult>], interrupt: Option<Interrupt>) -> Option<Cut> {
        let runs = played.len() * self.options.repeat as usize;
        let cut = Cut {
            cases: played.iter().filter(|runs| runs.is_empty()).count(),
            runs: runs - played.iter().map(Vec::len).sum::<usize>(),
            why: match interrupt {
                Some(_) => WhyCut::Interrupted,
                None => WhyCut::FailFast,
            },
        };
        (cut.runs > 0).then_some(cut)
    }

    /// Replays the cases, as often as is asked for, and shows what happens as it does. Gives the
    /// runs of each case, and the signal that kept the rest from being run.
    async fn play(
        &self,
        fleet: &Fleet,
        signals: &mut Signals,
        judge: Arc<Judge>,
        console: &Console<'_>,
        mut progress: Progress,
    ) -> (Vec<Vec<CaseResult>>, Option<Interrupt>) {
        let (options, output) = (self.options, self.output);
        let repeats = options.repeat as usize;
        let all: Vec<CaseId> = std::iter::repeat_n(&self.cases, repeats)
            .flatten()
            .cloned()
            .collect();
        progress.take(&RunEvent::Planned(all.len()));
        let (tell, mut events) = unbounded_channel();
        let run = runner::run(
            all,
            fleet,
            runner::RunOptions {
                jobs: options.jobs.map_or_else(default_jobs, usize::from),
                limit: options.server.timeout,
                fail_fast: options.fail_fast,
            },
            judge,
            tell,
        );
        let places: HashMap<_, usize> = self.cases.iter().map(place).zip(0..).collect();
        let mut played: Vec<Vec<CaseResult>> = vec![Vec::new(); self.cases.len()];
        let mut take = |event| {
            progress.take(&event);
            let RunEvent::Finished(mut result) = event else {
                return;
            };
            let case = CaseId {
                scenario: Arc::clone(&result.scenario),
                case: result.case.clone(),
                release: result.release,
            };
            let Some(runs) = places.get(&place(&case)).map(|at| &mut played[*at]) else {
                return;
            };
            if !runs.is_empty() && matches!(result.verdict, Verdict::Pass) {
                // Thousands of the same are not worth their memory.
                result.transcript = Transcript::default();
            }
            runs.push(*result);
            if runs.len() == repeats {
                let line = line(console, runs, self.cases.len());
                progress.aside(|| output.print(&line));
            }
        };
        let show = async {
            while let Some(event) = events.recv().await {
                take(event);
            }
        };
        let both = async { tokio::join!(run, show).0 };
        let interrupt = match or_interrupted(signals, both).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                output.say(format_args!("-- {error}"));
                None
            }
            Err(interrupt) => Some(interrupt),
        };
        // What ended just before the signal came.
        events.close();
        while let Ok(event) = events.try_recv() {
            take(event);
        }
        drop(progress);
        for runs in &played {
            if !runs.is_empty() && runs.len() < repeats {
                output.print(&line(console, runs, self.cases.len()));
            }
        }
        (played, interrupt)
    }
}

/// The line of a case.
fn line(console: &Console<'_>, runs: &[CaseResult], cases: usize) -> String {
    let runs = runs.iter().collect();
    console.line(&CaseGroup { runs }, cases)
}

/// What tells a case from the others of a run.
fn place(case: &CaseId) -> (PathBuf, String, Release) {
    let path = case.scenario.source.path.clone();
    (path, case.case.clone(), case.release)
}

/// The cases to run: each on all releases, in the order of the files.
fn cases(
    options: &RunOptions,
    selected: &Selected,
    releases: &[Release],
    output: Output,
) -> Result<Vec<CaseId>, ExitStatus> {
    let mut cases = Vec::new();
    let mut excluded = BTreeSet::new();
    for scenario in &selected.scenarios {
        let holds = |release: &&Release| {
            let release = [release.major, release.minor];
            scenario.postgres.contains(&release)
        };
        let before = cases.len();
        cases.extend(releases.iter().filter(holds).map(|release| CaseId {
            scenario: Arc::clone(scenario),
            case: scenario.case.clone(),
            release: *release,
        }));
        if cases.len() == before {
            excluded.insert(&scenario.source.path);
        }
    }
    if !excluded.is_empty() {
        let scenarios = count(excluded.len(), "scenario");
        let releases: Vec<String> = releases.iter().map(Release::to_string).collect();
        let releases = releases.join(", ");
        output.say(format_args!(
            "-- {scenarios} left out: `postgres:` excludes {releases}"
        ));
    }
    if cases.is_empty() {
        return Err(ExitStatus::NothingSelected);
    }
    if let Some(shard) = options.shard {
        let all = cases.len();
        cases.retain(|case| {
            let name = scenario_name(&case.scenario.source.path);
            shard.contains(&name, &case.case)
        });
        if cases.is_empty() {
            // The other parts run them; a small project has parts without any.
            let all = count(all, "case");
            output.say(format_args!("-- part {shard} has none of {all}"));
            return Err(ExitStatus::Passed);
        }
    }
    Ok(cases)
}

/// A case spends most of its time on what the server does, on another core.
fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2)
}
