//! Volatile values in errors, notices and the like.

use std::sync::LazyLock;

use super::form::Forms;
use super::names::Names;
use crate::transcript::answer::{ServerMessage, Severity};

/// `deadlock_detected`: its DETAIL names backends, transactions and objects by number.
const DEADLOCK: &str = "40P01";

/// `serialization_failure`: its DETAIL may name a transaction.
const SERIALIZATION: &str = "40001";

/// Where a PL/pgSQL RAISE comes from: its text is the scenario's own.
const RAISE: &str = "pl_exec.c";

/// Any message.
static EVERY: LazyLock<Forms> = LazyLock::new(|| {
    Forms::new(&[
        r"\b(?:PID|[Pp]rocess) (?<pid>\d+)",
        r"\bwith OID (?<oid>\d+)",
        r"cache lookup failed for .* (?<oid>\d+)",
        r"\bbase/(?<oid>\d+)/(?<oid2>\d+)",
        r"\bpg_toast_(?<oid>\d+)",
        r"\btransaction ID (?<known_xid>\d+)",
        // Rows of system catalogs lie wherever there was room; those of the scenario's own tables
        // are where it put them.
        r#"(?:updated version (?<tid>\(\d+,\d+\)) of )?tuple (?<tid2>\(\d+,\d+\)) in relation "pg_"#,
    ])
});

/// What locks are on, in the words of a deadlock's DETAIL and of `log_lock_waits`.
static LOCKS: LazyLock<Forms> = LazyLock::new(|| {
    Forms::new(&[
        r"virtual transaction (?<vxid>\d+/\d+)",
        r"\b(?:on|of) transaction (?<xid>\d+)",
        r"tuple (?<tid>\(\d+,\d+\)) of relation (?:\d{1,4}|1[0-5]\d{3}) ",
        r"relation (?<oid>\d+) of database (?<oid2>\d+)",
        r"object (?<oid>\d+) of class \d+ of database (?<oid2>\d+)",
        r"\bids? of database (?<oid>\d+)",
        r"datfrozenxid of database (?<oid>\d+)",
        r"(?:advisory|user) lock \[(?<oid>\d+),",
        r" after (?<time>\d+\.\d+) ms",
    ])
});

static SERIALIZATIONS: LazyLock<Forms> =
    LazyLock::new(|| Forms::new(&[r"\b(?:pivot|transaction) (?<xid>\d+)"]));

/// What VACUUM, ANALYZE, CLUSTER and REINDEX tell when they are VERBOSE, on all releases. How many
/// rows and pages there were is theirs to show; how long it took, and what it needed, is not.
static MAINTENANCE: LazyLock<Forms> = LazyLock::new(|| {
    Forms::new(&[
        r"\b(?:user|system|elapsed): (?<time>\d+\.\d+) s",
        r"avg read rate: (?<n>\d+\.\d+) MB/s, avg write rate: (?<n2>\d+\.\d+) MB/s",
        r"buffer usage: (?<n>\d+) hits, (?<n2>\d+) (?:reads|misses), (?<n3>\d+) dirtied",
        r"WAL usage: (?<n>\d+) records, (?<n2>\d+) full page images, (?<n3>\d+) bytes(?:, (?<n4>\d+) buffers full)?",
        r"I/O timings: read: (?<time>\d+\.\d+) ms, write: (?<time2>\d+\.\d+) ms",
        r"delay time: (?<time>\d+\.\d+) ms",
        r"removable cutoff: (?<xid>\d+), which was (?<n>-?\d+) XIDs old",
        r"new relfrozenxid: (?<xid>\d+), which is (?<n>-?\d+) XIDs ahead",
        r"new relminmxid: (?<n>\d+), which is (?<n2>-?\d+) MXIDs ahead",
        r"oldest xmin: (?<xid>\d+)",
    ])
});

/// `log_duration` and its like.
static DURATIONS: LazyLock<Forms> =
    LazyLock::new(|| Forms::new(&[r"^duration: (?<time>\d+\.\d+) ms"]));

/// Puts names in the place of a message's volatile values.
pub(super) fn replace(message: &mut ServerMessage, names: &Names<'_>) {
    if message.file.as_deref() == Some(RAISE) {
        return;
    }
    match (message.severity, message.code.as_str()) {
        (_, DEADLOCK) => each(message, &LOCKS, names),
        (_, SERIALIZATION) => each(message, &SERIALIZATIONS, names),
        (Severity::Info, _) => each(message, &MAINTENANCE, names),
        (Severity::Log, _) => {
            if message.message.starts_with("process ") {
                each(message, &LOCKS, names);
            }
            each(message, &DURATIONS, names);
        }
        _ => {}
    }
    each(message, &EVERY, names);
}

fn each(message: &mut ServerMessage, forms: &Forms, names: &Names<'_>) {
    forms.replace(&mut message.message, names);
    let others = [&mut message.detail, &mut message.context];
    for text in others.into_iter().flatten() {
        forms.replace(text, names);
    }
}
