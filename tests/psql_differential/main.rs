//! What Lockstep prints is what the real psql of the same release prints, to the byte.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod lockstep_side;
mod psql_side;
mod random;
mod statements;
mod steps;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lockstep::scenario::Sending;
use lockstep::transcript::{Answer, Column, ResultSet, psql};

use lockstep_side::Session;
use statements::Entry;
use support::Server;

/// The files of statements, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/psql");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of statements is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn every_statement_prints_what_psql_prints() {
    let server = Server::start().await;
    let mut report = String::new();
    for path in files() {
        let subject = path.file_stem().expect("it has a name").to_string_lossy();
        report.push_str(&differences(&server, &subject, &Entry::read_all(&path)).await);
    }
    assert!(
        report.is_empty(),
        "psql (-) and Lockstep (+) differ{report}"
    );
}

#[tokio::test]
async fn random_statements_print_what_psql_prints() {
    let server = Server::start().await;
    let report = differences(&server, "random", &random::entries()).await;
    assert!(
        report.is_empty(),
        "psql (-) and Lockstep (+) differ{report}"
    );
}

#[tokio::test]
async fn every_step_prints_what_psql_prints() {
    let server = Server::start().await;
    let mut theirs = Vec::new();
    for scenario in steps::scenarios() {
        let sendings = steps::sendings(&scenario);
        let database = fresh_database(&server, "psql_steps").await;
        let setup = scenario.setup.first().map_or("", |setup| &setup.text);
        psql_side::run(&server, &database, setup);
        let input: String = sendings
            .iter()
            .enumerate()
            .map(|(number, one)| {
                format!("{}\n\\echo {}", steps::psql_input(one), Entry::mark(number))
            })
            .collect();
        let mut text = mask_pids(&psql_side::run(&server, &database, &input));
        let texts: Vec<String> = (0..sendings.len())
            .map(|number| take(&mut text, &Entry::mark(number)).expect("a mark after each step"))
            .collect();
        assert_eq!(text, "", "text after the last step");
        theirs.push((scenario, texts));
    }
    let server = server.into_running();
    let mut report = String::new();
    for (scenario, theirs) in theirs {
        let ours = steps::replayed(&scenario, &server).await;
        let sendings = steps::sendings(&scenario);
        for ((sending, expected), found) in sendings.iter().zip(&theirs).zip(&ours) {
            // psql prints the command tag of a statement that was parsed: there is none.
            let is_parsed = matches!(sending, Sending::Prepare { .. }) && expected == "\n";
            let expected = if is_parsed { "" } else { expected };
            let found = mask_pids(found);
            if expected != found {
                let diff = similar::TextDiff::from_lines(visible(expected), visible(&found))
                    .unified_diff()
                    .to_string();
                write!(report, "\n\n{}\n{diff}", steps::psql_input(sending))
                    .expect("writing to a string does not fail");
            }
        }
    }
    assert!(
        report.is_empty(),
        "psql (-) and Lockstep (+) differ{report}"
    );
}

/// Runs entries on two fresh databases, through psql and through Lockstep, and gives a diff for
/// each one whose text differs.
async fn differences(server: &Server, subject: &str, entries: &[Entry]) -> String {
    let theirs = {
        let database = fresh_database(server, &format!("psql_{subject}")).await;
        let input: String = entries
            .iter()
            .enumerate()
            .map(|(number, entry)| entry.psql_input(number))
            .collect();
        psql_side::run(server, &database, &input)
    };
    let ours = {
        let database = fresh_database(server, &format!("lockstep_{subject}")).await;
        let mut session = Session::connect(server.endpoint(), &database).await;
        session.run(entries).await
    };
    let (mut theirs, mut ours) = (mask_pids(&theirs), mask_pids(&ours));
    let mut report = String::new();
    for (number, entry) in entries.iter().enumerate() {
        let mark = Entry::mark(number);
        let (Some(expected), Some(found)) = (take(&mut theirs, &mark), take(&mut ours, &mark))
        else {
            panic!("{subject}: no mark after `{}`: {theirs}", entry.title);
        };
        if expected != found {
            let diff = similar::TextDiff::from_lines(visible(&expected), visible(&found))
                .unified_diff()
                .context_radius(3)
                .to_string();
            write!(
                report,
                "\n\n{subject}: {}\n{}\n{diff}",
                entry.title, entry.sql
            )
            .expect("writing to a string does not fail");
        }
    }
    assert_eq!(theirs, ours, "{subject}: text after the last entry");
    report
}

/// Makes an empty database, and gives its name.
async fn fresh_database(server: &Server, name: &str) -> String {
    let mut session = Session::connect(server.endpoint(), "postgres").await;
    for sql in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!("CREATE DATABASE {name} TEMPLATE template0"),
    ] {
        let answers = session.ask(&sql, None).await;
        let is_error = |answer: &Answer| matches!(answer, Answer::Error(_));
        assert!(!answers.iter().any(is_error), "{sql}: {answers:?}");
    }
    name.to_owned()
}

/// Splits off what stands before a mark.
fn take(text: &mut String, mark: &str) -> Option<String> {
    let (before, after) = text.split_once(mark)?;
    let before = before.to_owned();
    *text = after.to_owned();
    Some(before)
}

/// White space at the ends of lines can be seen.
fn visible(text: &str) -> String {
    text.replace(' ', "·")
}

/// The two sides are served by different processes.
fn mask_pids(text: &str) -> String {
    let mut parts = text.split("with PID ");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        masked.push_str("with PID <pid>");
        masked.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    masked
}

#[tokio::test]
async fn every_character_is_as_wide_as_psql_says() {
    let server = Server::start().await;
    let theirs = psql_side::run(
        &server,
        "postgres",
        "SELECT chr(i) AS c, i FROM generate_series(1, x'10ffff'::int) AS i
         WHERE i NOT BETWEEN x'd800'::int AND x'dfff'::int;",
    );
    let column = |name: &str, type_oid| Column {
        name: name.to_owned(),
        type_oid,
    };
    let ours = psql::render(
        "",
        &[Answer::Rows(ResultSet {
            columns: vec![column("c", 25), column("i", 23)],
            rows: ('\u{1}'..=char::MAX)
                .map(|c| vec![Some(c.to_string()), Some(u32::from(c).to_string())])
                .collect(),
            tag: String::new(),
        })],
    );
    for (theirs, ours) in theirs.split('\n').zip(ours.split('\n')) {
        assert_eq!(ours, theirs);
    }
    assert!(ours == theirs, "one is longer than the other");
}
