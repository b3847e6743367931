//! A server that fails in the middle of a replay: the case is an error that says why, nothing
//! hangs, and a server that comes back serves the next case.
#![cfg(unix)]

mod support;

use std::path::Path;
use std::time::Duration;

use lockstep::runner::{self, Outcome, Trouble};
use lockstep::scenario::{self, Scenario};
use lockstep::server::{Address, Server};
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_secs(60);

/// What the session runs while the server fails.
const NAP: &str = "SELECT pg_sleep(600);";

fn scenario(statement: &str) -> Scenario {
    let text = format!("title: It naps\nsessions: [A]\nsteps:\n  - A: {statement}\n");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("nap.yaml");
    std::fs::write(&path, text).expect("the file can be written");
    scenario::load(&path).expect("it is right").remove(0)
}

/// Waits until the nap has begun; the process id of its backend.
async fn napping(server: &Server) -> i32 {
    let (client, connection) = server
        .endpoint()
        .config("postgres")
        .connect(tokio_postgres::NoTls)
        .await
        .expect("the server lets its superuser in");
    tokio::spawn(connection);
    loop {
        let rows = client
            .query(
                "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = $1",
                &[&NAP],
            )
            .await
            .expect("the server answers");
        if let Some(row) = rows.first() {
            return row.get(0);
        }
    }
}

fn postmaster(server: &Server) -> i32 {
    let Address::Unix { directory, .. } = &server.endpoint().address else {
        panic!("an embedded server has a socket");
    };
    let file: &Path = &directory.join("data/postmaster.pid");
    let text = std::fs::read_to_string(file).expect("the server runs");
    text.lines()
        .next()
        .and_then(|line| line.parse().ok())
        .expect("its process id comes first")
}

fn signal(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("a process has a number");
    kill_process(pid, signal).expect("the process is there");
}

/// Replays the nap, and lets the server fail meanwhile.
async fn outcome(server: &Server, fail: impl AsyncFnOnce(i32)) -> Outcome {
    let scenario = scenario(NAP);
    let failing = async {
        fail(napping(server).await).await;
    };
    let (outcome, ()) = tokio::join!(runner::replay(&scenario, server, LIMIT), failing);
    outcome
}

fn reason(outcome: &Outcome) -> &str {
    match &outcome.trouble {
        Some(Trouble::Server(reason)) => reason,
        other => panic!("the server failed, and the case says {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_crashes_is_told_and_the_server_serves_again() {
    let server = support::Server::start().await.into_running();
    let outcome = outcome(&server, async |backend| signal(backend, Signal::KILL)).await;
    let reason = reason(&outcome);
    assert!(reason.contains("was terminated by signal 9"), "{reason}");
    assert!(reason.contains(NAP), "{reason}");

    let next = runner::replay(&scenario("SELECT 1;"), &server, LIMIT).await;
    assert!(next.trouble.is_none(), "{:?}", next.trouble);
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_is_told() {
    let server = support::Server::start().await.into_running();
    let killed = postmaster(&server);
    let outcome = outcome(&server, async |_| signal(killed, Signal::KILL)).await;
    let reason = reason(&outcome);
    assert!(reason.contains("ended by itself"), "{reason}");

    let next = runner::replay(&scenario("SELECT 1;"), &server, LIMIT).await;
    assert!(matches!(next.trouble, Some(Trouble::Server(_))));
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_shut_down_is_told() {
    let server = support::Server::start().await.into_running();
    let shut_down = postmaster(&server);
    let outcome = outcome(&server, async |_| signal(shut_down, Signal::INT)).await;
    let reason = reason(&outcome);
    assert!(
        reason.contains("received fast shutdown request"),
        "{reason}"
    );
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_is_terminated_is_no_failure_of_the_server() {
    let server = support::Server::start().await.into_running();
    let outcome = outcome(&server, async |backend| signal(backend, Signal::TERM)).await;
    assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
    let text = outcome.transcript.text();
    assert!(
        text.as_str()
            .contains("FATAL:  terminating connection due to administrator command"),
        "{}",
        text.as_str()
    );
    server.stop().await.expect("nothing is left");
}
