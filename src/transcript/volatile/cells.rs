//! Volatile values in rows, told by the type and the name of their column.

use std::sync::LazyLock;

use tokio_postgres::types::Type;

use super::form::Forms;
use super::names::Names;
use crate::transcript::answer::{Column, ResultSet};

/// Columns of type `oid` with these names, or names that end in them, hold what the server chose.
/// (The numbers of an advisory lock in `pg_locks` have that type too, and are the scenario's.)
const OBJECT_NAMES: [&str; 12] = [
    "oid",
    "relid",
    "relation",
    "database",
    "datid",
    "dbid",
    "filenode",
    "namespace",
    "owner",
    "sysid",
    "datdba",
    "userid",
];

/// Functions and columns of type `bigint` that give a transaction id.
const TRANSACTION_FUNCTIONS: [&str; 5] = [
    "txid_current",
    "txid_current_if_assigned",
    "txid_snapshot_xmin",
    "txid_snapshot_xmax",
    "txid_snapshot_xip",
];

/// The names of TOAST tables hold the oid of their table.
static TOAST: LazyLock<Forms> = LazyLock::new(|| Forms::new(&[r"\bpg_toast_(?<oid>\d+)"]));

/// What the values of a column are.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Pid,
    Xid,
    /// It may also be anything else.
    KnownXid,
    Snapshot,
    Vxid,
    Oid,
    /// A path with oids in it.
    Path,
    /// The name of an exported snapshot.
    SnapshotName,
    Lsn,
    RelationName,
}

/// Puts names in the place of the volatile values of a result.
pub(super) fn replace(result: &mut ResultSet, names: &Names<'_>) {
    let columns: Vec<(usize, Holds)> = result
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| Some((at, holds(column)?)))
        .collect();
    if columns.is_empty() {
        return;
    }
    for row in &mut result.rows {
        for (at, holds) in &columns {
            if let Some(Some(value)) = row.get_mut(*at)
                && let Some(name) = shown(value, *holds, names)
            {
                *value = name;
            }
        }
    }
}

/// Whether a column holds process ids.
pub(super) fn is_pid(column: &Column) -> bool {
    let name = column.name.to_ascii_lowercase();
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    if column.type_oid == Type::INT4.oid() {
        return words().any(|word| word == "pid");
    }
    column.type_oid == Type::INT4_ARRAY.oid()
        && words().any(|word| matches!(word, "pid" | "pids" | "blocked" | "blockers" | "blocking"))
}

fn holds(column: &Column) -> Option<Holds> {
    if is_pid(column) {
        return Some(Holds::Pid);
    }
    let name = column.name.to_ascii_lowercase();
    let is_type = |types: &[Type]| types.iter().any(|kind| kind.oid() == column.type_oid);
    if is_type(&[Type::XID, Type::XID8, Type::XID_ARRAY, Type::XID8_ARRAY]) {
        Some(Holds::Xid)
    } else if is_type(&[Type::PG_SNAPSHOT, Type::TXID_SNAPSHOT]) {
        Some(Holds::Snapshot)
    } else if is_type(&[Type::PG_LSN]) {
        Some(Holds::Lsn)
    } else if is_type(&[Type::REGCLASS, Type::NAME]) {
        Some(Holds::RelationName)
    } else if is_type(&[Type::OID, Type::OID_ARRAY]) {
        let is_object = name != "loid" && OBJECT_NAMES.iter().any(|end| name.ends_with(end));
        is_object.then_some(Holds::Oid)
    } else if is_type(&[Type::TEXT]) && matches!(&*name, "virtualxid" | "virtualtransaction") {
        Some(Holds::Vxid)
    } else if is_type(&[Type::TEXT]) && name == "pg_relation_filepath" {
        Some(Holds::Path)
    } else if is_type(&[Type::TEXT]) && name == "pg_export_snapshot" {
        Some(Holds::SnapshotName)
    } else if is_type(&[Type::INT8]) && TRANSACTION_FUNCTIONS.contains(&&*name) {
        Some(Holds::Xid)
    } else if is_type(&[Type::INT8, Type::TEXT]) {
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        words
            .any(|word| matches!(word, "xid" | "txid" | "xmin" | "xmax" | "xip"))
            .then_some(Holds::KnownXid)
    } else {
        None
    }
}

/// What is shown for a value, if it is replaced.
fn shown(value: &str, holds: Holds, names: &Names<'_>) -> Option<String> {
    let numbers = |name: &dyn Fn(&str) -> Option<String>| Some(each_number(value, name));
    match holds {
        Holds::Pid => numbers(&|pid| names.backend(pid)),
        Holds::Xid | Holds::Snapshot => numbers(&|xid| names.transaction(xid)),
        Holds::KnownXid => names.known_transaction(value),
        Holds::Vxid => names.virtual_transaction(value),
        Holds::SnapshotName => Some(names.put("<snapshot>", value)),
        Holds::Oid | Holds::Path => numbers(&|oid| names.object(oid)),
        Holds::Lsn => names.log_place(value),
        Holds::RelationName => {
            if let Some(name) = names.object(value) {
                return Some(name);
            }
            let mut text = value.to_owned();
            TOAST.replace(&mut text, names);
            Some(text)
        }
    }
}

/// A number, an array of numbers or a snapshot with names in the places of numbers.
fn each_number(value: &str, name: &dyn Fn(&str) -> Option<String>) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut out = String::new();
    let mut rest = value;
    while let Some(start) = rest.find(is_digit) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !is_digit(c)).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(&name(number).unwrap_or_else(|| number.to_owned()));
        rest = after;
    }
    out.push_str(rest);
    out
}
