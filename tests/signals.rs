//! Signals: the exit code says which, and nothing is left behind, whenever it comes.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long what is left behind may take to end by itself.
const SOON: Duration = Duration::from_secs(30);

/// A run that never ends by itself, and the folder that its server's folder is in.
struct Run {
    process: Child,
    servers: TempDir,
    _project: TempDir,
}

impl Run {
    fn start() -> Self {
        let project = tempfile::tempdir().expect("a folder can be made");
        let servers = tempfile::tempdir().expect("a folder can be made");
        // The server's account must be able to enter it.
        fs::set_permissions(servers.path(), fs::Permissions::from_mode(0o777))
            .expect("the folder is ours");
        fs::create_dir(project.path().join("scenarios")).expect("a folder can be made");
        fs::write(
            project.path().join("scenarios/nap.yaml"),
            "title: It naps\nsessions: [A]\nsteps:\n  - A: SELECT pg_sleep(600);\n",
        )
        .expect("a file can be written");
        let process = Command::new(env!("CARGO_BIN_EXE_lockstep"))
            .args(["run", "--server", "embedded", "--timeout", "10min"])
            .current_dir(project.path())
            .env("LOCKSTEP_SERVERS", servers.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be run");
        Self {
            process,
            servers,
            _project: project,
        }
    }

    /// Waits until something is in the server's folder.
    fn reach(&self, has: impl Fn(&Path) -> bool) {
        let began = Instant::now();
        while !folders(self.servers.path())
            .iter()
            .any(|folder| has(folder))
        {
            assert!(began.elapsed() < SOON, "the run does not begin");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("the process is there");
    }

    /// Waits for the end of the process, and then of what it has left; the exit code.
    fn end(mut self) -> Option<i32> {
        let status = self.process.wait().expect("it is our child");
        let ended = Instant::now();
        while !folders(self.servers.path()).is_empty() {
            assert!(ended.elapsed() < SOON, "a server is left behind");
            std::thread::sleep(Duration::from_millis(1));
        }
        status.code()
    }
}

fn folders(servers: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(servers)
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

/// What is fetched and made once is there before.
fn prepare() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let server = support::Server::start().await.into_running();
        server.stop().await.expect("nothing is left");
    });
}

#[test]
fn a_signal_ends_the_run_and_the_server_at_every_stage() {
    prepare();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let stages: [&dyn Fn(&Path) -> bool; 3] = [
            &|_| true,
            &|folder| folder.join("data").is_dir(),
            // Each case has a database of its own, so the replay is under way.
            &|folder| fs::read_dir(folder.join("data/base")).is_ok_and(|bases| bases.count() > 3),
        ];
        for (stage, has) in stages.iter().enumerate() {
            let run = Run::start();
            run.reach(has);
            run.signal(signal);
            assert_eq!(run.end(), Some(code), "{signal:?} at stage {stage}");
        }
    }
}

#[test]
fn an_interrupted_run_says_what_came_of_the_cases_that_ended() {
    prepare();
    let project = tempfile::tempdir().expect("a folder can be made");
    fs::create_dir(project.path().join("scenarios")).expect("a folder can be made");
    for (name, sql) in [
        ("a", "SELECT 1"),
        ("b", "SELECT pg_sleep(600)"),
        ("c", "SELECT 3"),
    ] {
        let yaml = format!("title: One step\nsessions: [A]\nsteps:\n  - A: {sql};\n");
        let path = project.path().join(format!("scenarios/{name}.yaml"));
        fs::write(path, yaml).expect("a file can be written");
    }
    let mut process = Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args([
            "run",
            "-j",
            "1",
            "--server",
            "embedded",
            "--timeout",
            "10min",
        ])
        .current_dir(project.path())
        .env_remove("CI")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be run");
    let printed = process.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(printed).lines();
    let mut line = || Some(lines.next()?.expect("UTF-8"));
    let first = line().expect("the first case ends");
    assert!(
        first.contains("NEW") && first.ends_with("a (18.6)"),
        "{first}"
    );
    kill_process(Pid::from_child(&process), Signal::INT).expect("the process is there");
    let rest: Vec<String> = std::iter::from_fn(line).collect();
    let summary = rest.iter().find(|line| line.contains("Summary"));
    let summary = summary.expect("there is a summary");
    assert!(
        summary.ends_with("3 cases: 1 new, 2 not run (interrupted)"),
        "{summary}"
    );
    assert_eq!(process.wait().expect("it is our child").code(), Some(130));
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    prepare();
    let run = Run::start();
    run.reach(|folder| folder.join("data").is_dir());
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    let code = run.end();
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
}

#[test]
fn nothing_is_left_when_the_run_is_killed() {
    prepare();
    let run = Run::start();
    run.reach(|folder| folder.join("data").is_dir());
    run.signal(Signal::KILL);
    assert_eq!(run.end(), None);
}
