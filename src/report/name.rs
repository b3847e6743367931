//! What cases and steps are called.

use std::path::Path;

use crate::runner::CaseResult;
use crate::scenario::{Action, Scenario, SessionIndex, Shutdown};
use crate::server::Release;
use crate::snapshot::{Layout, visible};

/// The longest piece of SQL, in characters, that stands for a step.
const LONGEST: usize = 60;

/// The name of a scenario: its path within `scenarios/`, or all of it where there is no such
/// folder, without the extension.
///
/// ```
/// use std::path::Path;
/// use lockstep::report::scenario_name;
///
/// assert_eq!(scenario_name(Path::new("shop/scenarios/queue/two-workers.yaml")), "queue/two-workers");
/// assert_eq!(scenario_name(Path::new("lab/race.yaml")), "lab/race");
/// ```
#[must_use]
pub fn scenario_name(path: &Path) -> String {
    let layout = Layout::of(path);
    // Only the folder `scenarios` stands between the two.
    if layout.source.starts_with("scenarios/") {
        layout.name
    } else {
        slashes(&path.with_extension(""))
    }
}

/// The name of a case: `queue/two-workers (18.6)`, `queue/lease · isolation=serializable (18.6)`.
#[must_use]
pub fn case_name(scenario: &Scenario, case: &str, release: Release) -> String {
    format!("{} ({release})", case_title(scenario, case))
}

/// The name of a case without the release.
pub(super) fn case_title(scenario: &Scenario, case: &str) -> String {
    let name = visible(&scenario_name(&scenario.source.path), false);
    if case == "default" {
        name
    } else {
        format!("{name} · {}", visible(case, false))
    }
}

/// The name of a result's case.
pub(super) fn name_of(result: &CaseResult) -> String {
    case_name(&result.scenario, &result.case, result.release)
}

/// A step's number, counted from 1, its id and label or what it does, and where it is written:
/// `step 5 (b-claims, claim → job 2) at scenarios/queue/two-workers.yaml:28`.
#[must_use]
pub fn step_place(scenario: &Scenario, step: usize) -> String {
    let number = step + 1;
    let path = slashes(&scenario.source.path);
    let Some(found) = scenario.steps.get(step) else {
        return format!("step {number} at {path}");
    };
    let names: Vec<&str> = [
        found.id.as_ref().map(|id| id.value.as_str()),
        found.label.as_deref(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = if names.is_empty() {
        action(scenario, &found.action)
    } else {
        names.join(", ")
    };
    let before = scenario.source.text.get(..found.span.start);
    let line = before.unwrap_or_default().matches('\n').count() + 1;
    format!("step {number} ({}) at {path}:{line}", visible(&what, false))
}

/// What a step does, in a line.
fn action(scenario: &Scenario, action: &Action) -> String {
    let session = |index: &SessionIndex| {
        let session = scenario.sessions.get(index.0);
        session.map_or("?", |session| session.name.value.as_str())
    };
    match action {
        Action::Say(text) => format!("say: {}", first_line(text)),
        Action::Send {
            session: index,
            sending,
            ..
        } => {
            let sql = sending.sql();
            let text = sql.first().map_or("", |sql| &sql.text);
            format!("{}> {}", session(index), first_line(text))
        }
        Action::Check(sql) => format!("check: {}", first_line(&sql.text)),
        Action::WaitFor(index) => format!("wait_for: {}", session(index)),
        Action::WaitForClose(index) => format!("wait_for: {{ closed: {} }}", session(index)),
        Action::Advance { by, .. } => format!("advance: {}ms", by.as_millis()),
        Action::Sleep(time) => format!("sleep: {}ms", time.as_millis()),
        Action::Disconnect(index) => format!("disconnect: {}", session(index)),
        Action::Connect(index) => format!("connect: {}", session(index)),
        Action::Cancel(index) => format!("cancel: {}", session(index)),
        Action::Terminate(index) => format!("terminate: {}", session(index)),
        Action::Restart(Shutdown::Fast) => "restart: fast".to_owned(),
        Action::Restart(Shutdown::Immediate) => "crash: true".to_owned(),
    }
}

/// The first line with something in it, cut short.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let mut cut: String = line.chars().take(LONGEST).collect();
    if cut.len() < line.len() || lines.next().is_some() {
        cut.push('…');
    }
    cut
}

/// The path as it is shown, with `/` between its parts on every system.
pub(super) fn slashes(path: &Path) -> String {
    let path = path.to_string_lossy();
    if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.into_owned()
    }
}
