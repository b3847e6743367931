//! What must come out of a step.

use super::super::model::{Expect, Expectation, ExpectedRows, ReleaseRange, SessionIndex};
use super::super::source::{Span, Spanned};
use super::expected_error;
use super::expected_rows;
use super::matrix::Combination;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Entry, Kind, Node};
use super::sessions::Sessions;
use super::values::{self, Fields, Keys};
use super::waits;
use super::when::{self, When};

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
    later: &[],
};

/// The keys of an entry that also says when it holds.
const ENTRY_KEYS: Keys = Keys {
    of: "an expectation",
    known: &[
        "when",
        "one_of",
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
    later: &[],
};

const HELP: &str = "write what must come out: `expect: { rows: [[1, done]] }`";

/// The keys that say when, and in which alternatives, the others hold.
const OF_ENTRIES: [&str; 2] = ["when", "one_of"];

/// What an expectation may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expecting<'a> {
    /// The sessions.
    pub(super) sessions: &'a Sessions,
    /// The session whose step it is.
    pub(super) actor: Option<SessionIndex>,
    /// The values of the matrix in this case.
    pub(super) combination: Combination<'a>,
}

/// Reads what is expected of a step: a mapping, or a list of them, of which the first counts whose
/// `when:` holds.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    expecting: &Expecting<'_>,
) -> Vec<Expectation> {
    let Kind::List(items) = &node.kind else {
        return entry(mistakes, node, expecting).into_iter().collect();
    };
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "nothing is expected")
                .label("an empty list")
                .help(HELP),
        );
    }
    let mut always: Option<Span> = None;
    for item in items {
        if let Some(always) = always {
            mistakes.report(
                Mistake::new(
                    values::first_line(mistakes, item.span),
                    "an expectation that never counts",
                )
                .label("the one above holds always")
                .related(values::first_line(mistakes, always), "it has no `when`")
                .help("put the one without `when` last"),
            );
            break;
        }
        let is_bound = matches!(&item.kind, Kind::Mapping(entries)
            if entries.iter().any(|entry| entry.key == "when"));
        always = (!is_bound).then_some(item.span);
    }
    items
        .iter()
        .filter_map(|item| entry(mistakes, item, expecting))
        .collect()
}

/// One expectation; `None` where it has a mistake or is not for this case.
fn entry(mistakes: &mut Mistakes, node: &Node, expecting: &Expecting<'_>) -> Option<Expectation> {
    let Kind::Mapping(entries) = &node.kind else {
        values::expected(mistakes, node, "a mapping of expectations", HELP);
        return None;
    };
    let fields = Fields::of_entries(entries, node.span);
    let when = match fields.get("when") {
        Some(node) => when::read(mistakes, node, expecting.combination),
        None => Some(When::On(ReleaseRange::default())),
    };
    let shared: Vec<Entry> = entries
        .iter()
        .filter(|entry| !OF_ENTRIES.contains(&entry.key.as_str()))
        .cloned()
        .collect();
    fields.refuse_others(mistakes, &ENTRY_KEYS);
    let outcomes = match fields.get("one_of") {
        Some(list) => one_of(mistakes, list, &shared, expecting),
        None => outcome(mistakes, node.span, &shared, expecting)
            .into_iter()
            .collect(),
    };
    match when? {
        When::On(releases) if !outcomes.is_empty() => Some(Expectation { releases, outcomes }),
        _ => None,
    }
}

/// The outcomes of which a step may have any; what stands beside them holds in each.
fn one_of(
    mistakes: &mut Mistakes,
    node: &Node,
    shared: &[Entry],
    expecting: &Expecting<'_>,
) -> Vec<Expect> {
    let help =
        "write the outcomes that are allowed: `one_of: [ { rows: [[1]] }, { error: 40001 } ]`";
    let Some(items) = values::list(mistakes, node, "a list of expectations", help) else {
        return Vec::new();
    };
    if let [] | [_] = items {
        mistakes.report(
            Mistake::new(
                values::first_line(mistakes, node.span),
                "a choice needs at least two outcomes",
            )
            .label(if items.is_empty() {
                "nothing to choose from"
            } else {
                "there is one"
            })
            .help(help),
        );
    }
    let mut outcomes = Vec::new();
    for item in items {
        let Kind::Mapping(entries) = &item.kind else {
            values::expected(mistakes, item, "a mapping of expectations", help);
            continue;
        };
        let mut all = shared.to_vec();
        for entry in entries {
            match shared.iter().find(|other| other.key == entry.key) {
                Some(other) => mistakes.report(
                    Mistake::new(
                        entry.key_span,
                        format!("`{}` is written twice for this outcome", entry.key),
                    )
                    .label("again here")
                    .related(other.key_span, "this holds in each of them")
                    .help("keep one of them"),
                ),
                None => all.push(entry.clone()),
            }
        }
        outcomes.extend(outcome(mistakes, item.span, &all, expecting));
    }
    outcomes
}

/// One outcome.
fn outcome(
    mistakes: &mut Mistakes,
    span: Span,
    entries: &[Entry],
    expecting: &Expecting<'_>,
) -> Option<Expect> {
    let fields = Fields::of_entries(entries, span);
    fields.refuse_others(mistakes, &KEYS);
    if fields.is_empty() {
        mistakes.report(
            Mistake::new(values::first_line(mistakes, span), "nothing is expected")
                .label("no expectation here")
                .help(HELP),
        );
        return None;
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
        .and_then(|node| waits::read(mistakes, node, expecting));
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
        span,
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
