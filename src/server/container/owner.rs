//! Whose a container is: labels that tell what a dead run left from what a living one uses.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use rustix::process::{Pid, test_kill_process};

const HOST: &str = "pg-lockstep.host";
const USER: &str = "pg-lockstep.user";
const BOOT: &str = "pg-lockstep.boot";
const NAMESPACE: &str = "pg-lockstep.pid-namespace";
const PROCESS: &str = "pg-lockstep.pid";
const STARTED: &str = "pg-lockstep.started";

/// The label that every container of Lockstep has. Its value is the run's, and the container's name.
pub(super) const RUN: &str = "pg-lockstep.run";

/// A process, so that no other can be taken for it: not one of another machine, user, container
/// or boot, nor a later one that was given the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    host: String,
    user: String,
    boot: String,
    namespace: String,
    process: i32,
    started: String,
}

impl Owner {
    /// This process.
    pub(super) fn this_process() -> Self {
        let process = rustix::process::getpid();
        Self {
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            user: rustix::process::geteuid().as_raw().to_string(),
            boot: boot(),
            namespace: fs::read_link("/proc/self/ns/pid")
                .map(|link| link.to_string_lossy().into_owned())
                .unwrap_or_default(),
            process: process.as_raw_nonzero().get(),
            started: started(process).unwrap_or_default(),
        }
    }

    /// The labels that say so.
    pub(super) fn labels(&self) -> [(&'static str, String); 6] {
        [
            (HOST, self.host.clone()),
            (USER, self.user.clone()),
            (BOOT, self.boot.clone()),
            (NAMESPACE, self.namespace.clone()),
            (PROCESS, self.process.to_string()),
            (STARTED, self.started.clone()),
        ]
    }

    /// What a container's labels say.
    fn from_labels(labels: &HashMap<String, String>) -> Option<Self> {
        let label = |name| labels.get(name).cloned();
        Some(Self {
            host: label(HOST)?,
            user: label(USER)?,
            boot: label(BOOT)?,
            // The engine's client leaves out labels without a value.
            namespace: label(NAMESPACE).unwrap_or_default(),
            process: label(PROCESS)?.parse().ok()?,
            started: label(STARTED)?,
        })
    }
}

/// Whether a container with these labels is one that a dead run of the same user on this machine
/// left behind. Where that cannot be proven, it is not.
pub(super) fn is_left_behind(
    labels: &HashMap<String, String>,
    is_running: bool,
    this: &Owner,
) -> bool {
    let Some(owner) = Owner::from_labels(labels) else {
        return false;
    };
    if (&owner.host, &owner.user) != (&this.host, &this.user) || this.boot.is_empty() {
        return false;
    }
    if owner.boot != this.boot {
        // The machine was started anew, which ended it. Another machine that has the same name
        // would run it.
        return !is_running;
    }
    owner.namespace == this.namespace && is_dead(&owner)
}

/// Whether a process of this machine, user and boot has ended.
fn is_dead(owner: &Owner) -> bool {
    let Some(process) = Pid::from_raw(owner.process) else {
        return false;
    };
    match started(process) {
        Some(started) => started != owner.started,
        None => test_kill_process(process) == Err(rustix::io::Errno::SRCH),
    }
}

/// What differs between two starts of the machine.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .ok()
        .or_else(|| said(Command::new("sysctl").args(["-n", "kern.bootsessionuuid"])))
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// When a process began, in whatever unit the system has.
fn started(process: Pid) -> Option<String> {
    if fs::exists("/proc/self/stat").unwrap_or(false) {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before it may hold anything, also parentheses.
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let state = fields.next()?;
        // What has ended and was not yet collected by its parent has ended.
        return (state != "Z").then(|| fields.nth(18).map(str::to_owned))?;
    }
    said(Command::new("ps").args(["-o", "lstart=", "-p", &process.to_string()]))
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(owner: &Owner) -> HashMap<String, String> {
        owner
            .labels()
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn is_left(change: impl FnOnce(&mut Owner), is_running: bool) -> bool {
        let this = Owner::this_process();
        let mut owner = this.clone();
        change(&mut owner);
        is_left_behind(&labels(&owner), is_running, &this)
    }

    /// A process that has ended, and was collected.
    fn ended() -> i32 {
        let mut child = Command::new("true").spawn().expect("it can be run");
        let id = child.id();
        child.wait().expect("it ends");
        i32::try_from(id).expect("it is a process")
    }

    #[test]
    fn what_a_living_process_owns_is_in_use() {
        assert!(!is_left(|_| (), true));
        assert!(!is_left(|_| (), false));
    }

    #[test]
    fn what_a_dead_process_owned_is_left_behind() {
        let dead = ended();
        assert!(is_left(|owner| owner.process = dead, true));
        assert!(is_left(|owner| owner.started.push('0'), true));
    }

    #[test]
    fn what_cannot_be_judged_from_here_is_in_use() {
        let dead = ended();
        for change in [
            (|owner| owner.host.push('x')) as fn(&mut Owner),
            |owner| owner.user.push('1'),
            |owner| owner.namespace.push('x'),
            |owner| owner.boot.push('x'),
        ] {
            let dead_elsewhere = |owner: &mut Owner| {
                owner.process = dead;
                change(owner);
            };
            assert!(!is_left(dead_elsewhere, true));
        }
        let this = Owner::this_process();
        assert!(!is_left_behind(&HashMap::new(), false, &this));
    }

    #[test]
    fn what_ended_with_an_earlier_start_of_the_machine_is_left_behind() {
        assert!(is_left(|owner| owner.boot.push('x'), false));
    }
}
