//! Specs that must be read, and specs whose mistakes must be shown well.

use std::path::{Path, PathBuf};

use lockstep::isolation::{self, Spec};
use lockstep::scenario::{self, Diagnostic, RenderStyle};
use lockstep::schedule::{Marker, Schedules};

/// Specs that are no part of the project.
const CONFORMANCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/isolation/specs");

fn read(path: &Path) -> Result<Spec, Vec<Diagnostic>> {
    isolation::parse(&scenario::read(path).expect("it can be read"))
}

fn specs(folder: &str) -> Vec<PathBuf> {
    let specs = isolation::discover(&[folder]).expect("the folder is there");
    assert!(!specs.is_empty(), "no specs in {folder}");
    specs
}

#[test]
fn right_specs_are_read() {
    for path in specs("tests/data/isolation/ok") {
        if let Err(mistakes) = read(&path) {
            panic!("{}", scenario::render(&mistakes, RenderStyle::plain()));
        }
    }
}

#[test]
fn wrong_specs_are_refused_with_all_their_mistakes() {
    for path in specs("tests/data/isolation/err") {
        let name = path.file_stem().expect("a file has a name");
        let shown = match read(&path) {
            Ok(_) => "no mistake".to_owned(),
            Err(mistakes) => scenario::render(&mistakes, RenderStyle::plain()),
        };
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/isolation/err", omit_expression => true }, {
            insta::assert_snapshot!(name.to_string_lossy().into_owned(), shown);
        });
    }
}

#[test]
fn a_spec_says_what_stands_in_it() {
    let spec = read(Path::new("tests/data/isolation/ok/all-of-it.spec")).expect("it is right");
    assert_eq!(spec.setups.len(), 2);
    assert_eq!(
        spec.setups[0].value,
        "CREATE TABLE stock (item text PRIMARY KEY, n int NOT NULL);"
    );
    assert!(
        spec.setups[1].value.starts_with("\n    INSERT"),
        "line breaks stay, blanks around the SQL go"
    );
    let names: Vec<&str> = spec.sessions.iter().map(|s| &*s.name.value).collect();
    assert_eq!(names, ["the buyer", "a \"second\" one"]);
    assert_eq!(spec.sessions[1].steps[1].sql.value, "");
    let unused: Vec<&str> = spec.unused.iter().map(|step| &*step.value).collect();
    assert_eq!(unused, ["spare"]);
    let Schedules::Listed(schedules) = &spec.schedules else {
        panic!("they are listed");
    };
    assert_eq!(schedules.len(), 5);
    assert_eq!(schedules[1].steps[1].markers, [Marker::WaitsFirst]);
    assert!(matches!(
        schedules[3].steps[0].markers[..],
        [Marker::AfterNotices { notices: 1, .. }]
    ));
}

#[test]
fn the_conformance_specs_are_read() {
    let folder = Path::new(CONFORMANCE);
    if !folder.is_dir() {
        eprintln!("skipped: there is no {CONFORMANCE}");
        return;
    }
    for path in specs(CONFORMANCE) {
        if let Err(mistakes) = read(&path) {
            panic!("{}", scenario::render(&mistakes, RenderStyle::plain()));
        }
    }
}

#[test]
fn a_spec_becomes_a_readable_scenario() {
    for path in specs("tests/data/isolation/ok") {
        let spec = read(&path).expect("it is right");
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/isolation/converted", omit_expression => true }, {
            insta::assert_snapshot!(spec.name(), isolation::convert(&spec));
        });
    }
}

/// What is called so, or is renamed and has the name under a key.
fn called<'a>(all: &'a serde_json::Value, name: &str, key: &str) -> &'a serde_json::Value {
    let all = all.as_object().expect("it is a mapping");
    let renamed = || all.values().find(|one| one[key].as_str() == Some(name));
    all.get(name)
        .or_else(renamed)
        .unwrap_or_else(|| panic!("nothing is called {name}"))
}

#[test]
fn what_is_converted_holds_the_same_sessions_steps_and_schedules() {
    let mut paths = specs("tests/data/isolation/ok");
    if Path::new(CONFORMANCE).is_dir() {
        paths.extend(specs(CONFORMANCE));
    } else {
        eprintln!("skipped in part: there is no {CONFORMANCE}");
    }
    for path in paths {
        let spec = read(&path).expect("it is right");
        let yaml = isolation::convert(&spec);
        let scenario: serde_json::Value = serde_saphyr::from_str(&yaml)
            .unwrap_or_else(|error| panic!("{}: {error}\n{yaml}", path.display()));
        for session in &spec.sessions {
            let converted = called(&scenario["sessions"], &session.name.value, "title");
            let steps = converted["steps"].as_object().expect("a session has steps");
            let names: Vec<&str> = session.steps.iter().map(|s| &*s.name.value).collect();
            assert_eq!(steps.len(), names.len(), "{}", path.display());
            for step in &session.steps {
                let sql = called(&converted["steps"], &step.name.value, "label");
                let sql = sql.as_str().or_else(|| sql["sql"].as_str());
                let words = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(
                    sql.map(words),
                    Some(words(&step.sql.value)),
                    "{}: {}",
                    path.display(),
                    step.name.value
                );
            }
        }
        match &spec.schedules {
            Schedules::All(_) => assert_eq!(scenario["schedules"], "all"),
            Schedules::Listed(listed) => {
                let schedules = scenario["schedules"].as_array().expect("they are listed");
                assert_eq!(schedules.len(), listed.len(), "{}", path.display());
            }
        }
    }
}
