//! Names → what they stand for.

use std::collections::{BTreeMap, BTreeSet};

use super::super::spec::Spec;
use super::grammar::{NamedMarker, NamedStep, Parsed};
use crate::scenario::{Mistake, Mistakes, SourceFile, Span, Spanned, suggestion};
use crate::schedule::{Marker, Schedule, ScheduledStep, Schedules, StepPlace};

/// The steps there are, by name.
type Steps<'a> = BTreeMap<&'a str, (StepPlace, Span)>;

/// Looks up the names of a spec.
pub(super) fn link(source: &SourceFile, parsed: Parsed, mistakes: &mut Mistakes) -> Spec {
    let steps = steps(&parsed, mistakes);
    let schedules = if parsed.permutations.is_empty() {
        Schedules::All(parsed.sessions.iter().map(|s| s.steps.len()).collect())
    } else {
        let listed = parsed.permutations.iter();
        Schedules::Listed(
            listed
                .map(|named| schedule(named, &steps, mistakes))
                .collect(),
        )
    };
    let unused = unused(&parsed, &steps);
    let Parsed {
        setups,
        teardown,
        sessions,
        ..
    } = parsed;
    Spec {
        source: source.clone(),
        setups,
        teardown,
        sessions,
        schedules,
        unused,
    }
}

fn steps<'a>(parsed: &'a Parsed, mistakes: &mut Mistakes) -> Steps<'a> {
    if parsed.sessions.is_empty() {
        let start = Span { start: 0, end: 0 };
        mistakes.report(
            Mistake::new(start, "there is no session in this spec")
                .help("write `session` and a name, and its steps behind it"),
        );
    }
    let mut steps = Steps::new();
    for (session_at, session) in parsed.sessions.iter().enumerate() {
        // One without a name has been told already.
        if session.steps.is_empty() && !session.name.value.is_empty() {
            let message = format!("session `{}` has no step", session.name.value);
            mistakes.report(Mistake::new(session.name.span, message).label("does nothing"));
        }
        for (step_at, step) in session.steps.iter().enumerate() {
            let place = StepPlace {
                session: session_at,
                step: step_at,
            };
            let name = &step.name;
            if let Some((_, first)) = steps.get(name.value.as_str()) {
                let message = format!("two steps are named `{}`", name.value);
                mistakes.report(
                    Mistake::new(name.span, message)
                        .label("the second")
                        .related(*first, "the first")
                        .help("a permutation may name one step more than once"),
                );
            } else {
                steps.insert(&name.value, (place, name.span));
            }
        }
    }
    steps
}

fn schedule(named: &[NamedStep], steps: &Steps<'_>, mistakes: &mut Mistakes) -> Schedule {
    let in_schedule: BTreeSet<&str> = named.iter().map(|s| s.name.value.as_str()).collect();
    let steps = named
        .iter()
        .filter_map(|step| {
            let place = find(&step.name, steps, mistakes);
            let mut markers = Vec::with_capacity(step.markers.len());
            for named in &step.markers {
                let Some(marker) = marker(named, place, &in_schedule, steps, mistakes) else {
                    continue;
                };
                if markers.contains(&marker) {
                    mistakes.report(
                        Mistake::new(span(named), "a marker stands here twice")
                            .label("says nothing more"),
                    );
                } else {
                    markers.push(marker);
                }
            }
            place.map(|step| ScheduledStep { step, markers })
        })
        .collect();
    Schedule { steps }
}

fn find(name: &Spanned<String>, steps: &Steps<'_>, mistakes: &mut Mistakes) -> Option<StepPlace> {
    let found = steps.get(name.value.as_str()).map(|(place, _)| *place);
    if found.is_none() {
        let help = suggestion(
            mistakes,
            &name.value,
            steps.keys().copied(),
            "the steps are",
        );
        mistakes.report(
            Mistake::new(name.span, format!("there is no step `{}`", name.value))
                .label("unknown step")
                .maybe_help(help),
        );
    }
    found
}

fn marker(
    named: &NamedMarker,
    marked: Option<StepPlace>,
    in_schedule: &BTreeSet<&str>,
    steps: &Steps<'_>,
    mistakes: &mut Mistakes,
) -> Option<Marker> {
    let name = match named {
        NamedMarker::WaitsFirst(_) => return Some(Marker::WaitsFirst),
        NamedMarker::After(name) | NamedMarker::AfterNotices(name, _) => name,
    };
    let step = find(name, steps, mistakes)?;
    if !in_schedule.contains(name.value.as_str()) {
        let message = format!("step `{}` is not in this permutation", name.value);
        mistakes.report(
            Mistake::new(name.span, message)
                .label("never happens here")
                .help("a marker names a step of the same permutation"),
        );
        return None;
    }
    if marked.is_some_and(|marked| marked.session == step.session) {
        let message = format!("step `{}` is one of the same session", name.value);
        mistakes.report(
            Mistake::new(name.span, message)
                .label("cannot be waited for")
                .help("a session has one step at a time: name a step of another session"),
        );
        return None;
    }
    Some(match named {
        NamedMarker::AfterNotices(_, notices) => Marker::AfterNotices {
            step,
            notices: notices.value,
        },
        _ => Marker::After(step),
    })
}

const fn span(marker: &NamedMarker) -> Span {
    match marker {
        NamedMarker::WaitsFirst(span) => *span,
        NamedMarker::After(name) | NamedMarker::AfterNotices(name, _) => name.span,
    }
}

fn unused(parsed: &Parsed, steps: &Steps<'_>) -> Vec<Spanned<String>> {
    if parsed.permutations.is_empty() {
        return Vec::new();
    }
    let used: BTreeSet<&str> = parsed
        .permutations
        .iter()
        .flatten()
        .map(|step| step.name.value.as_str())
        .collect();
    steps
        .iter()
        .filter(|(name, _)| !used.contains(*name))
        .map(|(name, (_, span))| Spanned {
            value: (*name).to_owned(),
            span: *span,
        })
        .collect()
}
