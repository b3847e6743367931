//! What happens when the runner and the server disagree: the server fails under cases that run. Those
//! are errors, which say why in the server's words, and the rest of the run goes on and passes.

#![cfg(unix)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstep::cli::{ExitStatus, exit_status};
use lockstep::runner::expect::unmet_in;
use lockstep::runner::{
    CaseId, CaseResult, Fleet, Outcome, RunEvent, RunOptions, Start, Trouble, Verdict, run,
};
use lockstep::scenario::{Scenario, SourceFile, parse};
use lockstep::server::{Endpoint, Pins, Server, embedded};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc::unbounded_channel;

/// How many cases run when the server fails.
const RUNNING: usize = 20;

/// How many cases come behind them.
const FOLLOWING: usize = 10;

const NAP: &str = "\
title: It naps
sessions: [A]
steps:
  - A: SELECT pg_sleep(600);
";

const BRIEF: &str = "\
title: A moment
setup: CREATE TABLE t (id int);
sessions: [A, B]
steps:
  - A: INSERT INTO t VALUES (1);
  - B: SELECT id FROM t;
    expect: { rows: [[1]] }
";

fn scenario(yaml: &str) -> Arc<Scenario> {
    let source = SourceFile {
        path: "case.yaml".into(),
        text: yaml.into(),
    };
    Arc::new(parse(&source).expect("it is right").remove(0))
}

/// What of the servers a test wants to know.
#[derive(Clone, Default)]
struct Seen {
    endpoints: Arc<Mutex<Vec<Endpoint>>>,
}

impl Seen {
    fn first(&self) -> Option<Endpoint> {
        self.endpoints
            .lock()
            .expect("no test has failed")
            .first()
            .cloned()
    }

    fn number(&self) -> usize {
        self.endpoints.lock().expect("no test has failed").len()
    }
}

/// Starts real servers, whose folders are made in `base`.
fn starting(seen: &Seen, base: Option<&Path>) -> Box<Start> {
    starting_with(seen, base, &[])
}

fn starting_with(seen: &Seen, base: Option<&Path>, settings: &[(String, String)]) -> Box<Start> {
    let (seen, settings) = (seen.clone(), settings.to_vec());
    let environment = embedded::Environment {
        servers: base.map(Path::to_owned),
        ..support::environment()
    };
    Box::new(move |_, _| {
        let (seen, environment) = (seen.clone(), environment.clone());
        let settings = settings.clone();
        Box::pin(async move {
            let pin = Pins::built_in().major(18).expect("18 is pinned");
            let programs = embedded::fetch(pin, &environment, &|_| {}).await?;
            let release = pin.release;
            let server =
                embedded::start_installed(release, &programs, &environment, &settings, &|_| {})
                    .await?;
            let mut endpoints = seen.endpoints.lock().expect("no test has failed");
            endpoints.push(server.endpoint().clone());
            drop(endpoints);
            Ok(Server::Embedded(server))
        })
    })
}

fn judge(case: &CaseId, outcome: &Outcome) -> Verdict {
    match &outcome.trouble {
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => Verdict::Error(what.clone()),
        Some(Trouble::Invalid(mistake) | Trouble::Stuck(mistake)) => {
            Verdict::Invalid(mistake.clone())
        }
        None => {
            let unmet = unmet_in(&case.scenario, &outcome.transcript, case.release);
            if unmet.is_empty() {
                Verdict::Pass
            } else {
                Verdict::Unmet(unmet)
            }
        }
    }
}

/// Replays scenarios, in their order, while something happens to the first server. Gives the results
/// in the order of the scenarios.
async fn replay(
    scenarios: Vec<Arc<Scenario>>,
    start: Box<Start>,
    options: RunOptions,
    happening: impl Future<Output = ()>,
) -> Vec<CaseResult> {
    let release = Pins::built_in().major(18).expect("18 is pinned").release;
    let cases = scenarios.into_iter().enumerate();
    let cases: Vec<CaseId> = cases
        .map(|(number, scenario)| CaseId {
            scenario,
            case: format!("{number:03}"),
            release,
        })
        .collect();
    let number = cases.len();
    let fleet = Fleet::start(&[release], start);
    let (tell, mut events) = unbounded_channel();
    let mut results = Vec::new();
    let listen = async {
        while let Some(event) = events.recv().await {
            if let RunEvent::Finished(result) = event {
                results.push(*result);
            }
        }
    };
    let running = run(cases, &fleet, options, Arc::new(judge), tell);
    let (ended, (), ()) = tokio::join!(running, listen, happening);
    ended.expect("what was made could be dropped");
    assert_eq!(fleet.stop().await, Vec::<String>::new());
    assert_eq!(results.len(), number);
    results.sort_by(|a, b| a.case.cmp(&b.case));
    results
}

fn options(jobs: usize, limit: Duration) -> RunOptions {
    RunOptions {
        jobs,
        limit,
        fail_fast: false,
    }
}

/// The processes of naps, once so many run on the first server.
async fn napping(seen: &Seen, wanted: usize) -> Vec<i32> {
    let client = loop {
        if let Some(endpoint) = seen.first() {
            break endpoint.connect("postgres").await.expect("it lets us in");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    loop {
        let naps = client
            .query(
                "SELECT pid FROM pg_stat_activity
                 WHERE wait_event = 'PgSleep' AND query = 'SELECT pg_sleep(600);' ORDER BY pid",
                &[],
            )
            .await
            .expect("it answers");
        if naps.len() == wanted {
            return naps.iter().map(|row| row.get(0)).collect();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn folder(seen: &Seen) -> PathBuf {
    match seen.first().expect("it was started").address {
        lockstep::server::Address::Unix { directory, .. } => directory,
        lockstep::server::Address::Tcp { .. } => panic!("embedded servers have sockets"),
    }
}

fn postmaster(seen: &Seen) -> i32 {
    let file = folder(seen).join("data/postmaster.pid");
    let text = fs::read_to_string(file).expect("it runs");
    let pid = text.lines().next().and_then(|line| line.parse().ok());
    pid.expect("its first line is a process")
}

/// All processes of the first server.
fn processes(seen: &Seen) -> Vec<i32> {
    let data = folder(seen).join("data");
    let entries = fs::read_dir("/proc")
        .expect("there are processes")
        .flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data))
        .collect()
}

fn signal(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("a process has a number");
    kill_process(pid, signal).expect("it is there");
}

/// The first cases are errors that say one of the `words`, and the others pass.
fn assert_hit(results: &[CaseResult], hit: usize, words: &[&str]) {
    assert_eq!(exit_status(results), ExitStatus::Server);
    assert_eq!(ExitStatus::Server.code(), 3);
    for (at, result) in results.iter().enumerate() {
        match &result.verdict {
            Verdict::Error(why) if at < hit => {
                assert!(words.iter().any(|word| why.contains(word)), "{at}: {why}");
            }
            Verdict::Pass if at >= hit => {}
            other => panic!("case {at} of {}: {other:?}", results.len()),
        }
    }
}

fn naps_and_others() -> Vec<Arc<Scenario>> {
    let (nap, brief) = (scenario(NAP), scenario(BRIEF));
    let naps = std::iter::repeat_n(nap, RUNNING);
    naps.chain(std::iter::repeat_n(brief, FOLLOWING)).collect()
}

/// Lets something happen to a server on which twenty cases run, with as many workers.
async fn under_all(happen: impl FnOnce(&Seen, &[i32])) -> (Vec<CaseResult>, usize) {
    let seen = Seen::default();
    let happening = async {
        let naps = napping(&seen, RUNNING).await;
        happen(&seen, &naps);
    };
    let options = options(RUNNING, Duration::from_secs(60));
    let start = starting(&seen, None);
    let results = replay(naps_and_others(), start, options, happening).await;
    (results, seen.number())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_vanishes_in_mid_statement() {
    let (results, servers) = under_all(|_, naps| signal(naps[7], Signal::KILL)).await;
    assert_hit(&results, RUNNING, &["was terminated by signal 9"]);
    // It came back by itself.
    assert_eq!(servers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_dies() {
    let (results, servers) = under_all(|seen, _| signal(postmaster(seen), Signal::KILL)).await;
    assert_hit(
        &results,
        RUNNING,
        &["the server ended by itself; its log ends:\n"],
    );
    assert_eq!(servers, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_else_shuts_the_server_down() {
    for (how, words) in [
        (Signal::INT, "received fast shutdown request"),
        (Signal::QUIT, "received immediate shutdown request"),
    ] {
        let (results, servers) = under_all(|seen, _| signal(postmaster(seen), how)).await;
        assert_hit(&results, RUNNING, &[words]);
        assert_eq!(servers, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_else_shuts_the_server_down_once_its_clients_have_gone() {
    let seen = Seen::default();
    let happening = async {
        napping(&seen, 2).await;
        signal(postmaster(&seen), Signal::TERM);
    };
    // The third worker finds that nobody is let in any more.
    let naps = std::iter::repeat_n(scenario(NAP), 2);
    let brief = scenario(
        "title: T\nsessions: [A]\nsteps:\n  - A: SELECT pg_sleep(0.05);\n  - A: SELECT 1;\n",
    );
    let scenarios = naps.chain(std::iter::repeat_n(brief, 40)).collect();
    let options = options(3, Duration::from_secs(60));
    let results = replay(scenarios, starting(&seen, None), options, happening).await;
    assert_hit(&results, 2, &["the database system is shutting down"]);
    assert_eq!(seen.number(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_stopped_for_longer_than_the_time_limit() {
    let seen = Seen::default();
    let happening = async {
        napping(&seen, 4).await;
        for process in processes(&seen) {
            signal(process, Signal::STOP);
        }
    };
    let naps = std::iter::repeat_n(scenario(NAP), 4);
    let scenarios = naps.chain(std::iter::repeat_n(scenario(BRIEF), FOLLOWING));
    let options = options(4, Duration::from_secs(8));
    let start = starting(&seen, None);
    let results = replay(scenarios.collect(), start, options, happening).await;
    assert_hit(&results, 4, &["the server did not answer for"]);
    assert_eq!(seen.number(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_is_stopped_for_longer_than_the_time_limit() {
    let seen = Seen::default();
    let happening = async {
        let naps = napping(&seen, 1).await;
        signal(naps[0], Signal::STOP);
    };
    let nap = std::iter::once(scenario(NAP));
    let scenarios = nap.chain(std::iter::repeat_n(scenario(BRIEF), FOLLOWING));
    let options = options(1, Duration::from_secs(4));
    let start = starting(&seen, None);
    let results = replay(scenarios.collect(), start, options, happening).await;
    assert_hit(&results, 1, &["does not heed that it is told to end"]);
    assert_eq!(seen.number(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_out_of_connections() {
    let seen = Seen::default();
    let sessions: Vec<String> = (0..40).map(|number| format!("s{number}")).collect();
    let steps: String = sessions
        .iter()
        .map(|session| format!("  - {session}: SELECT 1;\n"))
        .collect();
    let crowd = scenario(&format!(
        "title: T\nsessions: [{}]\nsteps:\n{steps}",
        sessions.join(", ")
    ));
    let scenarios = std::iter::once(crowd).chain(std::iter::repeat_n(scenario(BRIEF), FOLLOWING));
    let options = options(1, Duration::from_secs(30));
    let settings = [("max_connections".to_owned(), "20".to_owned())];
    let start = starting_with(&seen, None, &settings);
    let results = replay(scenarios.collect(), start, options, async {}).await;
    assert_hit(
        &results,
        1,
        &["too many clients", "remaining connection slots"],
    );
    // There is nothing wrong with it.
    assert_eq!(seen.number(), 1);
}

/// A file system in memory that is soon full.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Nothing where the caller may not mount one.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=240m,mode=1777", "lockstep-test"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("nothing was tested, since no file system can be mounted here");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|unmounted| unmounted.success()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_of_the_cluster_is_full() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    // Without and with a log of the changes: the one is an error, the other may be the server's end.
    for kind in ["UNLOGGED", ""] {
        let seen = Seen::default();
        let flood = scenario(&format!(
            "title: T\nsessions: [A]\nsteps:\n  - A: |\n      CREATE {kind} TABLE t AS SELECT \
             i, repeat('x', 1000) FROM generate_series(1, 10000000) AS i;\n"
        ));
        let scenarios =
            std::iter::once(flood).chain(std::iter::repeat_n(scenario(BRIEF), FOLLOWING));
        let options = options(1, Duration::from_secs(120));
        let start = starting(&seen, Some(disk.0.path()));
        let results = replay(scenarios.collect(), start, options, async {}).await;
        assert_hit(&results, 1, &["No space left on device"]);
        // A server that ended over its log may have come back by itself, with room again.
        let most = 2;
        let least = if kind.is_empty() { 1 } else { most };
        assert!((least..=most).contains(&seen.number()), "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_of_the_server_that_a_step_expects_is_a_result() {
    let seen = Seen::default();
    let raise = |code: &str, expect: &str| {
        scenario(&format!(
            "title: T\nsessions: [A]\nsteps:\n  - A: DO $$ BEGIN RAISE EXCEPTION 'so' USING \
             ERRCODE = '{code}'; END $$;\n{expect}"
        ))
    };
    let scenarios = vec![
        raise("XX000", ""),
        raise("53200", "    expect: { error: \"40001\" }\n"),
        raise("58000", "    expect: { error: \"58000\" }\n"),
        raise("XX000", "    expect: { error: { message: so } }\n"),
    ];
    let options = options(1, Duration::from_secs(30));
    let start = starting(&seen, None);
    let results = replay(scenarios, start, options, async {}).await;
    assert_hit(
        &results,
        2,
        &[
            "the server said ERROR XX000: so",
            "the server said ERROR 53200: so",
        ],
    );
    assert_eq!(seen.number(), 1);
}
