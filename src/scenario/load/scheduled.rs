//! Schedules: in which orders the steps that sessions own are played.

use super::super::source::{Span, Spanned};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Kind, Node};
use super::steps::Reader;
use super::values::{self, Fields, Keys};
use crate::schedule::{Marker, Schedule, ScheduledStep, Schedules, StepPlace};

const HELP: &str = "write `schedules: all`, or one order of steps a line: `- [s1r, s2u, s1c]`";

/// More interleavings than this are not played.
const MOST: u128 = 1_000_000;

const STEP_KEYS: Keys = Keys {
    of: "a step of a schedule",
    known: &["step", "waits_first", "report_after"],
    later: &[],
};

const AFTER_KEYS: Keys = Keys {
    of: "a marker",
    known: &["step", "notices"],
    later: &[],
};

/// The steps there are, by name.
type Names = Vec<(String, StepPlace)>;

/// Reads the steps that sessions own, and `schedules:`. Nothing, where the scenario has one order.
pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Schedules> {
    let owned = reader.sessions.own_steps();
    let Some(entry) = fields.entry("schedules") else {
        if let Some((_, steps)) = owned.first() {
            let mistake = Mistake::new(steps.key_span, "steps of a session need an order")
                .label("in which order are they played?");
            reader.mistakes.report(match fields.entry("steps") {
                Some(ordered) => mistake
                    .related(ordered.key_span, "these have one")
                    .help("write all steps here, `- A: SQL`, or all under their sessions and `schedules:`"),
                None => mistake.help("write `schedules: all` at the top of the file, or list the orders"),
            });
            reader.steps.complete = false;
        }
        return None;
    };
    if let Some(ordered) = fields.entry("steps") {
        reader.mistakes.report(
            Mistake::new(ordered.key_span, "a scenario has either steps or schedules")
                .label("steps in one order")
                .related(entry.key_span, "orders of the sessions' own steps")
                .help("keep one of them"),
        );
    }
    if owned.is_empty() && reader.sessions.are_known() {
        reader.mistakes.report(
            Mistake::new(entry.key_span, "there is nothing to put in an order")
                .label("no session has steps of its own")
                .help("write them under their sessions: `sessions: { s1: { steps: { s1r: \"SELECT …;\" } } }`"),
        );
        reader.steps.complete = false;
    }
    let mut counts = vec![0; reader.sessions.names().count()];
    let mut places = Names::new();
    for (session, steps) in owned {
        let count = reader.own_steps(session, &steps);
        counts[session.0] = count;
        if let Kind::Mapping(entries) = &steps.value.kind {
            let named = entries.iter().enumerate().map(|(step, entry)| {
                let session = session.0;
                (entry.key.clone(), StepPlace { session, step })
            });
            places.extend(named);
        }
    }
    schedules(reader.mistakes, &entry.value, counts, &places)
}

/// Whether a schedule finds what the one before has left (`carry_over: true`).
pub(super) fn carries_over(mistakes: &mut Mistakes, fields: &Fields<'_>) -> bool {
    let Some(entry) = fields.entry("carry_over") else {
        return false;
    };
    if fields.entry("schedules").is_none() {
        mistakes.report(
            Mistake::new(entry.key_span, "there is nothing to carry over")
                .label("a scenario with one order of steps has nothing before it")
                .help("take it out, or write `schedules:`"),
        );
    }
    values::boolean(mistakes, &entry.value).is_some_and(|asked| asked.value)
}

fn schedules(
    mistakes: &mut Mistakes,
    node: &Node,
    counts: Vec<usize>,
    names: &Names,
) -> Option<Schedules> {
    if node.as_plain() == Some("all") {
        let all = Schedules::All(counts);
        if all.count().is_none_or(|count| count > MOST) {
            let label = all.count().map_or_else(
                || "more than can be counted".to_owned(),
                |count| format!("{count} of them"),
            );
            mistakes.report(
                Mistake::new(
                    node.span,
                    "there are too many interleavings to play them all",
                )
                .label(label)
                .help("list the orders that matter: `- [s1r, s2u, s1c]`"),
            );
            return None;
        }
        return Some(all);
    }
    let items = values::list(mistakes, node, "`all` or a list of schedules", HELP)?;
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a scenario without a schedule")
                .label("no order here")
                .help(HELP),
        );
    }
    let listed = items
        .iter()
        .filter_map(|item| schedule(mistakes, item, names))
        .collect();
    Some(Schedules::Listed(listed))
}

/// A step as a schedule names it.
struct Named {
    name: Spanned<String>,
    place: Option<StepPlace>,
    waits_first: bool,
    after: Vec<After>,
}

/// What a report comes after.
struct After {
    name: Spanned<String>,
    notices: Option<u32>,
}

fn schedule(mistakes: &mut Mistakes, node: &Node, names: &Names) -> Option<Schedule> {
    let items = values::list(mistakes, node, "a schedule", HELP)?;
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a schedule without steps")
                .label("no step here")
                .help(HELP),
        );
    }
    let named: Vec<Named> = items
        .iter()
        .filter_map(|item| step(mistakes, item, names))
        .collect();
    let steps = named
        .iter()
        .filter_map(|step| {
            Some(ScheduledStep {
                step: step.place?,
                markers: markers(mistakes, step, &named, names),
            })
        })
        .collect();
    Some(Schedule { steps })
}

fn step(mistakes: &mut Mistakes, node: &Node, names: &Names) -> Option<Named> {
    let help = "name a step, `s1r`, or write `{ step: s1r, report_after: [s2c] }`";
    if !matches!(node.kind, Kind::Mapping(_)) {
        let name = name(mistakes, node, help)?;
        return Some(Named {
            place: find(mistakes, &name, names),
            name,
            waits_first: false,
            after: Vec::new(),
        });
    }
    let fields = Fields::of(mistakes, node, "a step of a schedule", help)?;
    fields.refuse_others(mistakes, &STEP_KEYS);
    let step = fields.require(mistakes, "step", &STEP_KEYS, help)?;
    let name = name(mistakes, step, help)?;
    let waits_first = fields
        .get("waits_first")
        .and_then(|node| values::boolean(mistakes, node))
        .is_some_and(|waits| waits.value);
    let after = fields
        .get("report_after")
        .map_or_else(Vec::new, |node| report_after(mistakes, node));
    Some(Named {
        place: find(mistakes, &name, names),
        name,
        waits_first,
        after,
    })
}

fn report_after(mistakes: &mut Mistakes, node: &Node) -> Vec<After> {
    let help = "name the steps whose end is reported before: `report_after: [s1c]`, or how many notices come before: `report_after: [{ step: s1n, notices: 2 }]`";
    let Some(items) = values::list(mistakes, node, "a list of steps", help) else {
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| {
            if !matches!(item.kind, Kind::Mapping(_)) {
                let name = name(mistakes, item, help)?;
                return Some(After {
                    name,
                    notices: None,
                });
            }
            let fields = Fields::of(mistakes, item, "a marker", help)?;
            fields.refuse_others(mistakes, &AFTER_KEYS);
            let step = fields.require(mistakes, "step", &AFTER_KEYS, help)?;
            let name = name(mistakes, step, help)?;
            let notices = match fields.get("notices") {
                Some(node) => Some(notices(mistakes, node)?),
                None => None,
            };
            Some(After { name, notices })
        })
        .collect()
}

fn notices(mistakes: &mut Mistakes, node: &Node) -> Option<u32> {
    let number = values::number(mistakes, node, "a number of notices")?;
    match u32::try_from(number.value) {
        Ok(notices) if notices > 0 => Some(notices),
        _ => {
            mistakes.report(
                Mistake::new(node.span, "not a number of notices to wait for")
                    .label("at least one, and not billions")
                    .help("write how many come before: `notices: 2`"),
            );
            None
        }
    }
}

fn name(mistakes: &mut Mistakes, node: &Node, help: &str) -> Option<Spanned<String>> {
    let value = values::text(mistakes, node, "the name of a step", help)?;
    Some(Spanned {
        value,
        span: node.span,
    })
}

fn find(mistakes: &mut Mistakes, name: &Spanned<String>, names: &Names) -> Option<StepPlace> {
    let found = names.iter().find(|(known, _)| *known == name.value);
    if found.is_none() {
        let shown = values::shown(&name.value);
        let known = names.iter().map(|(known, _)| known.as_str());
        let help = names::suggestion(mistakes, &name.value, known, "the steps are");
        mistakes.report(
            Mistake::new(name.span, format!("no step is called `{shown}`"))
                .label("unknown step")
                .maybe_help(help),
        );
    }
    found.map(|(_, place)| *place)
}

fn markers(
    mistakes: &mut Mistakes,
    step: &Named,
    schedule: &[Named],
    names: &Names,
) -> Vec<Marker> {
    let mut markers = Vec::new();
    if step.waits_first {
        markers.push(Marker::WaitsFirst);
    }
    for After { name, notices } in &step.after {
        let Some(place) = find(mistakes, name, names) else {
            continue;
        };
        let marker = match notices {
            Some(notices) => Marker::AfterNotices {
                step: place,
                notices: *notices,
            },
            None => Marker::After(place),
        };
        let shown = values::shown(&name.value);
        if step.place.is_some_and(|own| own.session == place.session) {
            mistakes.report(refused(
                name.span,
                format!("`{shown}` is a step of the same session"),
                "its end comes before anyway, or never",
                "a session does one thing at a time: name a step of another session",
            ));
        } else if !schedule.iter().any(|other| other.name.value == name.value) {
            mistakes.report(refused(
                name.span,
                format!("`{shown}` is not in this schedule"),
                "never happens here",
                "name a step of the same schedule",
            ));
        } else if markers.contains(&marker) {
            mistakes.report(refused(
                name.span,
                format!("`{shown}` stands here twice"),
                "again here",
                "name it once",
            ));
        } else {
            markers.push(marker);
        }
    }
    markers
}

fn refused(span: Span, message: String, label: &str, help: &str) -> Mistake {
    Mistake::new(span, message).label(label).help(help)
}
