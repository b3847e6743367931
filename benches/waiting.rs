//! How soon a wait is known: from the moment the statement is sent to the moment the server has
//! said that it waits. Prints medians, and each as a multiple of what a statement costs that does
//! not wait.
//!
//! `cargo bench --bench waiting`

mod support;

use std::error::Error;
use std::time::Duration;

use lockstep::runner;
use lockstep::scenario::{self, SourceFile};
use lockstep::server::{Pins, Server, embedded};
use lockstep::transcript::{EventKind, Transcript};

/// Waits in one scenario.
const ROUNDS: usize = 100;
/// How often each scenario is replayed.
const REPLAYS: usize = 3;
/// A wait should be known within this time; isolationtester looks for the first time after 10 ms.
const GOAL: Duration = Duration::from_millis(2);

/// What A does to make B wait, what B does then, and how A ends it.
const KINDS: [(&str, &str, &str, &str); 3] = [
    (
        "row",
        "BEGIN; UPDATE t SET n = 1;",
        "UPDATE t SET n = 2;",
        "COMMIT;",
    ),
    (
        "table",
        "BEGIN; LOCK TABLE t;",
        "SELECT n FROM t;",
        "COMMIT;",
    ),
    (
        "advisory",
        "SELECT pg_advisory_lock(1);",
        "SELECT pg_advisory_xact_lock(1);",
        "SELECT pg_advisory_unlock(1);",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let environment = support::environment();
        let pin = Pins::built_in().major(18).ok_or("18 is not pinned")?;
        let server = Server::Embedded(
            embedded::start(pin, &environment, &|progress| eprintln!("{progress}")).await?,
        );
        let measured = measure(&server).await;
        server.stop().await.expect("nothing is left");
        measured
    })
}

async fn measure(server: &Server) -> Result<(), Box<dyn Error>> {
    println!(
        "{:<10} {:>10} {:>10} {:>10} {:>14} {:>12}",
        "wait for", "median", "95 %", "longest", "× no wait", "× the goal"
    );
    for (name, hold, wait, release) in KINDS {
        let (mut waits, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..REPLAYS {
            let outcome = runner::replay(
                &scenario(hold, wait, release)?,
                server,
                Duration::from_secs(30),
            )
            .await;
            if let Some(trouble) = outcome.trouble {
                return Err(format!("{trouble:?}").into());
            }
            collect(&outcome.transcript, wait, &mut waits, &mut plain);
        }
        let [median, most, longest] = percentiles(&mut waits);
        let [usual, ..] = percentiles(&mut plain);
        println!(
            "{name:<10} {:>10} {:>10} {:>10} {:>14.1} {:>12.2}",
            format!("{median:.1?}"),
            format!("{most:.1?}"),
            format!("{longest:.1?}"),
            median.as_secs_f64() / usual.as_secs_f64(),
            median.as_secs_f64() / GOAL.as_secs_f64(),
        );
    }
    Ok(())
}

/// A scenario in which B waits for A again and again, with a statement between that does not.
fn scenario(hold: &str, wait: &str, release: &str) -> Result<scenario::Scenario, Box<dyn Error>> {
    let round = format!("  - A: {hold}\n  - B: {wait}\n  - A: {release}\n  - B: SELECT 1;\n");
    let text = format!(
        "title: Waits\nsetup: CREATE TABLE t AS SELECT 0 AS n;\nsessions: [A, B]\nsteps:\n{}",
        round.repeat(ROUNDS)
    );
    let source = SourceFile {
        path: "waits.yaml".into(),
        text: text.into(),
    };
    scenario::parse(&source)
        .map(|mut scenarios| scenarios.remove(0))
        .map_err(|mistakes| scenario::render(&mistakes, scenario::RenderStyle::plain()).into())
}

/// Takes the times from each statement to its wait, and to its answer where it does not wait.
fn collect(
    transcript: &Transcript,
    wait: &str,
    waits: &mut Vec<Duration>,
    plain: &mut Vec<Duration>,
) {
    for pair in transcript.events.windows(2) {
        if let EventKind::Sent { sending, .. } = &pair[0].kind {
            let is_wait = sending.sql().iter().any(|sql| sql.text == wait);
            match &pair[1].kind {
                EventKind::Waits { .. } => waits.push(pair[1].at - pair[0].at),
                EventKind::Answered { .. } if !is_wait => plain.push(pair[1].at - pair[0].at),
                _ => {}
            }
        }
    }
}

/// The median, the 95th percentile and the maximum.
fn percentiles(times: &mut [Duration]) -> [Duration; 3] {
    times.sort();
    [times.len() / 2, times.len() * 95 / 100, times.len() - 1].map(|at| times[at])
}
