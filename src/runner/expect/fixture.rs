//! A scenario of one step, to hold observations against.

use std::sync::Arc;

use super::{Answered, Observed, unmet};
use crate::scenario::{
    Action, Blocker, Diagnostic, Expect, Expectation, ReleaseRange, Reply, Role, Scenario, Sending,
    Session, SessionIndex, SourceFile, Span, Spanned, SqlText, Statement, Step, split,
};
use crate::server::Release;
use crate::transcript::{Answer, Column, ResultSet, ServerMessage, Severity};

/// The release that gave the answers.
pub(super) const RELEASE: Release = Release {
    major: 18,
    minor: 6,
};

/// The file; the spans of a test are pieces of it.
pub(super) const FILE: &str = "\
steps:
  - A: |
      SELECT id, task
      FROM jobs;
    expect:
      rows: [[1, mail], [2, ~], [3, bill]]
      columns: [id, task]
      row_count: 17
      tag: UPDATE 1
      error: { code: 55P03 }
      waits: [A]
      notices: ['one*']
      empty: true
";

/// Where a piece of the file stands.
pub(super) fn span(piece: &str) -> Span {
    let start = FILE.find(piece).expect("a piece of the file");
    Span {
        start,
        end: start + piece.len(),
    }
}

pub(super) fn spanned<T>(piece: &str, value: T) -> Spanned<T> {
    Spanned {
        value,
        span: span(piece),
    }
}

/// The SQL of the step, with its way back to the indented lines.
pub(super) fn sql() -> SqlText {
    let first = span("SELECT id, task");
    let second = span("FROM jobs;");
    SqlText {
        text: "SELECT id, task\nFROM jobs;\n".to_owned(),
        span: Span {
            start: first.start,
            end: second.end,
        },
        origins: vec![(0, first.start), (16, second.start)],
    }
}

pub(super) fn source() -> SourceFile {
    SourceFile {
        path: "race.yaml".into(),
        text: Arc::from(FILE),
    }
}

/// An expectation of nothing.
pub(super) fn nothing() -> Expect {
    Expect {
        span: span("expect:"),
        rows: None,
        columns: None,
        row_count: None,
        tag: None,
        error: None,
        waits: None,
        notices: None,
        empty: None,
    }
}

/// What is underlined, what is wrong, and what stands beside it.
pub(super) fn judge(expect: Expect, answers: &[Answer]) -> Vec<[String; 3]> {
    judge_wait(expect, answers, None)
}

/// The statement of the fixture's step.
pub(super) fn statement() -> Statement {
    split(&sql().text).unwrap().remove(0)
}

/// The same for a step that waited.
pub(super) fn judge_wait(
    expect: Expect,
    answers: &[Answer],
    blockers: Option<Vec<Blocker>>,
) -> Vec<[String; 3]> {
    judge_any(vec![expect], answers, blockers)
        .into_iter()
        .map(|found| {
            let underlined = FILE[found.span.start..found.span.end].to_owned();
            [underlined, found.message, found.label]
        })
        .collect()
}

/// What is wrong with a step that may have one of several outcomes.
pub(super) fn judge_any(
    outcomes: Vec<Expect>,
    answers: &[Answer],
    blockers: Option<Vec<Blocker>>,
) -> Vec<Diagnostic> {
    let mut scenario = scenario(nothing());
    scenario.steps[0].expect[0].outcomes = outcomes;
    let statement = statement();
    let observed = Observed {
        answered: vec![Answered {
            part: 0,
            statement: &statement,
            answers,
        }],
        waited: blockers.is_some(),
        blockers: blockers.unwrap_or_default(),
    };
    unmet(&scenario, &scenario.steps[0], &observed, RELEASE)
}

/// A scenario of two sessions, A and B, and one step.
pub(super) fn scenario(expect: Expect) -> Scenario {
    let session = |name: &str| Session {
        name: spanned("A", name.to_owned()),
        title: None,
        isolation: None,
        settings: Vec::new(),
        setup: None,
        teardown: None,
        role: None,
    };
    Scenario {
        source: source(),
        case: "default".to_owned(),
        matrix: Vec::new(),
        title: "A race".to_owned(),
        summary: None,
        tags: Vec::new(),
        postgres: ReleaseRange::default(),
        sources: Vec::new(),
        setup: Vec::new(),
        teardown: None,
        sessions: vec![session("A"), session("B")],
        steps: vec![Step {
            span: span("A: |"),
            action: Action::Send {
                session: SessionIndex(0),
                sending: Sending::Statements(sql()),
                reply: Reply::Awaited,
            },
            role: Role::Ordered,
            id: None,
            label: None,
            note: None,
            expect: vec![Expectation {
                releases: ReleaseRange::default(),
                outcomes: vec![expect],
            }],
        }],
        claims: Vec::new(),
        limits: Vec::new(),
        timeout: None,
        own_server: None,
        clock: None,
        redactions: Vec::new(),
        differences: Vec::new(),
        schedules: None,
        carries_over: false,
        superuser: None,
    }
}

/// Rows under the columns `id` and `task`.
pub(super) fn rows(rows: &[[Option<&str>; 2]]) -> Answer {
    let column = |name: &str| Column {
        name: name.to_owned(),
        type_oid: 25,
    };
    Answer::Rows(ResultSet {
        columns: vec![column("id"), column("task")],
        rows: rows.iter().map(|row| owned(row)).collect(),
        tag: format!("SELECT {}", rows.len()),
    })
}

pub(super) fn owned(row: &[Option<&str>]) -> Vec<Option<String>> {
    row.iter().map(|value| value.map(str::to_owned)).collect()
}

pub(super) fn command(tag: &str) -> Answer {
    Answer::Command(tag.to_owned())
}

pub(super) fn message(severity: Severity, code: &str, text: &str) -> ServerMessage {
    ServerMessage::new(severity, code, text)
}
