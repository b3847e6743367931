//! The servers of a run: what the cases come to when one cannot be had, or ends in the middle.

#![cfg(unix)]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstep::runner::{
    CaseId, CaseResult, Fleet, Outcome, RunEvent, RunOptions, Start, Trouble, Verdict, run,
};
use lockstep::scenario::{Scenario, load};
use lockstep::server::{Address, Pin, Pins, Provider, Release, Server, start};
use tokio::sync::mpsc::unbounded_channel;

/// A scenario that takes a moment.
const BRIEF: &str = "\
title: A moment
sessions: [A]
steps:
  - A: SELECT 1;
";

/// A release that no machine has, and that has no package.
const NOWHERE: Release = Release {
    major: 12,
    minor: 0,
};

fn eighteen() -> Release {
    Pins::built_in().major(18).expect("18 is pinned").release
}

/// Starts real servers, and hands each to `seen` before it is used.
fn starting(seen: impl Fn(&Server, usize) + Send + Sync + 'static) -> Box<Start> {
    let seen = Arc::new(seen);
    Box::new(move |release, number| {
        let seen = Arc::clone(&seen);
        Box::pin(async move {
            let pin = Pins::built_in().exact(release).cloned();
            let pin = pin.unwrap_or_else(|| Pin::of(release));
            let server = start(
                &Provider::Embedded,
                &pin,
                &support::environment().into(),
                &|_| {},
            )
            .await?;
            seen(&server, number);
            Ok(server)
        })
    })
}

/// Kills a server's postmaster, as nothing in it can.
fn kill(folder: &std::path::Path) {
    let pid = fs::read_to_string(folder.join("data/postmaster.pid")).expect("a running server");
    let pid = pid.lines().next().expect("its first line");
    let killed = Command::new("kill").args(["-9", pid]).status();
    assert!(killed.expect("kill runs").success());
}

fn folder(server: &Server) -> PathBuf {
    match &server.endpoint().address {
        Address::Unix { directory, .. } => directory.clone(),
        Address::Tcp { .. } => panic!("embedded servers have sockets"),
    }
}

fn scenario() -> Arc<Scenario> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("brief.yaml");
    fs::write(&path, BRIEF).expect("written");
    Arc::new(load(&path).expect("a scenario").remove(0))
}

/// Runs as many cases on each release, and gives the results in the order of their ends.
async fn replay(
    fleet: Fleet,
    releases: &[Release],
    number: usize,
    judged: impl Fn(usize) + Send + Sync + 'static,
) -> Vec<CaseResult> {
    let scenario = scenario();
    let cases = (0..number).flat_map(|case| {
        let scenario = &scenario;
        releases.iter().map(move |release| CaseId {
            scenario: Arc::clone(scenario),
            case: case.to_string(),
            release: *release,
        })
    });
    let cases: Vec<CaseId> = cases.collect();
    let over = AtomicUsize::new(0);
    let judge = move |_: &CaseId, outcome: &Outcome| {
        judged(over.fetch_add(1, Ordering::Relaxed));
        match &outcome.trouble {
            None => Verdict::Pass,
            Some(Trouble::Server(what) | Trouble::Unfit(what)) => Verdict::Error(what.clone()),
            Some(Trouble::Invalid(mistake) | Trouble::Stuck(mistake)) => {
                Verdict::Invalid(mistake.clone())
            }
        }
    };
    let options = RunOptions {
        jobs: 2,
        limit: Duration::from_secs(30),
        fail_fast: false,
    };
    let (tell, mut events) = unbounded_channel();
    let mut results = Vec::new();
    let listen = async {
        while let Some(event) = events.recv().await {
            if let RunEvent::Finished(result) = event {
                results.push(*result);
            }
        }
    };
    let (ended, ()) = tokio::join!(run(cases, &fleet, options, Arc::new(judge), tell), listen);
    ended.unwrap();
    fleet.stop().await;
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_cannot_be_started_does_not_keep_the_others() {
    let releases = [NOWHERE, eighteen()];
    let folders = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&folders);
    let start = starting(move |server, _| seen.lock().unwrap().push(folder(server)));
    let fleet = Fleet::start(&releases, start);
    let results = replay(fleet, &releases, 5, |_| {}).await;
    assert_eq!(results.len(), 10);
    for result in results {
        match (&result.verdict, result.release == NOWHERE) {
            (Verdict::Pass, false) => {}
            (Verdict::Unserved(reason), true) => {
                assert!(
                    reason.starts_with("failed to start PostgreSQL 12.0: "),
                    "{reason}"
                );
            }
            (other, _) => panic!("{}: {other:?}", result.release),
        }
    }
    // Nothing outlives the run.
    for folder in folders.lock().unwrap().iter() {
        assert!(!folder.exists(), "{}", folder.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_in_the_middle_is_replaced() {
    let releases = [eighteen()];
    let servers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&servers);
    let start = starting(move |server, number| {
        let mut servers = seen.lock().unwrap();
        assert_eq!(servers.len(), number);
        servers.push(folder(server));
    });
    let victims = Arc::clone(&servers);
    let results = replay(Fleet::start(&releases, start), &releases, 20, move |over| {
        if over == 5 {
            kill(&victims.lock().unwrap()[0]);
        }
    })
    .await;
    assert_eq!(results.len(), 20);
    let failed: Vec<&str> = results
        .iter()
        .filter_map(|result| match &result.verdict {
            Verdict::Error(what) => Some(what.as_str()),
            Verdict::Pass => None,
            other => panic!("{other:?}"),
        })
        .collect();
    // No more than ran at that moment: one that was about to runs on the new server.
    assert!(failed.len() <= 2, "{failed:?}");
    for what in failed {
        assert!(what.starts_with("the server ended by itself"), "{what}");
    }
    assert_eq!(servers.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_keep_ending_are_given_up() {
    let releases = [eighteen()];
    let number = Arc::new(AtomicUsize::new(0));
    let started = Arc::clone(&number);
    let start = starting(move |server, _| {
        started.fetch_add(1, Ordering::Relaxed);
        kill(&folder(server));
    });
    let results = replay(Fleet::start(&releases, start), &releases, 20, |_| {}).await;
    assert_eq!(results.len(), 20);
    assert_eq!(number.load(Ordering::Relaxed), 4);
    let unserved = results.iter().filter_map(|result| match &result.verdict {
        Verdict::Unserved(reason) => Some(reason),
        _ => None,
    });
    let unserved: Vec<&String> = unserved.collect();
    assert!(unserved.len() >= 12, "{}", unserved.len());
    assert!(
        unserved[0].starts_with("4 servers of PostgreSQL 18.6 have ended by themselves; the last:"),
        "{}",
        unserved[0]
    );
}
