//! What a user relies on of the store of accepted transcripts.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep::server::Release;
use lockstep::snapshot::{
    Accepted, Change, Comparison, Mode, Observed, SnapshotError, SnapshotErrorKind, SnapshotKey,
    Store, Unused, UsedCase, WhyUnused,
};

const SCENARIO: &str = "scenarios/queue/two-workers.yaml";
const BASE: &str = "snapshots/queue/two-workers/default.snap";
const PENDING: &str = "snapshots/queue/two-workers/default.snap.new";

fn key(case: &str, major: u32) -> SnapshotKey<'_> {
    SnapshotKey {
        scenario: Path::new(SCENARIO),
        case,
        outcomes: &[],
        release: Release { major, minor: 6 },
    }
}

fn differs(accepted: &str) -> Comparison {
    Comparison::Differs {
        accepted: accepted.into(),
    }
}

/// A project folder and its store.
fn project() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path(), Mode::Propose);
    (folder, store)
}

/// Proposes what one release gave.
fn propose(
    store: &Store,
    key: SnapshotKey<'_>,
    text: &str,
    redacted: &[String],
) -> Result<Vec<PathBuf>, SnapshotError> {
    let seen = Observed {
        release: key.release,
        text,
        redacted,
    };
    store.propose(key.scenario, key.case, key.outcomes, &[seen])
}

fn put(store: &Store, key: SnapshotKey<'_>, text: &str) {
    propose(store, key, text, &[]).expect("proposed");
    store.accept(&[key.scenario]).expect("accepted");
}

/// Names of the files of a project, in order.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(folder).expect("inside");
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_text_goes_from_missing_over_pending_to_accepted() {
    let (folder, store) = project();
    let key = key("default", 18);
    assert_eq!(store.compare(key, "a\n").unwrap(), Comparison::Missing);
    let pending = propose(&store, key, "a\n", &["<pid of A>".into()]).unwrap();
    assert_eq!(pending, [PathBuf::from(PENDING)]);
    // Proposing accepts nothing.
    assert_eq!(store.compare(key, "a\n").unwrap(), Comparison::Missing);
    assert_eq!(
        store.accept(&[Path::new(SCENARIO)]).unwrap(),
        [Accepted {
            path: BASE.into(),
            change: Change::New
        }]
    );
    assert_eq!(files(folder.path()), [BASE]);
    assert_eq!(store.compare(key, "a\n").unwrap(), Comparison::Same);
    assert_eq!(store.compare(key, "b\n").unwrap(), differs("a\n"));
    propose(&store, key, "b\n", &[]).unwrap();
    assert_eq!(
        store.accept_under(Path::new("")).unwrap(),
        [Accepted {
            path: BASE.into(),
            change: Change::Text
        }]
    );
    assert_eq!(store.compare(key, "b\n").unwrap(), Comparison::Same);
    assert!(store.accept(&[Path::new(SCENARIO)]).unwrap().is_empty());
}

#[test]
fn only_exactly_the_same_text_is_the_same() {
    let (_folder, store) = project();
    let key = key("default", 18);
    put(&store, key, "a \n\n b\n");
    for text in [
        "a \n\n b",
        "a \n\n b\n\n",
        "a\n\n b\n",
        "\na \n\n b\n",
        "a \r\n\n b\n",
        "",
    ] {
        assert_eq!(
            store.compare(key, text).unwrap(),
            differs("a \n\n b\n"),
            "{text:?}"
        );
    }
}

#[test]
fn a_case_that_passes_again_has_nothing_pending() {
    let (folder, store) = project();
    let key = key("default", 18);
    put(&store, key, "a\n");
    propose(&store, key, "b\n", &[]).unwrap();
    assert_eq!(files(folder.path()), [BASE, PENDING]);
    let pending = propose(&store, key, "a\n", &[]).unwrap();
    assert!(pending.is_empty());
    assert_eq!(files(folder.path()), [BASE]);
}

/// Does what `cargo insta accept` does with a pending file.
fn accept_with_insta(pending: &Path, accepted: &Path) {
    let snapshot = insta::Snapshot::from_file(pending).expect("insta reads it");
    fs::remove_file(pending).expect("it is there");
    snapshot.save(accepted).expect("insta writes it");
}

#[test]
fn insta_accepts_a_pending_snapshot_and_leaves_it_as_it_is() {
    let (folder, store) = project();
    let redacted: Vec<String> = [
        "<pid of A>",
        "a: b",
        "",
        "18.6",
        "true",
        "<Zähler>",
        "Zähler",
        "\"\\",
    ]
    .map(str::to_owned)
    .to_vec();
    let ends = [
        "", "x", "\n", " \n", "\n\n", "\r\n", "\\", "\u{a0}\n", "---\n",
    ];
    let begins = [
        "",
        "\n\n",
        "A> SELECT 1;\n---\n\n  1  \n",
        "a\rb\r\n\\",
        "<<<<<<< x\n",
        "\u{1b}\0\t",
    ];
    for text in begins
        .iter()
        .flat_map(|begin| ends.map(|end| format!("{begin}{end}")))
    {
        let key = key("default", 18);
        propose(&store, key, &text, &redacted).unwrap();
        let (pending, accepted) = (folder.path().join(PENDING), folder.path().join(BASE));
        let before = fs::read_to_string(&pending).unwrap();
        accept_with_insta(&pending, &accepted);
        assert_eq!(fs::read_to_string(&accepted).unwrap(), before, "{text:?}");
        assert_eq!(
            store.compare(key, &text).unwrap(),
            Comparison::Same,
            "{text:?}"
        );
    }
}

#[test]
fn in_ci_nothing_is_written_or_removed() {
    let (folder, store) = project();
    let key = key("default", 18);
    let ci = Store::new(folder.path(), Mode::ReadOnly);
    assert!(propose(&ci, key, "a\n", &[]).unwrap().is_empty());
    assert!(files(folder.path()).is_empty());
    propose(&store, key, "a\n", &[]).unwrap();
    propose(&ci, key, "b\n", &[]).unwrap();
    assert_eq!(files(folder.path()), [PENDING]);
    assert_eq!(ci.compare(key, "a\n").unwrap(), Comparison::Missing);
}

#[test]
fn it_does_not_matter_from_where_a_scenario_is_named() {
    let (folder, store) = project();
    put(&store, key("default", 18), "a\n");
    let inside = Store::new(&folder.path().join("scenarios"), Mode::Propose);
    let key = SnapshotKey {
        scenario: Path::new("queue/two-workers.yaml"),
        ..key("default", 18)
    };
    assert_eq!(inside.compare(key, "a\n").unwrap(), Comparison::Same);
    // What the store says of a file, it also understands.
    let unused = inside.unused(&[Path::new("..")], &[]).unwrap();
    let base = Path::new("..").join(BASE);
    assert_eq!(
        unused,
        [Unused {
            path: base,
            why: WhyUnused::NoCase
        }]
    );
    inside.remove(&unused).unwrap();
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_variant_goes_before_the_base() {
    let (folder, store) = project();
    put(&store, key("default", 18), "new\n");
    put(&store, key("other", 18), "old\n");
    let here = folder.path().join(BASE);
    let other = here.with_file_name("other.snap");
    for (name, holds) in [("13", 13..14), ("13-14", 13..15), ("13,14", 13..15)] {
        let variant = here.with_file_name(format!("default@{name}.snap"));
        fs::copy(&other, &variant).unwrap();
        for major in 12..19 {
            let text = if holds.contains(&major) {
                "old\n"
            } else {
                "new\n"
            };
            assert_eq!(
                store.compare(key("default", major), text).unwrap(),
                Comparison::Same,
                "{name} on {major}"
            );
        }
        fs::remove_file(variant).unwrap();
    }
    // A variant of another case whose name begins alike is no variant of this one.
    fs::rename(&other, here.with_file_name("default2@13.snap")).unwrap();
    assert_eq!(
        store.compare(key("default", 13), "new\n").unwrap(),
        Comparison::Same
    );
}

#[test]
fn two_variants_for_one_release_are_a_mistake() {
    let (folder, store) = project();
    put(&store, key("default", 18), "a\n");
    put(&store, key("other", 18), "b\n");
    let here = folder.path().join(BASE);
    let other = here.with_file_name("other.snap");
    for (name, like) in [("13-14", &here), ("14,16", &here)] {
        fs::copy(like, here.with_file_name(format!("default@{name}.snap"))).unwrap();
    }
    assert!(
        store.compare(key("default", 14), "a\n").is_ok(),
        "no contradiction"
    );
    fs::copy(&other, here.with_file_name("default@14,16.snap")).unwrap();
    let error = store.compare(key("default", 14), "a\n").unwrap_err();
    insta::assert_snapshot!(error.to_string().replace('\\', "/"), @"snapshot `snapshots/queue/two-workers/default@13-14.snap` and `snapshots/queue/two-workers/default@14,16.snap` both hold for release 14; remove one, or rename it");
    assert!(store.compare(key("default", 13), "a\n").is_ok());
    fs::rename(
        here.with_file_name("default@14,16.snap"),
        here.with_file_name("default@old.snap"),
    )
    .unwrap();
    let error = store.compare(key("default", 13), "a\n").unwrap_err();
    insta::assert_snapshot!(error.to_string().replace('\\', "/"), @"snapshot `snapshots/queue/two-workers/default@old.snap` is named for releases `old`, which must be majors such as `13`, `13-14` or `13,15`");
}

#[test]
fn a_corrupt_pending_snapshot_is_not_accepted() {
    let (folder, store) = project();
    let key = key("default", 18);
    put(&store, key, "a\n");
    propose(&store, key, "b\n", &[]).unwrap();
    let pending = folder.path().join(PENDING);
    let whole = fs::read_to_string(&pending).unwrap();
    fs::write(
        &pending,
        whole.replace("b\n", "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n"),
    )
    .unwrap();
    let error = store.accept(&[key.scenario]).unwrap_err();
    assert_eq!(error.path, Path::new(PENDING));
    assert!(
        matches!(error.kind, SnapshotErrorKind::MergeConflict { line: 10 }),
        "{error}"
    );
    assert_eq!(store.compare(key, "a\n").unwrap(), Comparison::Same);
}

#[test]
fn a_failed_write_leaves_what_was_there_whole() {
    let (folder, store) = project();
    let key = key("default", 18);
    put(&store, key, "a\n");
    propose(&store, key, "b\n", &[]).unwrap();
    let before = files(folder.path());
    // A folder in the place of the pending file: the rename at the end fails.
    let pending = folder.path().join(PENDING);
    fs::remove_file(&pending).unwrap();
    fs::create_dir(&pending).unwrap();
    let error = propose(&store, key, "c\n", &[]).unwrap_err();
    assert!(matches!(error.kind, SnapshotErrorKind::Write(_)), "{error}");
    assert_eq!(store.compare(key, "a\n").unwrap(), Comparison::Same);
    fs::remove_dir(&pending).unwrap();
    // Nothing half-written stays behind.
    assert_eq!(files(folder.path()), [BASE]);
    // A folder in the place of the accepted file: accepting fails, and the pending file stays.
    propose(&store, key, "b\n", &[]).unwrap();
    let base = folder.path().join(BASE);
    fs::remove_file(&base).unwrap();
    fs::create_dir(&base).unwrap();
    let error = store.accept(&[key.scenario]).unwrap_err();
    assert!(matches!(error.kind, SnapshotErrorKind::Read(_)), "{error}");
    fs::remove_dir(&base).unwrap();
    assert_eq!(files(folder.path()), before[1..]);
    store.accept(&[key.scenario]).unwrap();
    assert_eq!(store.compare(key, "b\n").unwrap(), Comparison::Same);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let (folder, store) = project();
    fs::write(folder.path().join("snapshots"), "").unwrap();
    let error = propose(&store, key("default", 18), "a\n", &[]).unwrap_err();
    assert!(
        error.to_string().starts_with("snapshot `snapshots"),
        "{error}"
    );
    assert_eq!(files(folder.path()), ["snapshots"]);
}

#[test]
fn snapshots_no_case_uses_are_found_and_removed() {
    let (folder, store) = project();
    for case in ["default", "read committed", "gone"] {
        put(&store, key(case, 18), "a\n");
    }
    let here = folder.path().join(BASE);
    fs::copy(&here, here.with_file_name("default@13.snap")).unwrap();
    propose(&store, key("gone", 18), "b\n", &[]).unwrap();
    let other = SnapshotKey {
        scenario: Path::new("scenarios/gone/all.yaml"),
        ..key("default", 18)
    };
    put(&store, other, "a\n");
    // A Rust project's own snapshots, and what else may lie about.
    let rust = folder.path().join("src/snapshots");
    fs::create_dir_all(&rust).unwrap();
    fs::write(rust.join("a.snap"), "---\nsource: src/lib.rs\n---\nx\n").unwrap();
    fs::write(rust.join("b.snap.new"), "---\nsource: src/lib.rs\n---\nx\n").unwrap();
    fs::write(rust.join("jest.snap"), "exports[`a`] = 1\n").unwrap();

    assert!(store.accept_under(Path::new("src")).unwrap().is_empty());
    let scenario = Path::new(SCENARIO);
    let used = ["default", "read committed"].map(|case| UsedCase {
        scenario,
        case,
        outcomes: &[],
        runs_on: &|_| true,
    });
    let unused = store.unused(&[Path::new("")], &used).unwrap();
    let names = names(&unused);
    assert_eq!(
        names,
        [
            "snapshots/gone/all/default.snap",
            "snapshots/queue/two-workers/default@13.snap Redundant",
            "snapshots/queue/two-workers/gone.snap",
            "snapshots/queue/two-workers/gone.snap.new",
        ]
    );
    let of_one = store
        .unused(&[&store.layout(scenario).folder], &used)
        .unwrap();
    assert_eq!(of_one, unused[1..]);
    store.remove(&unused).unwrap();
    assert_eq!(
        files(folder.path()),
        [
            BASE,
            "snapshots/queue/two-workers/read+committed.snap",
            "src/snapshots/a.snap",
            "src/snapshots/b.snap.new",
            "src/snapshots/jest.snap",
        ]
    );
    assert!(!folder.path().join("snapshots/gone").exists());
}

/// The paths, and why where it is not because there is no such case.
fn names(unused: &[Unused]) -> Vec<String> {
    let name = |Unused { path, why }: &Unused| {
        let path = path.to_string_lossy().replace('\\', "/");
        match why {
            WhyUnused::NoCase => path,
            why => format!("{path} {why:?}"),
        }
    };
    unused.iter().map(name).collect()
}

#[test]
fn each_outcome_that_is_not_the_first_has_a_snapshot_of_its_own() {
    let (folder, store) = project();
    let own = key("default", 18);
    let other = |outcomes| SnapshotKey { outcomes, ..own };
    put(&store, own, "the first\n");
    put(&store, other(&[1, 2]), "another\n");
    put(&store, other(&[1, 3]), "of another file\n");
    let named = "snapshots/queue/two-workers/default~1-2.snap";
    assert!(files(folder.path()).contains(&named.to_owned()));
    let text = fs::read_to_string(folder.path().join(named)).unwrap();
    assert!(text.contains("  case: default~1-2\n"), "{text}");

    for (key, text) in [
        (own, "the first\n"),
        (other(&[1, 1]), "the first\n"),
        (other(&[1, 2]), "another\n"),
    ] {
        assert_eq!(store.compare(key, text).unwrap(), Comparison::Same);
    }
    assert_eq!(
        store.compare(other(&[2, 1]), "another\n").unwrap(),
        Comparison::Missing
    );
    assert!(own.is_of_first_outcomes() && other(&[1, 1]).is_of_first_outcomes());
    assert!(!other(&[1, 2]).is_of_first_outcomes());

    // The second step allows two outcomes, and not three.
    let used = UsedCase {
        scenario: Path::new(SCENARIO),
        case: "default",
        outcomes: &[2, 2],
        runs_on: &|_| true,
    };
    let unused = store.unused(&[Path::new("")], &[used]).unwrap();
    assert_eq!(
        names(&unused),
        ["snapshots/queue/two-workers/default~1-3.snap"]
    );
}

#[test]
fn variants_that_change_nothing_are_not_needed() {
    let (folder, store) = project();
    put(&store, key("default", 18), "new\n");
    put(&store, key("other", 18), "old\n");
    let here = folder.path().join(BASE);
    let other = here.with_file_name("other.snap");
    for (name, like) in [
        // For releases the scenario is not for.
        ("9-10", &other),
        // As the base says.
        ("11", &here),
        // In part for releases it is for.
        ("10,12", &other),
        // As the wider one says.
        ("13-15", &other),
        ("13-14", &other),
        // Not as the wider one says.
        ("15", &here),
    ] {
        fs::copy(like, here.with_file_name(format!("default@{name}.snap"))).unwrap();
    }
    let scenario = Path::new(SCENARIO);
    let used = UsedCase {
        scenario,
        case: "default",
        outcomes: &[],
        runs_on: &|major| major > 10,
    };
    let used = [
        used,
        UsedCase {
            case: "other",
            ..used
        },
    ];
    let unused = store.unused(&[Path::new("")], &used).unwrap();
    let here = "snapshots/queue/two-workers/default";
    assert_eq!(
        names(&unused),
        [
            format!("{here}@11.snap Redundant"),
            format!("{here}@13-14.snap Redundant"),
            format!("{here}@9-10.snap NoRelease"),
        ]
    );
    store.remove(&unused).unwrap();
    assert!(store.unused(&[Path::new("")], &used).unwrap().is_empty());
}

#[test]
#[cfg(unix)]
fn a_snapshot_may_be_read_by_whoever_may_read_a_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, store) = project();
    put(&store, key("default", 18), "a\n");
    fs::write(folder.path().join("plain"), "").unwrap();
    let mode = |name: &str| {
        fs::metadata(folder.path().join(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode(BASE), mode("plain"));
}
