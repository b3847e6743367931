//! A spec → a scenario file.

use std::fmt::Write;

use super::needs::superuser_needs;
use super::spec::{Spec, SpecSession};
use super::yaml::{key, scalar};
use crate::scenario::{cluster_wide, split};
use crate::schedule::{Marker, Schedule, ScheduledStep, Schedules};

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
    if reaches_beyond_its_database(spec) {
        yaml.push_str("server: own\n");
    }
    match &spec.setups[..] {
        [] => {}
        [setup] => {
            let _ = writeln!(yaml, "\nsetup: {}", scalar(&setup.value, 0));
        }
        setups => {
            yaml.push_str("\nsetup:\n");
            for setup in setups {
                let _ = writeln!(yaml, "  - {}", scalar(&setup.value, 2));
            }
        }
    }
    if let Some(teardown) = &spec.teardown {
        let _ = writeln!(yaml, "\nteardown: {}", scalar(&teardown.value, 0));
    }
    yaml.push_str("\nsessions:\n");
    for session in &spec.sessions {
        push_session(&mut yaml, session);
    }
    match &spec.schedules {
        Schedules::All(_) => yaml.push_str("\nschedules: all\n"),
        Schedules::Listed(schedules) => {
            yaml.push_str("\nschedules:\n");
            for schedule in schedules {
                let _ = writeln!(yaml, "  - {}", flow(spec, schedule));
            }
        }
    }
    yaml
}

/// Whether a spec changes what all databases of a server share.
fn reaches_beyond_its_database(spec: &Spec) -> bool {
    spec.all_sql().any(|sql| {
        let statements = split(&sql.value).unwrap_or_default();
        statements
            .iter()
            .any(|statement| cluster_wide(&statement.text).is_some())
    })
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

fn push_session(yaml: &mut String, session: &SpecSession) {
    let _ = writeln!(yaml, "  {}:", key(&session.name.value));
    if let Some(setup) = &session.setup {
        let _ = writeln!(yaml, "    setup: {}", scalar(&setup.value, 4));
    }
    yaml.push_str("    steps:\n");
    for step in &session.steps {
        let name = key(&step.name.value);
        let sql = &step.sql.value;
        // isolationtester sends a block as one message; for one statement that is no difference.
        let is_one = split(sql).is_ok_and(|statements| statements.len() <= 1);
        let _ = if is_one {
            writeln!(yaml, "      {name}: {}", scalar(sql, 6))
        } else {
            writeln!(
                yaml,
                "      {name}:\n        sql: {}\n        message: true",
                scalar(sql, 8)
            )
        };
    }
    if let Some(teardown) = &session.teardown {
        let _ = writeln!(yaml, "    teardown: {}", scalar(&teardown.value, 4));
    }
}

/// `[a, { step: b, report_after: [c] }]`
fn flow(spec: &Spec, schedule: &Schedule) -> String {
    let steps: Vec<String> = schedule
        .steps
        .iter()
        .map(|scheduled| flow_step(spec, scheduled))
        .collect();
    format!("[{}]", steps.join(", "))
}

fn flow_step(spec: &Spec, scheduled: &ScheduledStep) -> String {
    let name = |step| key(&spec.step(step).name.value);
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
