//! A table of what one step printed, scenario by value of a matrix.

use indexmap::{IndexMap, IndexSet};

use super::context::Context;
use super::library::{Case, Entry};
use super::markdown;
use crate::scenario::{Expect, Scenario, Spanned, Step, Waits};
use crate::server::Release;
use crate::transcript;

/// The cell beside which it is said what was expected to prevent it.
const PREVENTED: &str = "prevented";

/// The cells of one row, by the value of the key.
type Row = IndexMap<String, String>;

/// The table.
pub(super) fn render(
    context: &mut Context<'_>,
    path: &Spanned<String>,
    key: &Spanned<String>,
    step: &Spanned<String>,
) -> Option<String> {
    let entries = context.entries(path)?;
    let mut rows: IndexMap<String, Row> = IndexMap::new();
    let mut is_whole = true;
    for entry in entries {
        for case in &entry.cases {
            let Some(value) = value(&case.scenario, &key.value) else {
                continue;
            };
            let Some(cell) = cell(context, entry, case, step) else {
                is_whole = false;
                break;
            };
            let row = rows.entry(heading(context, case, &key.value)).or_default();
            row.insert(value.to_owned(), cell);
        }
    }
    if rows.is_empty() && is_whole {
        let message = format!("no scenario here has `{}` in its matrix", key.value);
        let help = "name a key of `matrix:` in one of the scenarios";
        context.refuse(key.span, &message, "unknown name", help);
        return None;
    }
    is_whole.then(|| table(&key.value, &rows))
}

fn value<'a>(scenario: &'a Scenario, key: &str) -> Option<&'a str> {
    let mut pairs = scenario.matrix.iter();
    pairs
        .find(|(name, _)| name == key)
        .map(|(_, value)| value.as_str())
}

/// The link to a scenario, and the other values of the case.
fn heading(context: &Context<'_>, case: &Case, key: &str) -> String {
    let link = markdown::link(&case.scenario, &context.library.directory, context.folder);
    let others = case.scenario.matrix.iter().filter(|(name, _)| name != key);
    let others: Vec<String> = others
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    match others.as_slice() {
        [] => link,
        _ => format!("{link}, {}", markdown::text(&others.join(", "))),
    }
}

fn table(key: &str, rows: &IndexMap<String, Row>) -> String {
    let values: IndexSet<&String> = rows.values().flat_map(IndexMap::keys).collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let names = values.iter().map(|value| markdown::text(value));
    let mut table = line(
        &[markdown::text(key)]
            .into_iter()
            .chain(names)
            .collect::<Vec<_>>(),
    );
    table.push_str(&line(&vec!["---".to_owned(); values.len() + 1]));
    for (heading, row) in rows {
        let cells = values
            .iter()
            .map(|value| row.get(*value).cloned().unwrap_or_default());
        table.push_str(&line(
            &[heading.clone()]
                .into_iter()
                .chain(cells)
                .collect::<Vec<_>>(),
        ));
    }
    format!("\n{table}\n")
}

/// What the step printed in a case, and what was to prevent it.
fn cell(
    context: &mut Context<'_>,
    entry: &Entry,
    case: &Case,
    step: &Spanned<String>,
) -> Option<String> {
    let scenario = &case.scenario;
    let is_meant = |one: &Step| one.id.as_ref().is_some_and(|id| id.value == step.value);
    let Some(position) = scenario.steps.iter().position(is_meant) else {
        let message = format!("{} has no step `{}`", entry.path.display(), step.value);
        let help = "give the step that decides this id, in each scenario with such a matrix";
        context.refuse(step.span, &message, "unknown step", help);
        return None;
    };
    let Some((release, text)) = case.newest() else {
        context.refuse_unaccepted(step.span, &entry.path, &scenario.case);
        return None;
    };
    let Some(printed) = printed(scenario, position, text) else {
        let file = entry.path.display();
        let message = format!(
            "the step prints no single cell in {file}, case `{}`",
            scenario.case
        );
        let help = "let it be a query of one column and one row that does not wait";
        context.refuse(step.span, &message, "cannot be put in a table", help);
        return None;
    };
    let prevention = prevention(scenario, release).filter(|_| printed == PREVENTED);
    let cell = markdown::text(printed);
    Some(match prevention {
        Some(by) => format!("{cell} ({})", markdown::text(&by)),
        None => cell,
    })
}

/// The one cell that a step printed, as it stands in the text of a transcript.
fn printed<'a>(scenario: &Scenario, step: usize, text: &'a str) -> Option<&'a str> {
    let opening = |at: usize| {
        let names = scenario
            .sessions
            .iter()
            .map(|session| session.name.value.as_str());
        transcript::opening(&scenario.steps[at].action, &names.collect::<Vec<_>>())
    };
    let wanted = opening(step)?;
    let earlier = (0..step).filter_map(opening);
    let earlier = earlier.filter(|other| other.starts_with(&wanted)).count();
    let places = text.match_indices(&wanted).map(|(at, _)| at);
    let mut places = places.filter(|at| *at == 0 || text[..*at].ends_with("\n\n"));
    let mut lines = text[places.nth(earlier)? + wanted.len()..].lines();
    let (_header, rule, cell, end) = (lines.next()?, lines.next()?, lines.next()?, lines.next()?);
    let is_table = !rule.is_empty() && rule.bytes().all(|sign| sign == b'-');
    (is_table && end == "(1 row)").then(|| cell.trim())
}

/// What a case expects to be in the way: the first error, or else a wait.
fn prevention(scenario: &Scenario, release: Release) -> Option<String> {
    let release = [release.major, release.minor];
    let expected: Vec<&Expect> = scenario
        .steps
        .iter()
        .filter_map(|step| {
            step.expect
                .iter()
                .find(|one| one.releases.contains(&release))
        })
        .filter_map(|expectation| expectation.outcomes.first())
        .collect();
    let error = expected.iter().find_map(|expect| expect.error.as_ref());
    if let Some(error) = error {
        return error.code.clone().or_else(|| error.message.clone());
    }
    let waits = |expect: &&Expect| {
        let waits = expect.waits.as_ref();
        waits.is_some_and(|waits| waits.value != Waits::No)
    };
    expected
        .iter()
        .copied()
        .any(|expect| waits(&expect))
        .then(|| "a wait".to_owned())
}
