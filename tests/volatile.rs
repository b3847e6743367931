//! What servers of all releases really said, in `tests/data/volatile`, and what a transcript shows
//! of it: a snapshot for each file.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep::scenario::{SessionIndex, split};
use lockstep::transcript::{
    Answer, Column, Event, EventKind, ResultSet, ServerMessage, Severity, Transcript,
};

const A: SessionIndex = SessionIndex(0);
const B: SessionIndex = SessionIndex(1);

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("tests/data/volatile").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The text, and what was put into it.
fn shown(backends: Vec<(i32, SessionIndex)>, answers: Vec<Answer>) -> String {
    let transcript = Transcript {
        sessions: vec!["A".to_owned(), "B".to_owned()],
        backends,
        events: vec![Event {
            step: 0,
            at: std::time::Duration::ZERO,
            kind: EventKind::Answered {
                session: Some(A),
                part: 0,
                statement: split("SELECT 1;").expect("it is SQL").remove(0),
                answers,
                status: None,
            },
        }],
        ..Transcript::default()
    };
    let text = transcript.text();
    format!(
        "{}\nreplaced: {}\n",
        text.as_str(),
        text.replaced().join(", ")
    )
}

fn assert_snapshot(path: &Path, folder: &str, seen: &str) {
    let name = path
        .file_stem()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        snapshot_path => format!("data/volatile/{folder}"),
        omit_expression => true
    }, {
        insta::assert_snapshot!(name, seen);
    });
}

fn message(block: &str) -> Answer {
    let (severity, text) = block.split_once(": ").expect("a severity comes first");
    let (severity, code) = match severity {
        "INFO" => (Severity::Info, "00000"),
        "LOG" => (Severity::Log, "00000"),
        "WARNING" => (Severity::Warning, "01000"),
        "ERROR" if text.starts_with("deadlock") => (Severity::Error, "40P01"),
        "ERROR" if text.starts_with("could not serialize") => (Severity::Error, "40001"),
        "ERROR" => (Severity::Error, "XX000"),
        other => panic!("{other} is no severity"),
    };
    let field = |name: &str| {
        let (_, rest) = text.split_once(&format!("\n{name}:  "))?;
        let ends = ["\nHINT:  ", "\nCONTEXT:  "].map(|next| rest.find(next).unwrap_or(rest.len()));
        Some(rest[..ends[0].min(ends[1])].to_owned())
    };
    let first = ["\nDETAIL:  ", "\nHINT:  ", "\nCONTEXT:  "]
        .iter()
        .filter_map(|field| text.find(field))
        .min();
    let message = ServerMessage {
        detail: field("DETAIL"),
        hint: field("HINT"),
        context: field("CONTEXT"),
        ..ServerMessage::new(severity, code, &text[..first.unwrap_or(text.len())])
    };
    match severity {
        Severity::Error => Answer::Error(message),
        _ => Answer::Notice(message),
    }
}

#[test]
fn messages_of_all_releases_are_shown_without_what_is_different_in_each_run() {
    for path in files("messages") {
        let file = fs::read_to_string(&path).expect("it is text");
        let (backends, messages) = file.split_once("\n\n").expect("the backends come first");
        let pids = backends.split(' ').map(|backend| {
            let (name, pid) = backend.split_once('=').expect("a name and a pid");
            let session = if name == "A" { A } else { B };
            (pid.parse().expect("a pid"), session)
        });
        let answers = messages.trim_end().split("\n\n").map(message).collect();
        assert_snapshot(&path, "messages", &shown(pids.collect(), answers));
    }
}

#[test]
fn plans_of_all_releases_keep_their_rows_and_lose_their_times() {
    for path in files("plans") {
        let file = fs::read_to_string(&path).expect("it is text");
        let plan = |block: &str| {
            let is_whole = block.starts_with(['[', '<']) || block.starts_with("- ");
            let lines: Vec<&str> = if is_whole {
                vec![block]
            } else {
                block.split('\n').collect()
            };
            Answer::Rows(ResultSet {
                columns: vec![Column {
                    name: "QUERY PLAN".to_owned(),
                    type_oid: 25,
                }],
                rows: lines
                    .into_iter()
                    .map(|line| vec![Some(line.to_owned())])
                    .collect(),
                tag: "EXPLAIN".to_owned(),
            })
        };
        let answers = file.trim_end().split("\n\n").map(plan).collect();
        assert_snapshot(&path, "plans", &shown(Vec::new(), answers));
    }
}
