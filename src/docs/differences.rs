//! Whether a scenario explains where releases differ.

use std::collections::BTreeSet;

use super::library::Entry;
use super::list::{named, verified};
use super::markdown;
use crate::scenario::{Diagnostic, Expectation, Scenario, Span};
use crate::server::Release;

/// What is wrong with the `differences:` of a scenario: releases that behave otherwise without a
/// word, and words about releases that behave alike.
pub(super) fn unexplained(entry: &Entry) -> Vec<Diagnostic> {
    let scenario = entry.scenario();
    let releases = verified(entry);
    let mut found = Vec::new();
    let mut rest = releases.clone();
    for difference in &scenario.differences {
        let named = named(difference, &releases);
        rest.retain(|release| !named.contains(release));
        let is_part = !named.is_empty() && named.len() < releases.len();
        if !releases.is_empty() && (!is_part || are_alike(entry, &releases)) {
            found.push(Diagnostic {
                source: scenario.source.clone(),
                message: "nothing is different on these releases".to_owned(),
                span: difference.span,
                label: match named.as_slice() {
                    [] => "none of them is pinned".to_owned(),
                    _ if !is_part => "all that are pinned are named".to_owned(),
                    _ => "their snapshots and expectations are those of the others".to_owned(),
                },
                related: Vec::new(),
                help: Some("take it out, or mend the releases it names".to_owned()),
            });
        }
    }
    if !are_alike(entry, &rest) {
        found.push(unmentioned(entry, &rest));
    }
    found
}

/// Whether releases behave alike in all cases: what is accepted is the same, and the same is
/// expected.
fn are_alike(entry: &Entry, releases: &[Release]) -> bool {
    entry.cases.iter().all(|case| {
        let are_texts_alike = case.texts.iter().all(|texts| {
            let texts = releases.iter().filter_map(|release| texts.get(release));
            texts.collect::<BTreeSet<_>>().len() <= 1
        });
        are_texts_alike && split(&case.scenario, releases).is_none()
    })
}

/// The first expectation that is for some of the releases only, and for the newest of them not.
fn split<'a>(scenario: &'a Scenario, releases: &[Release]) -> Option<&'a Expectation> {
    let newest = releases.last()?;
    scenario.steps.iter().find_map(|step| {
        let place = |one: &Release| {
            let mut expected = step.expect.iter();
            expected.position(|expect| expect.releases.contains(&[one.major, one.minor]))
        };
        let other = releases.iter().find(|one| place(one) != place(newest))?;
        step.expect.get(place(other).or(place(newest))?)
    })
}

fn unmentioned(entry: &Entry, releases: &[Release]) -> Diagnostic {
    let scenario = entry.scenario();
    let differ: Vec<Release> = match releases.split_last() {
        Some((newest, others)) => others
            .iter()
            .copied()
            .filter(|one| !are_alike(entry, &[*one, *newest]))
            .collect(),
        None => Vec::new(),
    };
    let expectation = entry
        .cases
        .iter()
        .find_map(|case| split(&case.scenario, releases));
    let text = &scenario.source.text;
    let start = expectation
        .and_then(|expectation| expectation.outcomes.first())
        .map_or(0, |outcome| outcome.span.start);
    let line = text[start..].lines().next().unwrap_or_default();
    Diagnostic {
        source: scenario.source.clone(),
        message: format!(
            "`differences:` does not say what {} do otherwise",
            markdown::releases(&differ)
        ),
        span: Span {
            start,
            end: start + line.trim_end().len(),
        },
        label: if expectation.is_some() {
            "something else is expected here".to_owned()
        } else {
            "there are snapshots of their own".to_owned()
        },
        related: Vec::new(),
        help: Some(format!(
            "say in a line what they do: `differences: [ {{ postgres: \"{}\", what: … }} ]`",
            range(&differ, releases)
        )),
    }
}

/// A range that names some releases out of all.
fn range(some: &[Release], all: &[Release]) -> String {
    match (some, all) {
        ([], _) | (_, []) => "<15".to_owned(),
        ([only], _) if Some(only) != all.first() => only.major.to_string(),
        ([first, .., last], _) if Some(first) != all.first() => {
            format!(">={} <={}", first.major, last.major)
        }
        ([.., last], _) => format!("<{}", last.major + 1),
    }
}
