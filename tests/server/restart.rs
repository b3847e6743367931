//! A server that is told to shut down and start again: what survives, and what is left when it goes
//! wrong.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use lockstep::scenario::Shutdown;
use lockstep::server::embedded::{Environment, Server};
use lockstep::server::{self, Recipe};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{
    ask, base, connect, environment, environment_in, folder_of, is_empty, postmaster_of,
    processes_of, start, try_connect, wait_until,
};

/// How a server is started that may be restarted.
async fn recipe(environment: &Environment) -> Recipe {
    let first = server::Server::Embedded(start(environment).await);
    let recipe = first.recipe().expect("it is Lockstep's own");
    first.stop().await.expect("nothing is left");
    recipe
}

#[tokio::test]
async fn what_was_committed_survives_however_the_server_shuts_down() {
    let base = base();
    let recipe = recipe(&environment_in(&base)).await;
    let mut server = recipe.start_restartable(&[]).await.expect("it starts");
    let folder = folder_of(server.endpoint());
    let endpoint = server.endpoint().clone();
    for how in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Immediate] {
        let client = connect(&endpoint, "postgres").await;
        let first = postmaster_of(&folder);
        client
            .batch_execute(
                "DROP TABLE IF EXISTS kept, unlogged; CREATE TABLE kept (id int);
                 CREATE UNLOGGED TABLE unlogged AS SELECT 1 AS id",
            )
            .await
            .expect("tables can be made");
        // The last thing before the shutdown: nothing else can have flushed it.
        client
            .batch_execute("INSERT INTO kept VALUES (1)")
            .await
            .expect("it commits");
        server.restart(how).await.expect("it comes back");

        assert_eq!(server.endpoint(), &endpoint);
        assert_ne!(postmaster_of(&folder), first);
        assert_eq!(server.failed(), None);
        assert!(client.batch_execute("").await.is_err(), "it was ended");
        let client = connect(&endpoint, "postgres").await;
        assert_eq!(ask(&client, "SELECT count(*) FROM kept").await, "1");
        let unlogged = if how == Shutdown::Fast { "1" } else { "0" };
        assert_eq!(
            ask(&client, "SELECT count(*) FROM unlogged").await,
            unlogged
        );
        let scripted = server.scripted_endpoint();
        connect(scripted, "postgres").await;
    }
    server.stop().await.expect("nothing is left");
    assert!(is_empty(base.path()));
}

#[tokio::test]
async fn a_server_that_is_restarted_keeps_its_settings() {
    let recipe = recipe(&environment()).await;
    let setting = ("max_prepared_transactions".to_owned(), "7".to_owned());
    let mut server = recipe
        .start_restartable(&[setting])
        .await
        .expect("it starts");
    for how in [Shutdown::Fast, Shutdown::Immediate] {
        server.restart(how).await.expect("it comes back");
        let client = connect(server.endpoint(), "postgres").await;
        let settings = [
            ("max_prepared_transactions", "7"),
            ("synchronous_commit", "local"),
            ("full_page_writes", "on"),
            ("fsync", "off"),
        ];
        for (name, value) in settings {
            let asked = format!("current_setting('{name}')");
            assert_eq!(ask(&client, &asked).await, value, "{name}");
        }
    }
    server.stop().await.expect("nothing is left");
}

#[tokio::test]
async fn a_server_that_does_not_start_again_says_why() {
    let base = base();
    let mut server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    fs::write(
        folder.join("data/postgresql.auto.conf"),
        "max_wal_senders = many\n",
    )
    .expect("the file can be written");
    let error = server
        .restart(Shutdown::Fast)
        .await
        .expect_err("it cannot start with this");
    let told = error.to_string();
    assert!(
        told.starts_with("restarting the server failed; it said:\n"),
        "{told}"
    );
    assert!(told.contains("max_wal_senders"), "{told}");
    assert!(server.failed().is_some());
    server.stop().await;
    assert!(is_empty(base.path()));
}

#[tokio::test]
async fn a_server_that_has_died_is_not_restarted() {
    let base = base();
    let mut server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    let postmaster = i32::try_from(postmaster_of(&folder)).expect("a process");
    let postmaster = Pid::from_raw(postmaster).expect("a process");
    kill_process(postmaster, Signal::KILL).expect("it runs");
    server
        .restart(Shutdown::Immediate)
        .await
        .expect_err("there is nothing to restart");
    assert!(try_connect(server.endpoint(), "postgres").await.is_err());
    server.stop().await;
    wait_until("all of it is gone", || processes_of(&folder).is_empty());
    assert!(is_empty(base.path()));
}

const RESTART: &str = "LOCKSTEP_TEST_RESTART";

#[test]
#[ignore = "run by the test below"]
fn restart_for_ever() {
    let Some(base) = std::env::var_os(RESTART) else {
        return;
    };
    let environment = Environment {
        servers: Some(PathBuf::from(base)),
        ..environment()
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut server: Server = start(&environment).await;
        let folder = folder_of(server.endpoint());
        for how in [Shutdown::Fast, Shutdown::Immediate].into_iter().cycle() {
            println!("RESTARTS {}", folder.display());
            server.restart(how).await.expect("it comes back");
        }
    });
}

#[test]
fn nothing_is_left_when_the_run_is_killed_in_mid_restart() {
    let base = base();
    for restarts in 1..=8 {
        let mut child = Command::new(std::env::current_exe().expect("we run"))
            .args(["--exact", "restart::restart_for_ever", "--ignored"])
            .arg("--nocapture")
            .env(RESTART, base.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("we can be run again");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let folder = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| {
                line.split_once("RESTARTS ")
                    .map(|(_, path)| PathBuf::from(path))
            })
            .nth(restarts)
            .expect("it restarts a server");
        // Somewhere in the middle, each time at another moment.
        std::thread::sleep(Duration::from_millis(7) * u32::try_from(restarts).expect("few"));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        wait_until("the folder is gone", || is_empty(base.path()));
        wait_until("the processes are gone", || {
            processes_of(&folder).is_empty()
        });
    }
}
