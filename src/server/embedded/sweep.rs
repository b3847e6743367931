//! Folders of servers: their names, and the clearing away of those whose run is dead.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::account::Account;
use super::lock::lock;

/// How every server's folder is named: this and 16 hexadecimal digits.
const PREFIX: &str = "lockstep-";

/// The name for a new folder.
pub(super) fn folder_name(random: u64) -> String {
    format!("{PREFIX}{random:016x}")
}

/// Clears away what dead runs left in `base`. Runs that go on are left alone: they hold the locks
/// of their folders.
pub(super) fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let folder = entry.path();
        if is_ours(&folder)
            && let Ok(Some(_lock)) = lock(&folder)
        {
            remove(&folder);
        }
    }
}

/// Whether a path is a folder that a run of the same caller made.
fn is_ours(folder: &Path) -> bool {
    let named = folder
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix(PREFIX))
        .is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_hexdigit()));
    let caller = Account::caller();
    named
        && fs::symlink_metadata(folder).is_ok_and(|found| {
            found.is_dir()
                && (found.uid() == caller.uid
                    || caller.is_root() && Account::belongs_to_runs_of_root(found.uid()))
        })
}

/// Ends the server in a folder, if one runs there, and removes the folder.
pub(super) fn remove(folder: &Path) {
    let data = folder.join("data");
    // An immediate shutdown lets the postmaster end its own processes and release its memory.
    if let Some(postmaster) = postmaster(&data) {
        let _ = kill_process(postmaster, Signal::QUIT);
        wait_until(Duration::from_secs(7), || !works_in(postmaster, &data));
    }
    for process in processes_in(&data) {
        let _ = kill_process(process, Signal::KILL);
        wait_until(Duration::from_secs(2), || !works_in(process, &data));
    }
    // A process that was just killed may still have made a file.
    wait_until(Duration::from_secs(2), || {
        fs::remove_dir_all(folder).is_ok() || !folder.exists()
    });
}

/// The postmaster of a cluster, if it really runs.
fn postmaster(data: &Path) -> Option<Pid> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid = Pid::from_raw(text.lines().next()?.trim().parse().ok()?)?;
    works_in(pid, data).then_some(pid)
}

/// Whether a process works in a cluster's folder, as all processes of its server do and no
/// other process does.
fn works_in(pid: Pid, data: &Path) -> bool {
    if Path::new("/proc/self/cwd").exists() {
        return fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data);
    }
    // The server was started with the folder, whose name is random, as an argument.
    std::process::Command::new("ps")
        .args(["-o", "args=", "-p", &pid.to_string()])
        .output()
        .is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).contains(&*data.to_string_lossy())
        })
}

/// All processes that work in a cluster's folder, where the system lists processes as files.
fn processes_in(data: &Path) -> Vec<Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|pid| works_in(*pid, data))
        .collect()
}

/// Asks for a condition until it holds or the time is over. Other programs' processes and files
/// cannot be waited for, only asked.
fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    while !holds() && Instant::now() < end {
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
