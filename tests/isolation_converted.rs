//! Specs that were converted to scenarios: every step gives what it gives in the spec, waits where it
//! waits there, and is reported in the same order.

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockstep::isolation::{self, Expected, Spec, beside};
use lockstep::runner::{self, CaseId, Outcome, RunOptions, Verdict};
use lockstep::scenario::{self, RenderStyle, Scenario, Sending, SourceFile};
use lockstep::transcript::{Answer, EventKind, PlayedSchedule, PlayedSchedules};

/// Specs that are no part of the project.
const CONFORMANCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/isolation/specs");

/// How the report of a step begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// It has ended.
    Ends,
    /// It waits, or its end is reported later.
    Waits,
    /// It has ended after it was reported to wait.
    Continues,
}

/// The report of a step: its name, how it stands, and what it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Report {
    step: String,
    how: How,
    lines: Vec<String>,
}

/// The cells of a line, whatever surrounds them; nothing for a line that is only form.
fn line(text: &str) -> Option<String> {
    const FORM: [&str; 3] = [
        "server closed the connection unexpectedly",
        "This probably means the server terminated abnormally",
        "before or while processing the request.",
    ];
    let text = text.trim();
    let is_rule = text.chars().all(|c| c == '-' || c == '+');
    let is_count = text.starts_with('(') && (text.ends_with(" rows)") || text == "(1 row)");
    if text.is_empty() || is_rule || is_count || FORM.contains(&text) {
        return None;
    }
    let cells: Vec<&str> = text.split('|').map(str::trim).collect();
    Some(cells.join("|"))
}

/// The permutations of what isolationtester prints, with the reports of their steps.
fn told_by_tester(spec: &Spec, output: &str) -> Vec<(Vec<String>, Vec<Report>)> {
    let sql: HashMap<&str, &str> = spec
        .sessions
        .iter()
        .flat_map(|session| &session.steps)
        .map(|step| (step.name.value.as_str(), step.sql.value.as_str()))
        .collect();
    let mut told: Vec<(Vec<String>, Vec<Report>)> = Vec::new();
    let mut rest = output;
    while let Some((first, behind)) = rest.split_once('\n') {
        if let Some(order) = first.strip_prefix("starting permutation: ") {
            told.push((names_in(order, &sql), Vec::new()));
            rest = behind;
            continue;
        }
        let Some((_, reports)) = told.last_mut() else {
            rest = behind;
            continue;
        };
        let named = first
            .strip_prefix("step ")
            .and_then(|named| named.split_once(": "))
            .filter(|(name, _)| sql.contains_key(name));
        if let Some((name, said)) = named {
            let mut report = |how| {
                reports.push(Report {
                    step: name.to_owned(),
                    how,
                    lines: Vec::new(),
                });
            };
            if said == "<... completed>" {
                report(How::Continues);
                rest = behind;
                continue;
            }
            let shown = format!("step {name}: {}", sql[name]);
            let after = rest.strip_prefix(&shown).expect("the SQL is printed");
            let waits = after.strip_prefix(" <waiting ...>");
            report(if waits.is_some() {
                How::Waits
            } else {
                How::Ends
            });
            rest = waits.unwrap_or(after).trim_start_matches('\n');
            continue;
        }
        let is_aside = |kind: &str| first.contains(&format!(": {kind}"));
        if let Some(report) = reports.last_mut()
            && !["NOTICE: ", "WARNING: ", "INFO: ", "NOTIFY "]
                .into_iter()
                .any(is_aside)
        {
            report.lines.extend(line(first));
        }
        rest = behind;
    }
    told
}

/// The names in a line, which may have blanks in them.
fn names_in(order: &str, sql: &HashMap<&str, &str>) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = order;
    while !rest.is_empty() {
        let begins = |name: &&&str| {
            let behind = rest.strip_prefix(**name);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
        };
        let name = sql.keys().filter(begins).max_by_key(|name| name.len());
        let name = name.expect("it is the name of a step");
        names.push((*name).to_owned());
        rest = rest[name.len()..].trim_start();
    }
    names
}

/// The reports of the steps of a schedule.
fn told_by(played: &PlayedSchedule) -> Vec<Report> {
    let mut told: Vec<(usize, Report)> = Vec::new();
    for event in &played.transcript.events {
        let Some(name) = played.steps.get(event.step) else {
            continue;
        };
        let report = |how| {
            let report = Report {
                step: name.clone(),
                how,
                lines: Vec::new(),
            };
            (event.step, report)
        };
        match &event.kind {
            EventKind::Sent {
                sending: Sending::Message(sql),
                ..
            } if sql.text.is_empty() => told.push(report(How::Ends)),
            EventKind::Waits { .. } | EventKind::HeldBack { .. } => {
                let is_empty_message = |(step, report): &(usize, Report)| {
                    *step == event.step && report.how == How::Ends && report.lines.is_empty()
                };
                told.retain(|report| !is_empty_message(report));
                told.push(report(How::Waits));
            }
            EventKind::Continues { .. } => told.push(report(How::Continues)),
            EventKind::Answered { answers, .. } => {
                let has_begun = told
                    .iter()
                    .any(|(step, report)| *step == event.step && report.how != How::Waits);
                if !has_begun {
                    told.push(report(How::Ends));
                }
                let lines = answers.iter().flat_map(lines);
                let of_step = told.iter_mut().rev().find(|(step, _)| *step == event.step);
                if let Some((_, report)) = of_step {
                    report.lines.extend(lines);
                }
            }
            _ => {}
        }
    }
    told.into_iter().map(|(_, report)| report).collect()
}

/// What isolationtester prints of an answer.
fn lines(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Rows(result) => {
            let names = result.columns.iter().map(|column| column.name.clone());
            let header = names.collect::<Vec<_>>().join("|");
            let rows = result.rows.iter().map(|row| {
                let cells = row.iter().map(|cell| cell.clone().unwrap_or_default());
                cells.collect::<Vec<_>>().join("|")
            });
            let text = [header].into_iter().chain(rows).collect::<Vec<_>>();
            text.iter()
                .flat_map(|row| row.split('\n'))
                .filter_map(line)
                .collect()
        }
        Answer::CopyOut(data) => {
            let text = String::from_utf8_lossy(data);
            text.split('\n').filter_map(line).collect()
        }
        Answer::Error(error) => {
            let text = format!("{}:  {}", error.severity.as_str(), error.message);
            text.split('\n').filter_map(line).collect()
        }
        _ => Vec::new(),
    }
}

/// Where a scenario differs from what is expected of its spec, if it does.
fn difference(told: &[(Vec<String>, Vec<Report>)], played: &PlayedSchedules) -> Option<String> {
    if told.len() != played.count() {
        let (theirs, ours) = (told.len(), played.count());
        return Some(format!("{theirs} permutations, {ours} schedules"));
    }
    let mut seen: HashMap<&[String], usize> = HashMap::new();
    for schedule in &played.kept {
        let number = seen.entry(&schedule.steps).or_default();
        let mut alike = told.iter().filter(|(order, _)| *order == schedule.steps);
        let Some((_, theirs)) = alike.nth(*number) else {
            return Some(format!("no permutation {}", schedule.steps.join(" ")));
        };
        *number += 1;
        let mut theirs = theirs.clone();
        let ours = told_by(schedule);
        // What tear-downs return is printed behind the last step, and not shown in a transcript.
        if let (Some(theirs), Some(ours)) = (theirs.last_mut(), ours.last()) {
            theirs.lines.truncate(ours.lines.len());
        }
        if theirs != ours {
            let order = schedule.steps.join(" ");
            return Some(format!("{order}\nspec: {theirs:#?}\nscenario: {ours:#?}"));
        }
    }
    None
}

/// The same, with the names that the spec has for the steps.
fn named_as_in_spec(scenario: &Scenario, played: &PlayedSchedules) -> PlayedSchedules {
    let names: HashMap<&str, &str> = scenario
        .steps
        .iter()
        .filter_map(|step| {
            let id = step.id.as_ref()?.value.as_str();
            Some((id, step.label.as_deref().unwrap_or(id)))
        })
        .collect();
    let mut played = played.clone();
    for schedule in &mut played.kept {
        for name in &mut schedule.steps {
            *name = names[name.as_str()].to_owned();
        }
    }
    played
}

fn converted(spec: &Spec) -> Scenario {
    let source = SourceFile {
        path: spec.source.path.with_extension("yaml"),
        text: isolation::convert(spec).into(),
    };
    match scenario::parse(&source) {
        Ok(mut scenarios) => scenarios.remove(0),
        Err(mistakes) => panic!("{}", scenario::render(&mistakes, RenderStyle::plain())),
    }
}

/// Plays the specs of a folder as scenarios, and holds each against its expected output.
fn hold_against_expected(folder: &Path) {
    let paths = isolation::discover(&[folder]).expect("the folder is there");
    let specs: Vec<Spec> = paths
        .iter()
        .map(|path| {
            let source = scenario::read(path).expect("it can be read");
            isolation::parse(&source).expect("it holds no mistake")
        })
        .collect();
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let outcomes = runtime.block_on(async {
        let (fleet, release) = support::fleet();
        let cases = specs.iter().map(|spec| CaseId {
            scenario: Arc::new(converted(spec)),
            case: "default".to_owned(),
            release,
        });
        let all: Arc<Mutex<HashMap<_, Outcome>>> = Arc::default();
        let kept = Arc::clone(&all);
        let judge = move |case: &CaseId, outcome: &Outcome| {
            let path = case.scenario.source.path.with_extension("spec");
            let mut kept = kept.lock().expect("nobody panics");
            kept.insert(path, outcome.clone());
            Verdict::Pass
        };
        let options = RunOptions {
            jobs: 4,
            limit: Duration::from_secs(60),
            fail_fast: false,
        };
        let (events, _nobody_listens) = tokio::sync::mpsc::unbounded_channel();
        runner::run(cases.collect(), &fleet, options, Arc::new(judge), events)
            .await
            .expect("nothing is left");
        assert_eq!(fleet.stop().await, Vec::<String>::new());
        Arc::into_inner(all).expect("all have ended")
    });
    let outcomes = outcomes.into_inner().expect("nobody panics");
    let mut different = Vec::new();
    for spec in &specs {
        let outcome = &outcomes[&spec.source.path];
        let name = spec.name();
        let Some(played) = &outcome.transcript.schedules else {
            different.push(format!("{name}: {:?}", outcome.trouble));
            continue;
        };
        let played = &named_as_in_spec(&converted(spec), played);
        let expected = Expected::read(&beside(&spec.source.path), &name).expect("it can be read");
        let mut found = expected
            .outputs()
            .map(|output| difference(&told_by_tester(spec, output), played));
        let first = found.next().expect("something is expected");
        if first.is_some() && !found.any(|other| other.is_none()) {
            different.push(format!("{name}: {}", first.unwrap_or_default()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

#[test]
fn a_converted_spec_gives_the_same_results() {
    hold_against_expected("tests/data/isolation/ok".as_ref());
}

#[test]
fn the_conformance_specs_give_the_same_results_as_scenarios() {
    let folder = Path::new(CONFORMANCE);
    if !folder.is_dir() {
        eprintln!("skipped: {CONFORMANCE} is not there");
        return;
    }
    hold_against_expected(folder);
}
