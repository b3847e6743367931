//! Nothing outlives a run, however it ends, and no run disturbs another.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lockstep::server::embedded::{Environment, Server};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::bench::{
    LIMIT, ask, base, connect, environment, environment_in, folder_of, is_empty, postmaster_of,
    processes_of, start, wait_until,
};

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).expect("it is there");
}

fn assert_gone(folder: &Path) {
    assert!(!folder.exists(), "{} is left", folder.display());
    assert_eq!(
        processes_of(folder),
        Vec::<u32>::new(),
        "processes are left"
    );
}

#[tokio::test]
async fn nothing_is_left_after_stop() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    server.stop().await;
    assert_gone(&folder);
    assert!(is_empty(base.path()));
}

/// Keeps a backend busy with work in which it looks at nothing but itself.
async fn keep_busy(server: &Server) -> u32 {
    let client = connect(server.scripted_endpoint(), "postgres").await;
    let pid = ask(&client, "pg_backend_pid()").await;
    tokio::spawn(async move {
        client
            .batch_execute("SELECT count(*) FROM generate_series(1, 1000000000000)")
            .await
    });
    let observer = connect(server.endpoint(), "postgres").await;
    let active = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE pid = {pid} AND state = 'active' AND query LIKE '%generate_series%'"
    );
    while ask(&observer, &active).await == "0" {}
    pid.parse().unwrap()
}

#[tokio::test]
async fn nothing_is_left_after_drop_even_of_a_busy_backend() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    keep_busy(&server).await;
    drop(server);
    assert_gone(&folder);
}

#[tokio::test]
async fn a_backend_that_has_lost_its_postmaster_is_ended_too() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    keep_busy(&server).await;
    kill(postmaster_of(&folder));
    tokio::time::timeout(LIMIT, server.wait_for_failure())
        .await
        .expect("it is noticed");
    server.stop().await;
    wait_until("all of it is gone", || processes_of(&folder).is_empty());
    assert_gone(&folder);
}

#[tokio::test]
async fn a_server_that_is_killed_is_noticed_and_cleared_away() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    assert_eq!(server.failed(), None);
    let folder = folder_of(server.endpoint());
    kill(postmaster_of(&folder));
    let why = tokio::time::timeout(LIMIT, server.wait_for_failure())
        .await
        .expect("it is noticed");
    assert!(why.contains("ready to accept connections"), "{why}");
    assert!(server.failed().is_some());
    server.stop().await;
    assert_gone(&folder);
}

#[tokio::test]
async fn a_keeper_that_is_killed_takes_nothing_with_it_but_the_run() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());
    kill(keeper_of(&folder));
    tokio::time::timeout(LIMIT, server.wait_for_failure())
        .await
        .expect("it is noticed");
    server.stop().await;
    wait_until("all of it is gone", || processes_of(&folder).is_empty());
    assert_gone(&folder);
}

/// Another process of this test that holds a server until it is killed.
struct Holder {
    child: Child,
    folder: PathBuf,
}

const HOLD: &str = "LOCKSTEP_TEST_HOLD";

impl Holder {
    fn start(base: &TempDir) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("we run"))
            .args(["--exact", "end::hold", "--ignored", "--nocapture"])
            .env(HOLD, base.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("we can be run again");
        let folder = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                line.split_once("HELD ")
                    .map(|(_, path)| PathBuf::from(path))
            })
            .expect("it starts a server");
        Self { child, folder }
    }

    fn end(&mut self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
        self.child.wait().expect("it ends");
    }
}

#[test]
#[ignore = "run by the other tests"]
fn hold() {
    let Some(base) = std::env::var_os(HOLD) else {
        return;
    };
    let environment = Environment {
        servers: Some(PathBuf::from(base)),
        ..environment()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(start(&environment));
    println!("HELD {}", folder_of(server.endpoint()).display());
    // Until killed, or until the test that wanted it is gone.
    std::io::stdin().lock().lines().for_each(drop);
}

fn keeper_of(folder: &Path) -> u32 {
    let postmaster = postmaster_of(folder);
    let status = std::fs::read_to_string(format!("/proc/{postmaster}/status")).expect("it runs");
    status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
        .expect("it has a parent")
}

#[test]
fn nothing_is_left_when_the_holder_is_killed() {
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let base = base();
        let mut holder = Holder::start(&base);
        holder.end(signal);
        wait_until("the folder is gone", || is_empty(base.path()));
        wait_until("the processes are gone", || {
            processes_of(&holder.folder).is_empty()
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_sweeps_up_and_leaves_living_runs_alone() {
    let base = base();
    let environment = environment_in(&base);
    let living = start(&environment).await;
    let client = connect(living.endpoint(), "postgres").await;
    let mut holder = Holder::start(&base);
    // Stopped first, so that none of the three can clear up after another.
    let keeper = keeper_of(&holder.folder);
    kill(keeper);
    holder.end(Signal::KILL);
    assert!(holder.folder.exists());
    assert!(!processes_of(&holder.folder).is_empty());

    let next = start(&environment).await;
    assert!(!holder.folder.exists());
    wait_until("the processes are gone", || {
        processes_of(&holder.folder).is_empty()
    });

    assert_eq!(ask(&client, "SELECT 1").await, "1");
    assert_eq!(living.failed(), None);
    next.stop().await;
    living.stop().await;
    assert!(is_empty(base.path()));
}

#[tokio::test]
async fn a_folder_that_only_looks_like_a_servers_is_nobodys_business() {
    let base = base();
    let other = base.path().join("lockstep-notes");
    std::fs::create_dir(&other).unwrap();
    let file = base.path().join("lockstep-0123456789abcdef");
    std::fs::write(&file, "a file").unwrap();
    start(&environment_in(&base)).await.stop().await;
    assert!(other.is_dir());
    assert!(file.is_file());
}
