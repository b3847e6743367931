use std::time::Duration;

use super::{Block, TranscriptText};
use crate::scenario::{Blocker, Bound, Sending, SessionIndex, Span, Spanned, SqlText};
use crate::transcript::{Answer, Column, Event, EventKind, Notification, ResultSet, Transcript};

const A: SessionIndex = SessionIndex(0);
const B: SessionIndex = SessionIndex(1);
const WORKER: SessionIndex = SessionIndex(2);

fn transcript(events: Vec<(usize, EventKind)>) -> Transcript {
    Transcript {
        backends: vec![(41, SessionIndex(0))],
        sessions: ["A", "B", "worker-1"].map(str::to_owned).to_vec(),
        events: events
            .into_iter()
            .map(|(step, kind)| Event {
                step,
                at: Duration::ZERO,
                kind,
            })
            .collect(),
        ..Transcript::default()
    }
}

fn sql(text: &str) -> SqlText {
    SqlText {
        text: text.to_owned(),
        span: Span { start: 0, end: 0 },
        origins: Vec::new(),
    }
}

fn sent(session: SessionIndex, text: &str) -> EventKind {
    EventKind::Sent {
        session,
        sending: Sending::Statements(sql(text)),
    }
}

fn answered(session: impl Into<Option<SessionIndex>>, answers: &[Answer]) -> EventKind {
    EventKind::Answered {
        session: session.into(),
        part: 0,
        statement: crate::scenario::split("SELECT 1;").unwrap().remove(0),
        answers: answers.to_vec(),
        status: None,
    }
}

fn waits(session: SessionIndex, blockers: &[Blocker]) -> EventKind {
    EventKind::Waits {
        session,
        blockers: blockers.to_vec(),
    }
}

fn tag(tag: &str) -> Answer {
    Answer::Command(tag.to_owned())
}

fn one_row() -> Answer {
    Answer::Rows(ResultSet {
        columns: vec![Column {
            name: "n".to_owned(),
            type_oid: 23,
        }],
        rows: vec![vec![Some("1".to_owned())]],
        tag: "SELECT 1".to_owned(),
    })
}

#[test]
fn a_race_reads_like_psql() {
    let text = transcript(vec![
        (0, sent(A, "SELECT n\nFROM t\n\nFOR UPDATE;\n\n")),
        (0, answered(A, &[one_row()])),
        (1, sent(B, "UPDATE t SET n = 2;")),
        (1, waits(B, &[Blocker::Session(A)])),
        (2, sent(A, "COMMIT;")),
        (2, answered(A, &[tag("COMMIT")])),
        (1, EventKind::Continues { session: B }),
        (1, answered(B, &[tag("UPDATE 1")])),
        (
            3,
            EventKind::Checked {
                sql: "SELECT n\n\nFROM t;\n".to_owned(),
                invariant: None,
            },
        ),
        (3, answered(None, &[one_row()])),
        (4, sent(WORKER, "BEGIN\n  WORK;")),
        (4, answered(WORKER, &[tag("BEGIN")])),
    ])
    .text();
    let expected = "\
A> SELECT n
   FROM t

   FOR UPDATE;
 n 
---
 1
(1 row)

B> UPDATE t SET n = 2;
-- B waits for A

A> COMMIT;
COMMIT

-- B continues
UPDATE 1

-- check: SELECT n
--
--        FROM t;
 n 
---
 1
(1 row)

worker-1> BEGIN
            WORK;
BEGIN
";
    assert_eq!(text.as_str(), expected);
    for (number, line) in expected.lines().enumerate() {
        let step = match line {
            "B> UPDATE t SET n = 2;" | "-- B waits for A" | "-- B continues" | "UPDATE 1" => 1,
            "A> COMMIT;" | "COMMIT" => 2,
            "worker-1> BEGIN" | "            WORK;" | "BEGIN" => 4,
            _ => continue,
        };
        assert_eq!(text.step_of_line(number), Some(step), "{line}");
    }
}

#[test]
fn the_empty_line_below_a_table_stays_within_a_step_and_is_one_between_blocks() {
    let text = transcript(vec![
        (
            0,
            sent(A, "SELECT 1 AS n; SELECT 1 AS n; BEGIN; SELECT 1 AS n;"),
        ),
        (0, answered(A, &[one_row()])),
        (0, answered(A, &[one_row()])),
        (0, answered(A, &[tag("BEGIN")])),
        (0, answered(A, &[one_row()])),
        (0, waits(A, &[Blocker::Session(B)])),
        (1, sent(B, "COPY t TO STDOUT;")),
        (
            1,
            answered(B, &[Answer::CopyOut(b"x\n\n".to_vec()), tag("COPY 2")]),
        ),
        (2, sent(B, "")),
    ])
    .text();
    let table = " n \n---\n 1\n(1 row)\n";
    assert_eq!(
        text.as_str(),
        format!(
            "A> SELECT 1 AS n; SELECT 1 AS n; BEGIN; SELECT 1 AS n;\n\
             {table}\n{table}\nBEGIN\n{table}\n-- A waits for B\n\n\
             B> COPY t TO STDOUT;\nx\n\n\nB> \n"
        )
    );
}

#[test]
fn whom_a_session_waits_for_is_told_in_a_fixed_order() {
    for (blockers, words) in [
        (vec![], ""),
        (
            vec![
                Blocker::Session(WORKER),
                Blocker::Session(B),
                Blocker::Session(B),
            ],
            " for B and worker-1",
        ),
        (
            vec![
                Blocker::PreparedTransaction,
                Blocker::Session(WORKER),
                Blocker::Session(B),
            ],
            " for B, worker-1 and a prepared transaction",
        ),
        (
            vec![Blocker::WaitEvent("SyncRep".to_owned())],
            " for the wait event SyncRep",
        ),
    ] {
        let text = transcript(vec![(0, waits(A, &blockers))]).text();
        assert_eq!(text.as_str(), format!("-- A waits{words}\n"));
    }
}

#[test]
fn an_answer_that_comes_after_other_blocks_says_whose_it_is() {
    let text = transcript(vec![
        (0, sent(A, "COMMIT;")),
        (1, sent(B, "COMMIT;")),
        (1, answered(B, &[tag("COMMIT")])),
        (0, answered(A, &[tag("ROLLBACK"), Answer::ConnectionLost])),
    ])
    .text();
    assert_eq!(
        text.as_str(),
        "A> COMMIT;\n\nB> COMMIT;\nCOMMIT\n\n-- A answers\nROLLBACK\n-- the connection of A is closed\n"
    );
}

#[test]
fn lines_are_traced_back_to_steps() {
    let text = TranscriptText::join(&[
        Block {
            step: 3,
            text: "a\nb\n".to_owned(),
        },
        Block {
            step: 1,
            text: "c\n".to_owned(),
        },
    ]);
    let steps: Vec<_> = (0..6).map(|line| text.step_of_line(line)).collect();
    assert_eq!(steps, [3, 3, 3, 1, 1, 1].map(Some));
    assert_eq!(TranscriptText::join(&[]).step_of_line(0), None);
}

#[test]
fn the_backend_of_a_notification_is_named_when_it_plays_a_session() {
    let notified = |pid| {
        Answer::Notification(Notification {
            pid,
            channel: "jobs".to_owned(),
            payload: String::new(),
        })
    };
    let text = transcript(vec![(
        0,
        answered(
            B,
            &[
                Answer::Command("LISTEN".to_owned()),
                notified(41),
                notified(77),
            ],
        ),
    )])
    .text();
    assert_eq!(
        text.as_str(),
        "-- B answers\nLISTEN\n\
         Asynchronous notification \"jobs\" received from server process with PID <pid of A>.\n\
         Asynchronous notification \"jobs\" received from server process with PID 77.\n"
    );
    assert_eq!(text.replaced(), ["<pid of A>"]);
}

#[test]
fn each_way_of_sending_says_what_it_is() {
    let name = || Spanned {
        value: "claim".to_owned(),
        span: Span { start: 0, end: 0 },
    };
    let bound = |text: &str, params: &[Option<&str>]| Bound {
        sql: sql(text),
        params: params
            .iter()
            .map(|value| value.map(str::to_owned))
            .collect(),
    };
    let copy = |sql: Option<SqlText>, data: &str, more| Sending::Copy {
        sql,
        data: self::sql(data),
        more,
    };
    let steps = [
        (
            Sending::Bound(bound("SELECT $1,\n$2;", &[Some("it's"), None])),
            vec![vec![one_row()]],
        ),
        (
            Sending::Message(sql("BEGIN; SELECT 1;")),
            vec![vec![tag("BEGIN"), one_row()]],
        ),
        (
            Sending::Prepare {
                name: name(),
                sql: sql("SELECT $1"),
            },
            vec![vec![Answer::Prepared]],
        ),
        (
            Sending::Execute {
                name: name(),
                params: vec![Some("1".to_owned())],
            },
            vec![vec![one_row()]],
        ),
        (
            Sending::Pipeline(vec![
                bound("SELECT $1", &[Some("1")]),
                bound("BEGIN", &[]),
                bound("COMMIT", &[]),
            ]),
            vec![vec![one_row()], vec![tag("BEGIN")], vec![Answer::Skipped]],
        ),
        (
            copy(Some(sql("COPY t FROM STDIN")), "1\n", true),
            vec![vec![Answer::CopyIn]],
        ),
        (copy(None, "2\n", false), vec![vec![tag("COPY 2")]]),
        // It fails before it asks for its data.
        (
            copy(Some(sql("COPY nowhere FROM STDIN")), "1\n", false),
            vec![vec![tag("(an error)")]],
        ),
        (
            Sending::Statements(sql("COMMIT;")),
            vec![vec![Answer::ReplyLost]],
        ),
    ];
    let events = steps
        .into_iter()
        .enumerate()
        .flat_map(|(step, (sending, answers))| {
            let sent = EventKind::Sent {
                session: A,
                sending,
            };
            let answered = answers.into_iter().map(|answers| answered(A, &answers));
            std::iter::once(sent)
                .chain(answered)
                .map(move |kind| (step, kind))
        });
    let table = " n \n---\n 1\n(1 row)\n";
    assert_eq!(
        transcript(events.collect()).text().as_str(),
        format!(
            "A> SELECT $1,\n   $2;\n-- $1 = 'it''s'\n-- $2 = NULL\n{table}\n\
             A> BEGIN; SELECT 1;\n-- sent as one message\nBEGIN\n{table}\n\
             A> SELECT $1\n-- prepared as claim\n\n\
             -- A executes claim\n-- $1 = '1'\n{table}\n\
             A> SELECT $1\n-- $1 = '1'\nA> BEGIN\nA> COMMIT\n-- sent as one pipeline\n\
             {table}\nBEGIN\n-- not run: the pipeline is aborted\n\n\
             A> COPY t FROM STDIN\n>> 1\n-- the stream stays open\n\n\
             -- A goes on with its stream\n>> 2\n>> \\.\nCOPY 2\n\n\
             A> COPY nowhere FROM STDIN\n(an error)\n\n\
             A> COMMIT;\n-- the connection of A is lost before an answer\n"
        )
    );
}
