//! What must come out of a step.

use super::super::model::{Blocker, Expect, ExpectedRows, SessionIndex, Waits};
use super::super::source::{Span, Spanned};
use super::expected_error;
use super::expected_rows;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::sessions::Sessions;
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "an expectation",
    known: &[
        "rows",
        "unordered",
        "columns",
        "row_count",
        "tag",
        "error",
        "waits",
        "notices",
        "empty",
    ],
    later: &["one_of", "when"],
};

const HELP: &str = "write what must come out: `expect: { rows: [[1, done]] }`";

/// Reads an expectation of a step of `actor`, if a session acts in it.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    sessions: &Sessions,
    actor: Option<SessionIndex>,
) -> Option<Expect> {
    let fields = Fields::of(mistakes, node, "a mapping of expectations", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    if fields.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "nothing is expected")
                .label("an empty mapping")
                .help(HELP),
        );
    }
    let unordered = fields
        .get("unordered")
        .and_then(|node| values::boolean(mistakes, node));
    let rows = fields.get("rows").and_then(|node| {
        expected_rows::read(mistakes, node).map(|rows| ExpectedRows {
            span: node.span,
            rows,
            unordered: unordered.as_ref().is_some_and(|unordered| unordered.value),
        })
    });
    let columns = fields.get("columns").and_then(|node| {
        let help = "write the names of the columns: `columns: [id, task]`";
        values::list(mistakes, node, "a list of columns", help)?;
        let names = values::texts(mistakes, node, "a list of columns", help);
        Some(Spanned {
            value: names.into_iter().map(|name| name.value).collect(),
            span: node.span,
        })
    });
    let row_count = fields
        .get("row_count")
        .and_then(|node| values::number(mistakes, node, "a number of rows"));
    let tag = fields.get("tag").and_then(|node| {
        let help = "write the command tag: `tag: UPDATE 1`";
        values::text(mistakes, node, "a command tag", help).map(|value| Spanned {
            value,
            span: node.span,
        })
    });
    let error = fields
        .get("error")
        .and_then(|node| expected_error::read(mistakes, node));
    let waits = fields
        .get("waits")
        .and_then(|node| waits(mistakes, node, sessions, actor));
    let notices = fields.get("notices").and_then(|node| {
        let help = "write the messages: `notices: [\"table * does not exist, skipping\"]`";
        values::list(mistakes, node, "a list of messages", help)?;
        let messages = values::texts(mistakes, node, "a list of messages", help);
        Some(Spanned {
            value: messages.into_iter().map(|message| message.value).collect(),
            span: node.span,
        })
    });
    let empty = fields
        .get("empty")
        .and_then(|node| values::boolean(mistakes, node));

    refuse_contradictions(mistakes, &fields);
    let expect = Expect {
        span: node.span,
        rows,
        columns,
        row_count,
        tag,
        error,
        waits,
        notices,
        empty,
    };
    refuse_other_counts(mistakes, &expect);
    Some(expect)
}

fn contradiction(mistakes: &mut Mistakes, later: (Span, &str), earlier: (Span, &str), help: &str) {
    let (later, earlier) = if later.0.start < earlier.0.start {
        (earlier, later)
    } else {
        (later, earlier)
    };
    mistakes.report(
        Mistake::new(later.0, "expectations that cannot both be met")
            .label(later.1)
            .related(earlier.0, earlier.1)
            .help(help),
    );
}

/// Reports keys that exclude each other, whatever their values are.
fn refuse_contradictions(mistakes: &mut Mistakes, fields: &Fields<'_>) {
    if let Some(error) = fields.entry("error") {
        let others: Vec<_> = ["rows", "columns", "row_count", "tag", "empty"]
            .iter()
            .filter_map(|key| fields.entry(key))
            .collect();
        if !others.is_empty() {
            let mistake = others.iter().fold(
                Mistake::new(error.key_span, "expectations that cannot both be met")
                    .label("comes from a statement that fails"),
                |mistake, other| {
                    mistake.related(other.key_span, "comes from a statement that succeeds")
                },
            );
            mistakes.report(mistake.help("keep the error, or what comes without one"));
        }
    }
    if let (Some(unordered), None) = (fields.entry("unordered"), fields.entry("rows")) {
        mistakes.report(
            Mistake::new(
                unordered.key_span,
                "`unordered` says how `rows` are compared",
            )
            .label("there are no `rows` beside it")
            .help("write `rows:` beside it, or take it out"),
        );
    }
}

/// Reports numbers of rows and columns that differ within one expectation.
fn refuse_other_counts(mistakes: &mut Mistakes, expect: &Expect) {
    let rows = expect.rows.as_ref();
    if let (Some(rows), Some(count)) = (rows, &expect.row_count)
        && rows.rows.len() as u64 != count.value
    {
        contradiction(
            mistakes,
            (count.span, &format!("{} here", counted(count.value, "row"))),
            (
                values::first_line(mistakes, rows.span),
                &format!("{} here", counted(rows.rows.len() as u64, "row")),
            ),
            "`row_count` follows from `rows`: leave it out",
        );
    }
    if let Some(empty) = &expect.empty {
        let places = [
            rows.map(|rows| (rows.span, rows.rows.len() as u64)),
            expect
                .row_count
                .as_ref()
                .map(|count| (count.span, count.value)),
        ];
        for (span, number) in places.into_iter().flatten() {
            if empty.value != (number == 0) {
                contradiction(
                    mistakes,
                    (
                        empty.span,
                        if empty.value {
                            "no row here"
                        } else {
                            "some row here"
                        },
                    ),
                    (
                        values::first_line(mistakes, span),
                        &format!("{} here", counted(number, "row")),
                    ),
                    "keep one of them",
                );
            }
        }
    }
    let Some(rows) = rows else { return };
    let columns = expect
        .columns
        .as_ref()
        .map(|columns| (columns.value.len(), columns.span));
    let first = rows.rows.first().map(|row| (row.value.len(), row.span));
    let Some((width, widths_place)) = columns.or(first) else {
        return;
    };
    for row in rows.rows.iter().filter(|row| row.value.len() != width) {
        mistakes.report(
            Mistake::new(
                row.span,
                "rows of one result have the same number of columns",
            )
            .label(counted(row.value.len() as u64, "column"))
            .related(
                values::first_line(mistakes, widths_place),
                counted(width as u64, "column"),
            )
            .help("write `null` for a column that is SQL NULL; quote a value that holds a comma"),
        );
    }
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn waits(
    mistakes: &mut Mistakes,
    node: &Node,
    sessions: &Sessions,
    actor: Option<SessionIndex>,
) -> Option<Spanned<Waits>> {
    let help = "write `true`, `false`, or for whom: `waits: [A]`";
    let spanned = |value| {
        Some(Spanned {
            value,
            span: node.span,
        })
    };
    match (&node.kind, node.as_plain()) {
        (_, Some("true")) => return spanned(Waits::Yes),
        (_, Some("false")) => return spanned(Waits::No),
        (Kind::Scalar(scalar), _) if sessions.position(&scalar.text).is_some() => {
            mistakes.report(
                Mistake::new(
                    node.span,
                    "expected true, false or a list of sessions, found text",
                )
                .label("not in brackets")
                .help(format!("write `[{}]`", scalar.text)),
            );
            return None;
        }
        _ => {}
    }
    let items = values::list(mistakes, node, "true, false or a list of sessions", help)?;
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a wait for nobody")
                .label("no session here")
                .help("write `false` if the step must not wait"),
        );
        return None;
    }
    let mut blockers: Vec<SessionIndex> = Vec::new();
    let mut all_read = true;
    for item in items {
        let found = values::text(mistakes, item, "the name of a session", help)
            .and_then(|name| sessions.find(mistakes, &name, item.span));
        let Some(index) = found else {
            all_read = false;
            continue;
        };
        if Some(index) == actor {
            mistakes.report(
                Mistake::new(item.span, "a session cannot wait for itself")
                    .label("the step is its own")
                    .help("name the session that holds the lock"),
            );
        } else if blockers.contains(&index) {
            mistakes.report(
                Mistake::new(item.span, "a session is named twice")
                    .label("again here")
                    .help("name each session once"),
            );
        }
        blockers.push(index);
    }
    all_read.then_some(())?;
    let blockers = blockers.into_iter().map(Blocker::Session).collect();
    spanned(Waits::For(blockers))
}
