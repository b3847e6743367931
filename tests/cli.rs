//! The command line: a folder each in `tests/data/cli`.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `cmd` | command lines for the shell, run one after the other in a copy of `files` |
//! | `files/` | the project that they are run in |
//! | `unprivileged` | if it is there, root runs the command lines as somebody else |
//! | `stdout`, `stderr` | what all of them printed; times are replaced, and nothing else |
//! | `exit` | the exit code of each |
//! | `after` | the files that are there afterwards |
//!
//! With `UPDATE_EXPECTED=1` the expected files are written; read them aloud before committing.
#![cfg(unix)]

mod support;

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whom root runs `unprivileged` folders as.
const SOMEBODY: u32 = 65534;

/// How many folders are tested at the same time.
const SIDE_BY_SIDE: usize = 4;

/// What came of a folder's command lines, by the names of the files that hold it.
type Observed = [(&'static str, String); 4];

#[test]
fn command_lines_do_what_their_folders_say() {
    // What is fetched and made once is told on standard error; here it is there before.
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let server = support::Server::start().await.into_running();
        server.stop().await.expect("nothing is left");
    });

    let mut folders: Vec<PathBuf> = entries(Path::new("tests/data/cli"));
    folders.sort();
    assert!(!folders.is_empty(), "no folder in tests/data/cli");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = compare(folder, &observe(folder));
                    wrong.lock().expect("nobody panics").push_str(&differences);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs the command lines of a folder.
fn observe(folder: &Path) -> Observed {
    let project = tempfile::tempdir().expect("a folder can be made");
    copy(&folder.join("files"), project.path());
    let is_root = rustix::process::geteuid().is_root();
    let somebody = (folder.join("unprivileged").exists() && is_root).then_some(SOMEBODY);
    if let Some(uid) = somebody {
        give(project.path(), uid);
    }
    // The program where everybody may run it.
    let programs = tempfile::tempdir_in("/tmp").expect("a folder can be made");
    let program = programs.path().join("lockstep");
    if somebody.is_some() {
        fs::copy(env!("CARGO_BIN_EXE_lockstep"), &program).expect("the program can be copied");
        give(programs.path(), SOMEBODY);
    } else {
        symlink(env!("CARGO_BIN_EXE_lockstep"), &program).expect("the program can be linked");
    }

    let (mut stdout, mut stderr, mut exit) = (String::new(), String::new(), String::new());
    let commands = fs::read_to_string(folder.join("cmd")).expect("there is a cmd");
    for line in commands.lines() {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", line])
            .current_dir(project.path())
            .env("PATH", search_path(programs.path()))
            .env_remove("CI")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        if let Some(uid) = somebody {
            shell.uid(uid).gid(uid);
        }
        let output = shell.output().expect("the shell can be run");
        stdout.push_str(&without_times(&String::from_utf8_lossy(&output.stdout)));
        stderr.push_str(&without_times(&String::from_utf8_lossy(&output.stderr)));
        let code = output
            .status
            .code()
            .map_or("killed".to_owned(), |code| code.to_string());
        writeln!(exit, "{code:>3}  {line}").expect("a String takes everything");
    }
    let mut after = Vec::new();
    list(project.path(), project.path(), &mut after);
    after.sort();
    [
        ("stdout", stdout),
        ("stderr", stderr),
        ("exit", exit),
        ("after", after.concat()),
    ]
}

/// What differs from what is expected; nothing when that is being written.
fn compare(folder: &Path, observed: &Observed) -> String {
    let mut differences = String::new();
    for (name, observed) in observed {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, observed).expect("the file can be written");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != *observed {
            let diff = similar::TextDiff::from_lines(&expected, observed);
            let header = (format!("{} (expected)", path.display()), "observed");
            let shown = diff.unified_diff().header(&header.0, header.1).to_string();
            differences.push_str(&shown);
        }
    }
    differences
}

fn search_path(first: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(first.to_owned()).chain(std::env::split_paths(&path)))
        .expect("what was split can be joined")
}

/// `[   0.123s]` becomes `[     time]`.
fn without_times(text: &str) -> String {
    let mut replaced = String::new();
    for piece in text.split_inclusive('[') {
        let time = piece.find("s]").filter(|end| {
            let time = piece[..*end].trim_start();
            time.contains('.') && time.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
        match time {
            Some(end) => {
                replaced.push_str("     time]");
                replaced.push_str(&piece[end + 2..]);
            }
            None => replaced.push_str(piece),
        }
    }
    replaced
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect()
}

fn copy(from: &Path, to: &Path) {
    for entry in entries(from) {
        let target = to.join(entry.file_name().expect("an entry has a name"));
        if entry.is_dir() {
            fs::create_dir(&target).expect("a folder can be made");
            copy(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("a file can be copied");
        }
    }
}

fn give(path: &Path, uid: u32) {
    chown(path, Some(uid), Some(uid)).expect("root may give files away");
    if path.is_dir() {
        entries(path).iter().for_each(|entry| give(entry, uid));
    }
}

fn list(folder: &Path, root: &Path, into: &mut Vec<String>) {
    for entry in entries(folder) {
        if entry.is_dir() {
            list(&entry, root, into);
        } else {
            let name = entry.strip_prefix(root).expect("it lies below");
            into.push(format!("{}\n", name.display()));
        }
    }
}
