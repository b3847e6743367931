//! The process that holds a server's folder and the server, and outlives Lockstep only to end both.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use tokio::sync::watch;

use super::account::Account;
use super::environment::Environment;
use super::error::ServerErrorKind;
use super::lock::lock;
use super::log;
use super::sweep;
use crate::scenario::Shutdown;

/// How long a keeper may take to end its server. PostgreSQL kills what does not heed an immediate
/// shutdown after 5 s.
const END_LIMIT: Duration = Duration::from_secs(20);

/// How much of a log is shown.
const LAST_LINES: usize = 20;

const COMMON: &str = include_str!("keeper.sh");

/// What a keeper does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// Download a package.
    Download,
    /// Make a cluster to copy.
    Template,
    /// Run a server.
    Serve,
}

impl Duty {
    /// What it is called in messages.
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Download => "downloading",
            Self::Template => "making a cluster",
            Self::Serve => "starting the server",
        }
    }

    const fn script(self) -> &'static str {
        match self {
            Self::Download => include_str!("download.sh"),
            Self::Template => include_str!("template.sh"),
            Self::Serve => include_str!("serve.sh"),
        }
    }
}

/// How far a keeper is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    Born,
    /// The folder is there.
    Made,
    /// The server was started, or the template is finished.
    Going,
    /// Something did not work.
    Failed(String),
    /// The server ended by itself.
    Ended(String),
    /// The keeper is gone, and all it kept.
    Gone,
}

impl Stage {
    /// Whether nothing good can come any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Ended(_) | Self::Gone)
    }
}

/// What a keeper reported up to now.
#[derive(Debug, Clone)]
struct Report {
    stage: Stage,
    /// How often the server has shut down to start again.
    restarts: usize,
    /// What its commands printed.
    said: String,
}

/// A running keeper. Dropping it ends it and waits until it is gone.
#[derive(Debug)]
pub(super) struct Keeper {
    folder: PathBuf,
    child: Child,
    /// Held open as long as the server is wanted; the kernel closes it when Lockstep dies.
    stdin: Option<ChildStdin>,
    report: watch::Receiver<Report>,
    /// Never sends; hangs up when the keeper is gone. Nobody contends for the mutex: it makes the
    /// keeper one that threads can share, so that starts can be spawned.
    gone: Mutex<mpsc::Receiver<()>>,
    /// Locked while Lockstep lives, so that nobody sweeps the folder.
    lock: Option<File>,
}

/// Why no keeper can be started.
pub(super) fn not_started(cause: io::Error) -> ServerErrorKind {
    ServerErrorKind::Keeper {
        cause,
        is_root: Account::caller().is_root(),
    }
}

impl Keeper {
    /// Starts a keeper for a folder that is not there yet.
    pub(super) fn start(
        duty: Duty,
        folder: &Path,
        arguments: &[OsString],
        account: Account,
        environment: &Environment,
    ) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        if duty != Duty::Download {
            // A server must not depend on the variables of its caller; a package client must.
            command.env_clear().env("LC_ALL", "C");
        }
        command
            .args(["-c", "eval \"$LOCKSTEP_KEEPER\"", "lockstep-keeper"])
            .arg(folder)
            .args(arguments)
            .env("LOCKSTEP_KEEPER", format!("{COMMON}{}", duty.script()))
            .env("PATH", environment.search_path())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The terminal's Ctrl-C is for Lockstep alone.
            .process_group(0);
        if account != Account::caller() {
            // Called by root, this also drops the supplementary groups.
            command.uid(account.uid).gid(account.gid);
        }
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("the standard output is piped");
        let (sender, report) = watch::channel(Report {
            stage: Stage::Born,
            restarts: 0,
            said: String::new(),
        });
        let (hold, gone) = mpsc::channel();
        std::thread::Builder::new()
            .name("lockstep-keeper".to_owned())
            .spawn(move || {
                listen(BufReader::new(stdout), &sender);
                drop(hold);
            })?;
        Ok(Self {
            folder: folder.to_owned(),
            child,
            stdin,
            report,
            gone: Mutex::new(gone),
            lock: None,
        })
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How far it is.
    pub(super) fn stage(&self) -> Stage {
        self.report.borrow().stage.clone()
    }

    /// Waits until it is as far as is asked for, or is over.
    pub(super) async fn reach(&self, wanted: Stage) -> Stage {
        let mut report = self.report.clone();
        let reached = report
            .wait_for(|report| report.stage == wanted || report.stage.is_over())
            .await;
        // Nobody reports any more once the keeper is gone.
        reached.map_or(Stage::Gone, |report| report.stage.clone())
    }

    /// Waits until it is over.
    pub(super) async fn over(&self) {
        self.reach(Stage::Gone).await;
    }

    /// Locks the folder, which must have been made. `false` if somebody swept it in the instant
    /// between.
    pub(super) fn lock(&mut self) -> io::Result<bool> {
        self.lock = lock(&self.folder)?;
        Ok(self.lock.is_some())
    }

    /// Sends a line that the keeper waits for.
    pub(super) fn send(&mut self, line: &str) -> io::Result<()> {
        match &mut self.stdin {
            Some(stdin) => writeln!(stdin, "{line}"),
            None => Ok(()),
        }
    }

    /// Lets the server shut down, and waits until that is done and it is about to start again.
    /// `false` if it has ended for good instead.
    pub(super) async fn restart(&mut self, how: Shutdown) -> bool {
        let before = self.report.borrow().restarts;
        let line = match how {
            Shutdown::Fast => "fast",
            Shutdown::Immediate => "immediate",
        };
        // A keeper that has died meanwhile is noticed below.
        let _ = self.send(line);
        let mut report = self.report.clone();
        let restarted = report
            .wait_for(|report| report.restarts > before || report.stage.is_over())
            .await;
        restarted.is_ok_and(|report| !report.stage.is_over())
    }

    /// The end of what the keeper's commands printed and of the log in the folder.
    pub(super) fn last_words(&self) -> String {
        let log = std::fs::read(self.folder.join("log")).unwrap_or_default();
        let text = self.report.borrow().said.clone() + &String::from_utf8_lossy(&log);
        log::last_lines(&text, LAST_LINES)
    }

    /// Ends the server and waits until it and its folder are gone; blocks.
    pub(super) fn end(&mut self) {
        if self.stdin.take().is_none() {
            return;
        }
        let gone = self.gone.get_mut().unwrap_or_else(PoisonError::into_inner);
        if gone.recv_timeout(END_LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            // The keeper is killed first, so that it does not clean up beside us.
            let _ = self.child.kill();
            sweep::remove(&self.folder);
        }
        let _ = self.child.wait();
        if self.folder.exists() {
            // Somebody killed the keeper.
            sweep::remove(&self.folder);
        }
        self.lock = None;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(lines: impl BufRead, sender: &watch::Sender<Report>) {
    for line in lines.split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        let stage = match line.split_once(' ').unwrap_or((&line, "")) {
            ("made", "") => Some(Stage::Made),
            ("started" | "done", "") => Some(Stage::Going),
            ("failed", what) => Some(Stage::Failed(what.to_owned())),
            ("ended", status) => Some(Stage::Ended(status.to_owned())),
            _ => None,
        };
        sender.send_modify(|report| match stage {
            Some(stage) => report.stage = stage,
            None if line == "restarting" => report.restarts += 1,
            None => {
                report.said.push_str(&line);
                report.said.push('\n');
            }
        });
    }
    sender.send_modify(|report| report.stage = Stage::Gone);
}
