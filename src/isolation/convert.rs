//! A spec → a scenario file.

use std::fmt::Write;

use super::names::Names;
use super::needs::superuser_needs;
use super::spec::Spec;
use super::surroundings::{Setting, hoisted, mentions, server, settings};
use super::yaml::{key, scalar};
use crate::scenario::split;
use crate::schedule::{Marker, Schedule, ScheduledStep, Schedules, StepPlace};

/// Writes a spec as a scenario: the same sessions, steps, set-ups, tear-downs, schedules and
/// markers.
///
/// # Examples
///
/// ```
/// use lockstep::isolation;
/// use lockstep::scenario::SourceFile;
///
/// let source = SourceFile {
///     path: "race.spec".into(),
///     text: "# Two look.\nsession a step one { SELECT 1; } session b step two { SELECT 2; }".into(),
/// };
/// let spec = isolation::parse(&source).expect("there is no mistake in it");
/// assert_eq!(
///     isolation::convert(&spec),
///     "title: Two look
///
/// sessions:
///   a:
///     steps:
///       one: SELECT 1;
///   b:
///     steps:
///       two: SELECT 2;
///
/// schedules: all
/// "
/// );
/// ```
#[must_use]
pub fn convert(spec: &Spec) -> String {
    let mut yaml = String::new();
    let (title, summary) = words(spec);
    let _ = writeln!(yaml, "title: {}", scalar(&title, 0));
    if !summary.is_empty() {
        let _ = writeln!(yaml, "summary: {}", scalar(&summary, 0));
    }
    if !superuser_needs(spec).is_empty() {
        yaml.push_str("superuser: true\n");
    }
    if let Some(server) = server(spec) {
        yaml.push_str(server);
    }
    // Sessions count what they have done, and tell the server in their own time.
    if mentions(spec, "pg_stat_") {
        yaml.push_str("carry_over: true\n");
    }
    let settings = settings(spec);
    push_setups(&mut yaml, spec, &settings);
    if let Some(teardown) = &spec.teardown {
        let _ = writeln!(yaml, "\nteardown: {}", scalar(&teardown.value, 0));
    }
    yaml.push_str("\nsessions:\n");
    let names = Names::of(spec);
    for session in 0..spec.sessions.len() {
        push_session(&mut yaml, spec, session, &names, &settings);
    }
    match &spec.schedules {
        Schedules::All(_) => yaml.push_str("\nschedules: all\n"),
        Schedules::Listed(schedules) => {
            yaml.push_str("\nschedules:\n");
            for schedule in schedules {
                let _ = writeln!(yaml, "  - {}", flow(&names, schedule));
            }
        }
    }
    yaml
}

/// A title and the rest, out of the comment that a spec begins with.
fn words(spec: &Spec) -> (String, String) {
    let comment: Vec<&str> = spec
        .source
        .text
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .map_while(|line| line.trim().strip_prefix('#'))
        .map(str::trim)
        .collect();
    let first: Vec<&str> = comment
        .iter()
        .copied()
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let first = first.join(" ");
    // A long paragraph is no title.
    let mut ends = first.match_indices(". ").map(|(at, _)| at);
    let end = ends.find(|at| first[..*at].ends_with(char::is_alphanumeric));
    let sentence = &first[..end.unwrap_or(first.len())];
    let sentence = sentence.trim_end_matches('.');
    if sentence.is_empty() || sentence.chars().count() > 100 {
        return (spec.name().replace(['-', '_'], " "), comment.join("\n"));
    }
    let is_all = comment.iter().filter(|line| !line.is_empty()).count() == 1
        && first.trim_end_matches('.') == sentence;
    let summary = if is_all {
        String::new()
    } else {
        comment.join("\n")
    };
    (sentence.to_owned(), summary)
}

/// The global set-ups, in a connection that has the settings of the sessions.
fn push_setups(yaml: &mut String, spec: &Spec, settings: &[Setting]) {
    let set: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("SET {name} = '{value}';"))
        .collect();
    let mut setups: Vec<&str> = spec.setups.iter().map(|sql| sql.value.as_str()).collect();
    let set = set.join("\n");
    if !set.is_empty() && !setups.is_empty() {
        setups.insert(0, &set);
    }
    match setups.as_slice() {
        [] => {}
        [setup] => {
            let _ = writeln!(yaml, "\nsetup: {}", scalar(setup, 0));
        }
        setups => {
            yaml.push_str("\nsetup:\n");
            for setup in setups {
                let _ = writeln!(yaml, "  - {}", scalar(setup, 2));
            }
        }
    }
}

fn push_session(yaml: &mut String, spec: &Spec, at: usize, names: &Names, common: &[Setting]) {
    let session = &spec.sessions[at];
    let name = &session.name.value;
    let _ = writeln!(yaml, "  {}:", key(names.session(at)));
    if names.session(at) != name {
        let _ = writeln!(yaml, "    title: {}", scalar(name, 4));
    }
    let setup = session.setup.as_ref().map(|setup| setup.value.as_str());
    let (setup, mut settings) = setup.map_or_else(Default::default, hoisted);
    settings.extend(common.iter().cloned());
    if mentions(spec, "application_name") {
        let value = format!("isolation/{}/{name}", spec.name());
        settings.push(("application_name".to_owned(), value));
    }
    if !settings.is_empty() {
        yaml.push_str("    settings:\n");
        for (name, value) in settings {
            let _ = writeln!(yaml, "      {name}: {}", scalar(&value, 6));
        }
    }
    if !setup.is_empty() {
        let _ = writeln!(yaml, "    setup: {}", scalar(&setup, 4));
    }
    yaml.push_str("    steps:\n");
    for (number, step) in session.steps.iter().enumerate() {
        let place = StepPlace {
            session: at,
            step: number,
        };
        let name = names.step(place);
        let statements = split(&step.sql.value).map_or(2, |statements| statements.len());
        let sql = if statements == 0 { "" } else { &step.sql.value };
        // isolationtester sends a block as one message; for one statement that is no difference.
        let is_message = statements > 1;
        let is_renamed = name != step.name.value;
        let name = key(name);
        if !is_message && !is_renamed {
            let _ = writeln!(yaml, "      {name}: {}", scalar(sql, 6));
            continue;
        }
        let _ = writeln!(yaml, "      {name}:\n        sql: {}", scalar(sql, 8));
        if is_message {
            yaml.push_str("        message: true\n");
        }
        if is_renamed {
            let _ = writeln!(yaml, "        label: {}", scalar(&step.name.value, 8));
        }
    }
    if let Some(teardown) = &session.teardown {
        let _ = writeln!(yaml, "    teardown: {}", scalar(&teardown.value, 4));
    }
}

/// `[a, { step: b, report_after: [c] }]`
fn flow(names: &Names, schedule: &Schedule) -> String {
    let steps: Vec<String> = schedule
        .steps
        .iter()
        .map(|scheduled| flow_step(names, scheduled))
        .collect();
    format!("[{}]", steps.join(", "))
}

fn flow_step(names: &Names, scheduled: &ScheduledStep) -> String {
    let name = |step| key(names.step(step));
    let step = name(scheduled.step);
    if scheduled.markers.is_empty() {
        return step;
    }
    let waits_first = if scheduled.markers.contains(&Marker::WaitsFirst) {
        ", waits_first: true"
    } else {
        ""
    };
    let after: Vec<String> = scheduled
        .markers
        .iter()
        .filter_map(|marker| match marker {
            Marker::WaitsFirst => None,
            Marker::After(other) => Some(name(*other)),
            Marker::AfterNotices { step, notices } => {
                Some(format!("{{ step: {}, notices: {notices} }}", name(*step)))
            }
        })
        .collect();
    let after = if after.is_empty() {
        String::new()
    } else {
        format!(", report_after: [{}]", after.join(", "))
    };
    format!("{{ step: {step}{waits_first}{after} }}")
}
