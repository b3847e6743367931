//! The account a server runs as.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Numbers that accounts of single runs are taken from. They lie above what distributions,
/// containers and directories of people hand out, and fit a signed number.
const OWN: std::ops::Range<u32> = 0x6C6F_0000..0x6C70_0000;

/// An account by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// The account that calls.
    pub(super) fn caller() -> Self {
        Self {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    /// Whether it is root, as whom PostgreSQL refuses to run.
    pub(super) fn is_root(self) -> bool {
        self.uid == 0
    }

    /// The account named nobody, which has no rights but those everybody has.
    pub(super) fn nobody() -> Self {
        fs::read_to_string("/etc/passwd")
            .ok()
            .and_then(|text| {
                text.lines().find_map(|line| {
                    let mut fields = line.split(':');
                    (fields.next()? == "nobody").then_some(())?;
                    Some(Self {
                        uid: fields.nth(1)?.parse().ok()?,
                        gid: fields.next()?.parse().ok()?,
                    })
                })
            })
            .unwrap_or(Self {
                uid: 65534,
                gid: 65534,
            })
    }

    /// An account that nobody has and no process uses, for one run: only root can reach what runs
    /// as it. `random` chooses.
    pub(super) fn of_its_own(random: u64) -> Self {
        let used = uids_in_use();
        let span = u64::from(OWN.end - OWN.start);
        let uid = (0..span)
            .map(|step| OWN.start + u32::try_from((random.wrapping_add(step)) % span).unwrap_or(0))
            .find(|uid| !used.contains(uid))
            .unwrap_or(OWN.start);
        Self { uid, gid: uid }
    }

    /// Whether root may take a folder of this owner for one that a run of its own left behind.
    pub(super) fn belongs_to_runs_of_root(uid: u32) -> bool {
        OWN.contains(&uid) || uid == Self::nobody().uid
    }
}

/// The accounts of all processes, where the system lists processes as files.
fn uids_in_use() -> HashSet<u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some(entry.metadata().ok()?.uid()))
        .collect()
}
