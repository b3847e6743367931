use std::time::Duration;

use regex::Regex;
use tokio_postgres::types::Type;

use super::super::answer::{Answer, Column, ResultSet, ServerMessage, Severity};
use super::super::event::{Event, EventKind, Transcript};
use super::Volatile;
use crate::scenario::{Redaction, SessionIndex, Span, split};

const A: SessionIndex = SessionIndex(0);
const B: SessionIndex = SessionIndex(1);

fn transcript(answers: &[Answer]) -> Transcript {
    Transcript {
        sessions: vec!["A".to_owned(), "B".to_owned()],
        backends: vec![(41, A), (42, B), (43, SessionIndex(2)), (44, A)],
        transactions: vec![(761, B), (770, A), (771, A)],
        virtual_transactions: vec![("3/17".to_owned(), A)],
        events: vec![Event {
            step: 0,
            at: Duration::ZERO,
            kind: EventKind::Answered {
                session: Some(A),
                part: 0,
                statement: split("SELECT 1;").unwrap().remove(0),
                answers: answers.to_vec(),
                status: None,
            },
        }],
        ..Transcript::default()
    }
}

fn cells(columns: &[(&str, Type)], row: &[&str]) -> Vec<String> {
    let rows = Answer::Rows(ResultSet {
        columns: columns
            .iter()
            .map(|(name, kind)| Column {
                name: (*name).to_owned(),
                type_oid: kind.oid(),
            })
            .collect(),
        rows: vec![row.iter().map(|cell| Some((*cell).to_owned())).collect()],
        tag: "SELECT 1".to_owned(),
    });
    let answers = [rows];
    let transcript = transcript(&answers);
    let volatile = Volatile::of(&transcript);
    let shown = volatile.answers(&answers).into_owned();
    let Some(Answer::Rows(result)) = shown.into_iter().next() else {
        panic!("rows stay rows");
    };
    result.rows[0].iter().flatten().cloned().collect()
}

fn cell(name: &str, kind: Type, value: &str) -> String {
    cells(&[(name, kind)], &[value]).remove(0)
}

#[test]
fn cells_are_told_by_their_column() {
    for (name, kind, value, expected) in [
        ("pid", Type::INT4, "41", "<pid of A>"),
        ("pg_backend_pid", Type::INT4, "43", "<pid of the observer>"),
        ("pid", Type::INT4, "77", "77"),
        (
            "pg_relation_filepath",
            Type::TEXT,
            "base/16390/16391",
            "base/<oid>/<oid 2>",
        ),
        (
            "pg_export_snapshot",
            Type::TEXT,
            "00000006-0000000B-1",
            "<snapshot>",
        ),
        ("rapid", Type::INT4, "41", "41"),
        ("id", Type::INT4, "41", "41"),
        ("pid", Type::TEXT, "41", "41"),
        (
            "pg_blocking_pids",
            Type::INT4_ARRAY,
            "{41,0,42}",
            "{<pid of A>,0,<pid of B>}",
        ),
        ("blocked_by", Type::INT4_ARRAY, "{42}", "{<pid of B>}"),
        ("sizes", Type::INT4_ARRAY, "{42}", "{42}"),
        ("xmin", Type::XID, "761", "<xid of B>"),
        ("xmin", Type::XID, "999", "<xid>"),
        ("xmax", Type::XID, "0", "0"),
        ("frozen", Type::XID, "2", "2"),
        ("x", Type::XID8, "4294968057", "<xid of B>"),
        ("cmin", Type::CID, "761", "761"),
        ("txid_current", Type::INT8, "900", "<xid of A>"),
        ("id", Type::INT8, "761", "761"),
        ("my_xid", Type::INT8, "761", "<xid of B>"),
        ("my_xid", Type::INT8, "999", "999"),
        ("xmin", Type::TEXT, "761", "<xid of B>"),
        (
            "s",
            Type::PG_SNAPSHOT,
            "761:772:761,770",
            "<xid of B>:<xid>:<xid of B>,<xid of A>",
        ),
        ("virtualxid", Type::TEXT, "3/17", "<vxid of A>"),
        ("virtualtransaction", Type::TEXT, "4/9", "<vxid>"),
        ("virtualtransaction", Type::TEXT, "-1/761", "-1/<xid of B>"),
        ("fraction", Type::TEXT, "3/17", "3/17"),
        ("relation", Type::OID, "16385", "<oid>"),
        ("relation", Type::OID, "1259", "1259"),
        ("objid", Type::OID, "98765", "98765"),
        ("classid", Type::OID, "98765", "98765"),
        ("key", Type::OID, "98765", "98765"),
        ("loid", Type::OID, "98765", "98765"),
        ("relation", Type::REGCLASS, "16385", "<oid>"),
        (
            "relname",
            Type::NAME,
            "pg_toast_16385_index",
            "pg_toast_<oid>_index",
        ),
        ("pg_current_wal_lsn", Type::PG_LSN, "0/1BF7098", "<lsn>"),
    ] {
        assert_eq!(cell(name, kind, value), expected, "{name} {value}");
    }
}

#[test]
fn equal_values_are_shown_alike_and_others_by_a_number() {
    let columns = [
        ("xmin", Type::XID),
        ("xmax", Type::XID),
        ("again", Type::XID),
        ("pid", Type::INT4),
        ("new_pid", Type::INT4),
        ("oid", Type::OID),
        ("datid", Type::OID),
    ];
    let row = ["771", "770", "771", "44", "41", "16385", "16384"];
    assert_eq!(
        cells(&columns, &row),
        [
            "<xid of A>",
            "<xid 2 of A>",
            "<xid of A>",
            "<pid of A>",
            "<pid 2 of A>",
            "<oid>",
            "<oid 2>",
        ]
    );
}

#[test]
fn a_row_says_whose_its_transaction_is() {
    let columns = [
        ("pid", Type::INT4),
        ("virtualtransaction", Type::TEXT),
        ("backend_xid", Type::XID),
    ];
    assert_eq!(
        cells(&columns, &["42", "9/9", "888"]),
        ["<pid of B>", "<vxid of B>", "<xid of B>"]
    );
}

fn message(severity: Severity, code: &str, text: &str, detail: &str) -> ServerMessage {
    ServerMessage {
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        ..ServerMessage::new(severity, code, text)
    }
}

fn shown(message: ServerMessage) -> ServerMessage {
    let answers = [Answer::Error(message)];
    let transcript = transcript(&answers);
    let shown = Volatile::of(&transcript).answers(&answers).into_owned();
    let Some(Answer::Error(message)) = shown.into_iter().next() else {
        panic!("an error stays one");
    };
    message
}

#[test]
fn locks_are_named_in_the_detail_of_a_deadlock() {
    for (line, expected) in [
        (
            "Process 41 waits for ShareLock on transaction 9; blocked by process 42.",
            "Process <pid of A> waits for ShareLock on transaction <xid of B>; blocked by process <pid of B>.",
        ),
        (
            "Process 42 waits for ShareLock on virtual transaction 5/17; blocked by process 41.",
            "Process <pid of B> waits for ShareLock on virtual transaction <vxid of A>; blocked by process <pid of A>.",
        ),
        (
            "Process 41 waits for ExclusiveLock on tuple (0,1) of relation 16385 of database 16384; blocked by process 42.",
            "Process <pid of A> waits for ExclusiveLock on tuple (0,1) of relation <oid> of database <oid 2>; blocked by process <pid of B>.",
        ),
        (
            "Process 41 waits for ExclusiveLock on tuple (7,3) of relation 1259 of database 16384; blocked by process 42.",
            "Process <pid of A> waits for ExclusiveLock on tuple <tid> of relation 1259 of database <oid>; blocked by process <pid of B>.",
        ),
        (
            "Process 41 waits for ExclusiveLock on advisory lock [16384,0,7,1]; blocked by process 42.",
            "Process <pid of A> waits for ExclusiveLock on advisory lock [<oid>,0,7,1]; blocked by process <pid of B>.",
        ),
        (
            "Process 41 waits for ShareLock on transaction 9; blocked by process 77.",
            "Process <pid of A> waits for ShareLock on transaction <xid>; blocked by process 77.",
        ),
    ] {
        let deadlock = message(Severity::Error, "40P01", "deadlock detected", line);
        assert_eq!(shown(deadlock).detail.as_deref(), Some(expected));
    }
}

#[test]
fn messages_are_told_by_their_form() {
    for (code, text, detail, expected) in [
        (
            "40001",
            "could not serialize access",
            "Reason code: Canceled on identification as a pivot, with conflict out to old committed transaction 761.",
            "Reason code: Canceled on identification as a pivot, with conflict out to old committed transaction <xid of B>.",
        ),
        (
            "40001",
            "x",
            "Reason code: Canceled on conflict out to pivot 9, during read.",
            "Reason code: Canceled on conflict out to pivot <xid>, during read.",
        ),
        (
            "XX000",
            "cache lookup failed for relation 16400",
            "",
            "cache lookup failed for relation <oid>",
        ),
        (
            "XX000",
            "could not open relation with OID 16400",
            "",
            "could not open relation with OID <oid>",
        ),
        (
            "42P01",
            "relation with OID 1259 does not exist",
            "",
            "relation with OID 1259 does not exist",
        ),
        (
            "58P01",
            "could not open file \"base/16384/16400\"",
            "",
            "could not open file \"base/<oid>/<oid 2>\"",
        ),
        (
            "22023",
            "transaction ID 761 is in the future",
            "",
            "transaction ID <xid of B> is in the future",
        ),
        (
            "22023",
            "transaction ID 999 is in the future",
            "",
            "transaction ID 999 is in the future",
        ),
        (
            "01000",
            "PID 44 is not a PostgreSQL server process",
            "",
            "PID <pid of A> is not a PostgreSQL server process",
        ),
        (
            "01000",
            "PID 77 is not a PostgreSQL server process",
            "",
            "PID 77 is not a PostgreSQL server process",
        ),
        ("P0001", "job 41 has xmin 761", "", "job 41 has xmin 761"),
    ] {
        let shown = shown(message(Severity::Error, code, text, detail));
        let seen = shown.detail.unwrap_or(shown.message);
        assert_eq!(seen, expected);
    }
}

#[test]
fn what_the_scenario_raises_itself_is_left_alone() {
    let raised = ServerMessage {
        file: Some("pl_exec.c".to_owned()),
        ..message(
            Severity::Info,
            "00000",
            "process 41, relation with OID 16400",
            "",
        )
    };
    assert_eq!(shown(raised.clone()), raised);
}

#[test]
fn redactions_apply_to_all_that_the_server_sent_and_see_the_whole_of_copied_data() {
    let answers = [
        Answer::Error(message(
            Severity::Error,
            "P0001",
            "token abc-1 is old",
            "It is abc-2.",
        )),
        Answer::CopyOut(b"x\tab".to_vec()),
        Answer::CopyOut(b"c-3\n".to_vec()),
    ];
    let mut transcript = transcript(&answers);
    transcript.redactions = vec![Redaction {
        span: Span { start: 0, end: 0 },
        pattern: Regex::new(r"(abc)-\d").unwrap(),
        replacement: "<$1>".to_owned(),
    }];
    let volatile = Volatile::of(&transcript);
    let shown = volatile.answers(&answers).into_owned();
    assert_eq!(
        shown,
        [
            Answer::Error(message(
                Severity::Error,
                "P0001",
                "token <abc> is old",
                "It is <abc>."
            )),
            Answer::CopyOut(b"x\t<abc>\n".to_vec()),
            Answer::CopyOut(Vec::new()),
        ]
    );
    let used = volatile.used();
    assert_eq!(used[0].shown, "<$1>");
    assert_eq!(used[0].raw, ["abc-1", "abc-2", "abc-3"]);
}
