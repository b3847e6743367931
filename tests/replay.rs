//! What replays of whole scenarios give, on a real server: a file each in `tests/data/replay`, and
//! a snapshot of all that somebody who replays it sees.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstep::runner::{self, CaseId, Fleet, Outcome, RunOptions, Trouble, Verdict, expect};
use lockstep::scenario::{self, Diagnostic, LoadError, RenderStyle, Scenario};
use lockstep::server::Release;
use lockstep::snapshot::file_name;

/// How long a step may take; files whose steps must be given up say something shorter.
const LIMIT: Duration = Duration::from_secs(60);

/// How many files are replayed side by side.
const SIDE_BY_SIDE: usize = 4;

fn load(path: &Path) -> Vec<Scenario> {
    match scenario::load(path) {
        Ok(scenarios) => scenarios,
        Err(LoadError::Read(error)) => panic!("{}: {error}", path.display()),
        Err(LoadError::Mistakes(mistakes)) => {
            panic!("{}", scenario::render(&mistakes, RenderStyle::plain()))
        }
    }
}

/// What tells a case from the others.
fn place(scenario: &Scenario) -> (PathBuf, String) {
    (scenario.source.path.clone(), scenario.case.clone())
}

/// The transcript, then why the replay stopped, then what was not met.
fn seen(scenario: &Scenario, outcome: &Outcome, release: Release) -> String {
    let draw = |diagnostics: &[Diagnostic]| scenario::render(diagnostics, RenderStyle::plain());
    let mut seen = outcome.transcript.text().as_str().to_owned();
    match &outcome.trouble {
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            write!(
                seen,
                "\n=== invalid\n{}",
                draw(std::slice::from_ref(diagnostic))
            )
        }
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => {
            write!(seen, "\n=== server\n{what}\n")
        }
        None => Ok(()),
    }
    .expect("a String takes everything");
    let mut unmet = outcome.unmet.clone();
    unmet.extend(expect::unmet_in(scenario, &outcome.transcript, release));
    if outcome.trouble.is_none() && !unmet.is_empty() {
        write!(seen, "\n=== unmet\n{}", draw(&unmet)).expect("a String takes everything");
    }
    seen
}

#[test]
fn replays_give_what_their_snapshots_say() {
    let files = scenario::discover(&["tests/data/replay"]).expect("the folder is there");
    assert!(!files.is_empty(), "no scenario in tests/data/replay");
    let scenarios: Vec<Arc<Scenario>> = files
        .iter()
        .flat_map(|path| load(path))
        .map(Arc::new)
        .collect();

    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let all = runtime.block_on(async {
        let (fleet, release) = support::fleet();
        let all = replay_all(&scenarios, &fleet, release).await;
        assert_eq!(fleet.stop().await, Vec::<String>::new());
        all
    });

    for (scenario, seen) in scenarios.iter().zip(all) {
        let stem = scenario.source.path.file_stem();
        let stem = stem.expect("a file has a name").to_string_lossy();
        let name = match scenario.matrix.is_empty() {
            true => stem.into_owned(),
            false => format!("{stem}-{}", file_name(&scenario.case)),
        };
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/replay", omit_expression => true }, {
            insta::assert_snapshot!(name, seen);
        });
    }
}

/// What was seen of each, in their order; some are replayed at the same time on one server.
async fn replay_all(scenarios: &[Arc<Scenario>], fleet: &Fleet, release: Release) -> Vec<String> {
    let cases = scenarios.iter().map(|scenario| CaseId {
        scenario: Arc::clone(scenario),
        case: scenario.case.clone(),
        release,
    });
    let all: Arc<Mutex<BTreeMap<(PathBuf, String), String>>> = Arc::default();
    let judged = Arc::clone(&all);
    let judge = move |case: &CaseId, outcome: &Outcome| {
        let place = place(&case.scenario);
        let seen = seen(&case.scenario, outcome, case.release);
        judged.lock().expect("nobody panics").insert(place, seen);
        Verdict::Pass
    };
    let options = RunOptions {
        jobs: SIDE_BY_SIDE,
        limit: LIMIT,
        fail_fast: false,
    };
    let (events, _nobody_listens) = tokio::sync::mpsc::unbounded_channel();
    runner::run(cases.collect(), fleet, options, Arc::new(judge), events)
        .await
        .expect("nothing is left");
    let mut all = all.lock().expect("nobody panics");
    scenarios
        .iter()
        .map(|scenario| all.remove(&place(scenario)).expect("each was replayed"))
        .collect()
}
