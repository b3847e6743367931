//! What a schedule costs, and how much memory it takes, as a scenario has more and more of them.
//!
//! `cargo bench --bench schedules -- [JOBS]` prints for each number of schedules the time of all, that of
//! one, its ratio to that of the fewest, and the memory of this process at its highest.

mod support;

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::runner::{self, CaseId, Fleet, Outcome, RunOptions, Start, Verdict};
use lockstep::scenario::{self, Scenario, SourceFile};
use lockstep::server::embedded;
use lockstep::server::{Pins, Server};
use tokio::sync::mpsc::unbounded_channel;

/// How many steps the two sessions have: there are 252, 924, 3,432 and 12,870 interleavings.
const STEPS: [usize; 4] = [5, 6, 7, 8];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let cores = std::thread::available_parallelism()?.get();
    let jobs: usize = arguments
        .next()
        .map_or(Ok(2 * cores), |jobs| jobs.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(measure(jobs))
}

async fn measure(jobs: usize) -> Result<(), Box<dyn Error>> {
    let pin = Pins::built_in().major(18).ok_or("18 is not pinned")?;
    let start: Box<Start> = Box::new(move |_, _| {
        Box::pin(async move {
            let report = |progress| eprintln!("{progress}");
            let server = embedded::start(pin, &support::environment(), &report).await?;
            Ok(Server::Embedded(server))
        })
    });
    let fleet = Fleet::start(&[pin.release], start);
    println!("schedules   all s  each ms  ratio  peak MiB");
    let mut fewest = None;
    for steps in STEPS {
        let scenario = Arc::new(scenario(steps)?);
        let schedules = scenario.count();
        let case = CaseId {
            scenario,
            case: "default".to_owned(),
            release: pin.release,
        };
        let judge = move |_: &CaseId, outcome: &Outcome| {
            let played = outcome.transcript.schedules.as_ref();
            assert_eq!(played.map(|played| played.count()), Some(schedules));
            Verdict::Pass
        };
        let options = RunOptions {
            jobs,
            limit: Duration::from_secs(30),
            fail_fast: false,
        };
        let (events, _nobody_listens) = unbounded_channel();
        let began = Instant::now();
        runner::run(vec![case], &fleet, options, Arc::new(judge), events).await?;
        let all = began.elapsed().as_secs_f64();
        let each = all * 1000.0 / schedules as f64;
        let ratio = each / *fewest.get_or_insert(each);
        let peak = peak_kib().unwrap_or(0) as f64 / 1024.0;
        println!("{schedules:9} {all:7.1} {each:8.2} {ratio:6.2} {peak:9.1}");
    }
    fleet.stop().await;
    Ok(())
}

/// Two sessions of so many steps, in all orders.
fn scenario(steps: usize) -> Result<Scenario, Box<dyn Error>> {
    let mut text = "title: Many\nsetup: CREATE TABLE t (n int);\nsessions:\n".to_owned();
    for session in ["a", "b"] {
        writeln!(text, "  {session}:\n    steps:")?;
        for step in 0..steps {
            writeln!(
                text,
                "      {session}{step}: INSERT INTO t VALUES ({step});"
            )?;
        }
    }
    text.push_str("schedules: all\n");
    let source = SourceFile {
        path: "many.yaml".into(),
        text: text.into(),
    };
    let mut scenarios = scenario::parse(&source).map_err(|_| "it holds mistakes")?;
    Ok(scenarios.remove(0))
}

/// The most memory that this process has had, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
