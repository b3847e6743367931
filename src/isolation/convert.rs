//! A spec → a scenario file.

use std::fmt::Write;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::environment::session_settings;
use super::needs::superuser_needs;
use super::spec::{Spec, SpecSession};
use super::yaml::{key, scalar};
use crate::scenario::{SUPERUSER_SETTINGS, Spanned, cluster_wide, split};
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
    for session in &spec.sessions {
        push_session(&mut yaml, spec, session, &settings);
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

/// The server that a spec needs for itself. Plans depend on statistics, and since PostgreSQL 18
/// CREATE INDEX makes some only where autovacuum is on; it need not ever come by.
fn server(spec: &Spec) -> Option<&'static str> {
    let is_cluster_wide = |sql: &Spanned<String>| {
        let statements = split(&sql.value).unwrap_or_default();
        statements
            .iter()
            .any(|statement| cluster_wide(&statement.text).is_some())
    };
    if mentions(spec, "explain") {
        Some("server:\n  own: true\n  settings: { autovacuum: on, autovacuum_naptime: 2147483s }\n")
    } else if spec.all_sql().any(is_cluster_wide) {
        Some("server: own\n")
    } else {
        None
    }
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

fn push_session(yaml: &mut String, spec: &Spec, session: &SpecSession, common: &[Setting]) {
    let name = &session.name.value;
    let _ = writeln!(yaml, "  {}:", key(name));
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

/// A setting of the server, and its value.
type Setting = (String, String);

/// A set-up without the harmless settings that only a superuser may set, and these: as settings of
/// the session anybody may have them.
fn hoisted(setup: &str) -> (String, Vec<Setting>) {
    let mut settings = Vec::new();
    let rest = SUPERUSER_SETS.replace_all(setup, |set: &Captures<'_>| {
        settings.push((set[1].to_ascii_lowercase(), set[2].to_owned()));
        String::new()
    });
    (rest.trim().to_owned(), settings)
}

static SUPERUSER_SETS: LazyLock<Regex> = LazyLock::new(|| {
    let names = SUPERUSER_SETTINGS.join("|");
    let set =
        format!(r"(?i)\bset\s+(?:session\s+)?({names})\s*(?:=|\bto\b)\s*'?([^;']*?)'?\s*;\s*");
    Regex::new(&set).expect("a name has no special characters")
});

/// What sessions of specs begin with and those of scenarios do not, where times are shown.
fn settings(spec: &Spec) -> Vec<Setting> {
    let shows_time = spec.all_sql().any(|sql| TIMES.is_match(&sql.value));
    let of_times = |name: &str| ["TimeZone", "DateStyle", "IntervalStyle"].contains(&name);
    let settings = session_settings().into_iter();
    settings
        .filter(|(name, _)| shows_time && of_times(name))
        .collect()
}

static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)\b(?:timestamp(?:tz)?|date|time|interval|now|clock_timestamp|current_\w+)\b";
    Regex::new(words).expect("the words are a regular expression")
});

fn mentions(spec: &Spec, word: &str) -> bool {
    let mut sql = spec.all_sql();
    sql.any(|sql| sql.value.to_ascii_lowercase().contains(word))
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
