//! Expected values, changed one at a time in the text of a file.

use lockstep::scenario::{
    Action, Blocker, Expect, ExpectedError, ExpectedRows, Reply, Scenario, SessionIndex, Span,
    Step, Waits,
};

/// Another text for a place of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replacement {
    pub span: Span,
    pub text: String,
    /// Whether the runner, too, reads what is changed: what a step is expected to wait for.
    pub steers: bool,
}

/// A row of expected values.
type Row = Vec<Option<String>>;

/// Every change of the values that one outcome of a step asks for.
pub fn changes(
    scenario: &Scenario,
    expect: &Expect,
    actor: Option<SessionIndex>,
) -> Vec<Replacement> {
    let mut found = Vec::new();
    let mut replace = |span, text| {
        found.push(Replacement {
            span,
            text,
            steers: false,
        });
    };
    if let Some(rows) = &expect.rows {
        for changed in other_rows(rows) {
            replace(rows.span, list(changed.iter().map(row)));
        }
    }
    if let Some(columns) = &expect.columns {
        for changed in other_texts(&columns.value) {
            replace(columns.span, texts(&changed));
        }
    }
    if let Some(number) = &expect.row_count {
        replace(number.span, (number.value + 1).to_string());
    }
    if let Some(tag) = &expect.tag {
        replace(tag.span, quoted(&other_tag(&tag.value)));
    }
    if let Some(notices) = &expect.notices {
        for changed in other_texts(&notices.value) {
            replace(notices.span, texts(&changed));
        }
    }
    if let Some(empty) = &expect.empty {
        replace(empty.span, (!empty.value).to_string());
    }
    if let Some(error) = &expect.error {
        for changed in other_errors(error) {
            replace(error.span, changed);
        }
    }
    if let Some(waits) = &expect.waits {
        let changed = other_waits(scenario, &waits.value, actor);
        let steers = steers(scenario, &waits.value);
        found.extend(changed.into_iter().map(|text| Replacement {
            span: waits.span,
            text,
            steers,
        }));
    }
    found
}

/// Whether the runner reads what a step waits for: it looks for the wait events that are named, and
/// for who waits for sessions whose answers are not waited for.
fn steers(scenario: &Scenario, waits: &Waits) -> bool {
    let is_event = |blocker: &Blocker| matches!(blocker, Blocker::WaitEvent(_));
    let is_left_alone = |step: &Step| {
        matches!(
            step.action,
            Action::Send {
                reply: Reply::Later,
                ..
            }
        )
    };
    matches!(waits, Waits::For(blockers) if blockers.iter().any(is_event))
        || scenario.steps.iter().any(is_left_alone)
}

/// Each value changed, NULL where there was none and the other way round; each row left out; two
/// rows in the other order.
fn other_rows(expected: &ExpectedRows) -> Vec<Vec<Row>> {
    let rows: Vec<Row> = expected.rows.iter().map(|row| row.value.clone()).collect();
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for (cell, value) in row.iter().enumerate() {
            let mut others = vec![Some(other_value(value.as_deref().unwrap_or_default()))];
            others.extend(value.is_some().then_some(None));
            for other in others {
                let mut changed = rows.clone();
                changed[at][cell] = other;
                found.push(changed);
            }
        }
        let mut changed = rows.clone();
        changed.remove(at);
        found.push(changed);
        if !expected.unordered && at > 0 && rows[at - 1] != *row {
            let mut changed = rows.clone();
            changed.swap(at - 1, at);
            found.push(changed);
        }
    }
    found
}

/// Each text changed, and each left out.
fn other_texts(all: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for at in 0..all.len() {
        let mut changed = all.to_vec();
        changed[at] = format!("not {}", changed[at]);
        found.push(changed);
        let mut changed = all.to_vec();
        changed.remove(at);
        found.push(changed);
    }
    found
}

/// `UPDATE 2` for `UPDATE 1`, `ROLLBACK` for `COMMIT`, `COMMIT` for whatever else.
fn other_tag(tag: &str) -> String {
    let number = tag.rsplit_once(' ').and_then(|(words, number)| {
        let number: u64 = number.parse().ok()?;
        Some(format!("{words} {}", number + 1))
    });
    let word = if tag == "COMMIT" {
        "ROLLBACK"
    } else {
        "COMMIT"
    };
    number.unwrap_or_else(|| word.to_owned())
}

/// Another code, and another message.
fn other_errors(error: &ExpectedError) -> Vec<String> {
    let written = |code: Option<&str>, message: Option<&str>| {
        let code = code.map(|code| format!("code: {}", quoted(code)));
        let message = message.map(|message| format!("message: {}", quoted(message)));
        let keys: Vec<String> = code.into_iter().chain(message).collect();
        format!("{{ {} }}", keys.join(", "))
    };
    let mut found = Vec::new();
    if let Some(code) = &error.code {
        let other = if code == "40001" { "40P01" } else { "40001" };
        found.push(written(Some(other), error.message.as_deref()));
    }
    if let Some(message) = &error.message {
        let other = format!("not {message}");
        found.push(written(error.code.as_deref(), Some(&other)));
    }
    found
}

/// No wait for a wait, a wait for none, and a wait for somebody else.
fn other_waits(scenario: &Scenario, waits: &Waits, actor: Option<SessionIndex>) -> Vec<String> {
    let Waits::For(blockers) = waits else {
        return vec![(*waits == Waits::No).to_string()];
    };
    let strangers = (0..scenario.sessions.len()).map(SessionIndex);
    let stranger = strangers
        .filter(|session| Some(*session) != actor)
        .map(Blocker::Session)
        .find(|blocker| !blockers.contains(blocker))
        .or_else(|| Some(Blocker::PreparedTransaction).filter(|other| !blockers.contains(other)));
    let mut found = vec!["false".to_owned()];
    for at in 0..blockers.len() {
        if let Some(stranger) = &stranger {
            let mut changed = blockers.clone();
            changed[at] = stranger.clone();
            found.push(who(scenario, &changed));
        }
        if blockers.len() > 1 {
            let mut changed = blockers.clone();
            changed.remove(at);
            found.push(who(scenario, &changed));
        }
    }
    found
}

fn who(scenario: &Scenario, blockers: &[Blocker]) -> String {
    let name = |session: &SessionIndex| scenario.sessions[session.0].name.value.clone();
    let words = blockers.iter().map(|blocker| match blocker {
        Blocker::Session(session) | Blocker::LostConnection(session) => name(session),
        Blocker::PreparedTransaction => "prepared transaction".to_owned(),
        Blocker::WaitEvent(event) => event.clone(),
    });
    list(words)
}

/// The next number, the other boolean, or a longer text.
fn other_value(value: &str) -> String {
    match (value, value.parse::<i64>()) {
        (_, Ok(number)) => number.wrapping_add(1).to_string(),
        ("t", _) => "f".to_owned(),
        ("f", _) => "t".to_owned(),
        _ => format!("{value} changed"),
    }
}

fn row(values: &Row) -> String {
    let value = |value: &Option<String>| value.as_deref().map_or("null".to_owned(), quoted);
    list(values.iter().map(value))
}

fn texts(all: &[String]) -> String {
    list(all.iter().map(|text| quoted(text)))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Text in double quotes; JSON's escapes are YAML's, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use lockstep::scenario::{SourceFile, parse};

    use super::*;

    /// What stands for `expect:` of the last step, and each text in its place.
    fn changed(expect: &str) -> Vec<String> {
        let head = "title: t\nsessions: [A, B, C]\nsteps:\n  - A: BEGIN;\n  - C: BEGIN;\n  - B: SELECT 1;\n";
        let text = format!("{head}    expect: {expect}\n");
        let source = SourceFile {
            path: "t.yaml".into(),
            text: text.as_str().into(),
        };
        let scenario = parse(&source).expect("a scenario").remove(0);
        let outcomes = scenario.steps[2]
            .expect
            .iter()
            .flat_map(|one| &one.outcomes);
        let changes = outcomes.flat_map(|one| changes(&scenario, one, Some(SessionIndex(1))));
        let apply = |change: Replacement| {
            let mut text = text.clone();
            text.replace_range(change.span.start..change.span.end, &change.text);
            let text = text
                .split_once("expect: ")
                .expect("it is there")
                .1
                .trim_start();
            text.trim_end().to_owned()
        };
        changes.map(apply).collect()
    }

    #[test]
    fn each_value_and_each_row_is_changed() {
        assert_eq!(
            changed("{ rows: [[1, a], [null, t]] }"),
            [
                r#"{ rows: [["2", "a"], [null, "t"]] }"#,
                r#"{ rows: [[null, "a"], [null, "t"]] }"#,
                r#"{ rows: [["1", "a changed"], [null, "t"]] }"#,
                r#"{ rows: [["1", null], [null, "t"]] }"#,
                r#"{ rows: [[null, "t"]] }"#,
                r#"{ rows: [["1", "a"], [" changed", "t"]] }"#,
                r#"{ rows: [["1", "a"], [null, "f"]] }"#,
                r#"{ rows: [["1", "a"], [null, null]] }"#,
                r#"{ rows: [["1", "a"]] }"#,
                r#"{ rows: [[null, "t"], ["1", "a"]] }"#,
            ]
        );
    }

    #[test]
    fn rows_below_each_other_are_changed_as_a_whole() {
        assert_eq!(
            changed("\n      unordered: true\n      rows:\n        - [1]\n        - [2]\n"),
            [
                "unordered: true\n      rows:\n        [[\"2\"], [\"2\"]]",
                "unordered: true\n      rows:\n        [[null], [\"2\"]]",
                "unordered: true\n      rows:\n        [[\"2\"]]",
                "unordered: true\n      rows:\n        [[\"1\"], [\"3\"]]",
                "unordered: true\n      rows:\n        [[\"1\"], [null]]",
                "unordered: true\n      rows:\n        [[\"1\"]]",
            ]
        );
    }

    #[test]
    fn what_else_is_asked_for_is_changed() {
        for (expect, wanted) in [
            ("{ row_count: 2 }", vec!["{ row_count: 3 }"]),
            ("{ empty: true }", vec!["{ empty: false }"]),
            ("{ tag: UPDATE 1 }", vec![r#"{ tag: "UPDATE 2" }"#]),
            ("{ tag: COMMIT }", vec![r#"{ tag: "ROLLBACK" }"#]),
            (
                "{ columns: [a] }",
                vec![r#"{ columns: ["not a"] }"#, "{ columns: [] }"],
            ),
            (
                r#"{ notices: ["x*"] }"#,
                vec![r#"{ notices: ["not x*"] }"#, "{ notices: [] }"],
            ),
            ("{ error: 40001 }", vec![r#"{ error: { code: "40P01" } }"#]),
            (
                r#"{ error: { code: 55P03, message: "x*" } }"#,
                vec![
                    r#"{ error: { code: "40001", message: "x*" } }"#,
                    r#"{ error: { code: "55P03", message: "not x*" } }"#,
                ],
            ),
        ] {
            assert_eq!(changed(expect), wanted);
        }
    }

    #[test]
    fn a_wait_is_denied_and_is_for_somebody_else() {
        for (expect, wanted) in [
            ("{ waits: true }", vec!["{ waits: false }"]),
            ("{ waits: false }", vec!["{ waits: true }"]),
            ("{ waits: [A] }", vec!["{ waits: false }", "{ waits: [C] }"]),
            (
                "{ waits: [A, C] }",
                vec![
                    "{ waits: false }",
                    "{ waits: [prepared transaction, C] }",
                    "{ waits: [C] }",
                    "{ waits: [A, prepared transaction] }",
                    "{ waits: [A] }",
                ],
            ),
        ] {
            assert_eq!(changed(expect), wanted);
        }
    }

    #[test]
    fn every_outcome_is_changed() {
        assert_eq!(
            changed("{ waits: false, one_of: [{ row_count: 1 }, { tag: COMMIT }] }"),
            [
                "{ waits: false, one_of: [{ row_count: 2 }, { tag: COMMIT }] }",
                "{ waits: true, one_of: [{ row_count: 1 }, { tag: COMMIT }] }",
                r#"{ waits: false, one_of: [{ row_count: 1 }, { tag: "ROLLBACK" }] }"#,
                "{ waits: true, one_of: [{ row_count: 1 }, { tag: COMMIT }] }",
            ]
        );
    }
}
