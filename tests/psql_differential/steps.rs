//! Steps of scenarios that send something else than plain statements, and what psql is told to do
//! the same.

use std::path::Path;
use std::time::Duration;

use lockstep::runner;
use lockstep::scenario::{self, Action, Bound, LoadError, Param, RenderStyle, Scenario, Sending};
use lockstep::server;
use lockstep::transcript::{EventKind, psql};

const LIMIT: Duration = Duration::from_secs(60);

/// The scenarios of a folder.
pub fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/psql_steps");
    let files = scenario::discover(&[folder]).expect("the folder is there");
    files.iter().flat_map(|path| load(path)).collect()
}

fn load(path: &Path) -> Vec<Scenario> {
    scenario::load(path).unwrap_or_else(|error| match error {
        LoadError::Read(error) => panic!("{}: {error}", path.display()),
        LoadError::Mistakes(mistakes) => {
            panic!("{}", scenario::render(&mistakes, RenderStyle::plain()))
        }
    })
}

/// What each step sends.
pub fn sendings(scenario: &Scenario) -> Vec<&Sending> {
    scenario
        .steps
        .iter()
        .map(|step| match &step.action {
            Action::Send { sending, .. } => sending,
            other => panic!("{other:?} sends nothing"),
        })
        .collect()
}

/// What Lockstep prints for what the server answers to each step.
pub async fn replayed(scenario: &Scenario, server: &server::Server) -> Vec<String> {
    let outcome = runner::replay(scenario, server, LIMIT).await;
    assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
    let mut texts = vec![String::new(); scenario.steps.len()];
    for event in &outcome.transcript.events {
        if let EventKind::Answered {
            statement, answers, ..
        } = &event.kind
        {
            texts[event.step].push_str(&psql::render(&statement.text, answers));
        }
    }
    texts
}

/// What psql is to read for a step.
pub fn psql_input(sending: &Sending) -> String {
    match sending {
        Sending::Statements(sql) => sql.text.clone(),
        Sending::Message(sql) => {
            let sql = sql.text.trim_end().trim_end_matches(';');
            format!("{};", sql.replace(';', "\\;"))
        }
        Sending::Bound(one) => format!("{}\\g", bind(one)),
        Sending::Prepare { name, sql } => format!("{}\\parse {}", sql.text, name.value),
        Sending::Execute { name, params } => {
            format!("\\bind_named {}{} \\g", name.value, arguments(params))
        }
        Sending::Pipeline(list) => {
            let statements: String = list
                .iter()
                .map(|one| format!("{}\\sendpipeline\n", bind(one)))
                .collect();
            format!("\\startpipeline\n{statements}\\endpipeline")
        }
        Sending::Copy { sql, data, .. } => {
            let sql = sql.as_ref().expect("psql has no open streams");
            format!("{};\n{}\\.", sql.text, data.text)
        }
    }
}

fn bind(Bound { sql, params }: &Bound) -> String {
    format!("{}\\bind{} ", sql.text, arguments(params))
}

/// Arguments of a psql command.
fn arguments(params: &[Param]) -> String {
    params
        .iter()
        .map(|value| {
            let value = value.as_ref().expect("psql binds no NULL");
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            format!(" '{}'", value.replace('\n', "\\n").replace('\t', "\\t"))
        })
        .collect()
}
