//! Snapshots of cases that behave differently on some releases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lockstep::server::Release;
use lockstep::snapshot::{
    Change, Comparison, Mode, Observed, Snapshot, SnapshotErrorKind, SnapshotKey, Store, UsedCase,
};

const SCENARIO: &str = "scenarios/race.yaml";
const MAJORS: std::ops::RangeInclusive<u32> = 13..=18;

/// What releases gave in a run, by major.
type Run = BTreeMap<u32, &'static str>;

struct Project {
    folder: tempfile::TempDir,
    store: Store,
}

fn release(major: u32) -> Release {
    Release { major, minor: 6 }
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path(), Mode::Propose);
        Self { folder, store }
    }

    /// Proposes what releases gave, and returns the names of what is pending.
    fn run(&self, run: &Run) -> Vec<String> {
        let texts: Vec<(u32, String)> = run
            .iter()
            .map(|(major, text)| (*major, format!("{text}\n")))
            .collect();
        let observed: Vec<Observed<'_>> = texts
            .iter()
            .map(|(major, text)| Observed {
                release: release(*major),
                text,
                redacted: &[],
            })
            .collect();
        let scenario = Path::new(SCENARIO);
        let written = self.store.propose(scenario, "default", &[], &observed);
        let written = written.expect("proposed");
        written.iter().map(|path| name(path)).collect()
    }

    fn accept(&self) -> Vec<String> {
        let accepted = self.store.accept(&[Path::new(SCENARIO)]).expect("accepted");
        let told = accepted.iter().map(|one| match &one.change {
            Change::Renamed { from } => format!("{} was {}", name(&one.path), name(from)),
            change => format!("{} {change:?}", name(&one.path)),
        });
        told.collect()
    }

    fn compare(&self, major: u32, text: &str) -> Result<Comparison, SnapshotErrorKind> {
        let key = SnapshotKey {
            scenario: Path::new(SCENARIO),
            case: "default",
            outcomes: &[],
            release: release(major),
        };
        let compared = self.store.compare(key, &format!("{text}\n"));
        compared.map_err(|error| error.kind)
    }

    /// What holds for each release.
    fn holding(&self) -> BTreeMap<u32, String> {
        let mut holding = BTreeMap::new();
        for major in MAJORS {
            if let Ok(Comparison::Differs { accepted }) = self.compare(major, "") {
                holding.insert(major, accepted.trim().to_owned());
            }
        }
        holding
    }

    /// The files, each with its releases and its text.
    fn files(&self) -> BTreeMap<String, (Vec<String>, String)> {
        let folder = self.folder.path().join("snapshots/race");
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("readable");
            let snapshot = Snapshot::from_file(&path, &bytes).expect("a snapshot");
            let text = snapshot.text.trim().to_owned();
            files.insert(name(&path), (snapshot.header.releases, text));
        }
        files
    }

    /// What stands there, in short.
    fn shown(&self) -> String {
        let shown = self.files().into_iter().map(|(name, (releases, text))| {
            let majors: Vec<&str> = releases
                .iter()
                .map(|release| release.split('.').next().unwrap_or_default())
                .collect();
            format!("{name} [{}] {text}\n", majors.join(" "))
        });
        shown.collect()
    }

    /// Does what `cargo insta accept` does.
    fn accept_with_insta(&self) {
        let folder = self.folder.path().join("snapshots/race");
        for name in self.files().into_keys() {
            if let Some(accepted) = name.strip_suffix(".new") {
                let pending = folder.join(&name);
                let snapshot = insta::Snapshot::from_file(&pending).expect("insta reads it");
                fs::remove_file(&pending).expect("it is there");
                snapshot.save(&folder.join(accepted)).expect("written");
            }
        }
    }

    /// What must hold whenever snapshots were accepted.
    fn check(&self, what: &str) {
        let files = self.files();
        let texts: BTreeSet<&String> = files.values().map(|(_, text)| text).collect();
        assert_eq!(texts.len(), files.len(), "a text stands twice: {what}");
        for (name, (releases, text)) in &files {
            assert!(!name.ends_with(".new"), "{name} is left: {what}");
            for release in releases {
                let major = release.parse::<Release>().expect("a release").major;
                assert_eq!(
                    self.compare(major, text).unwrap(),
                    Comparison::Same,
                    "the header of {name} is not true: {what}"
                );
            }
        }
        let used = UsedCase {
            scenario: Path::new(SCENARIO),
            case: "default",
            outcomes: &[],
            runs_on: &|_| true,
        };
        let unused = self.store.unused(&[Path::new("")], &[used]).unwrap();
        assert_eq!(unused, [], "{what}");
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// `13=a 14=b`.
fn run(text: &str) -> Run {
    let mut run = Run::new();
    for part in text.split_whitespace() {
        let (majors, text) = part.split_once('=').expect("an equals sign");
        let text = ["a", "b", "c", "d"].into_iter().find(|one| *one == text);
        let (first, last) = majors.split_once('-').unwrap_or((majors, majors));
        let majors = first.parse::<u32>().unwrap()..=last.parse().unwrap();
        run.extend(majors.map(|major| (major, text.expect("a known text"))));
    }
    run
}

/// Runs and accepts one after the other; tells what is there each time.
fn story(runs: &[&str]) -> String {
    let project = Project::new();
    let mut told = String::new();
    for text in runs {
        let pending = project.run(&run(text));
        told += &format!("run {text}: {}\n", pending.join(", "));
        for change in project.accept() {
            told += &format!("  {change}\n");
        }
        project.check(text);
        told += &project.shown();
    }
    told
}

#[test]
fn headers_list_the_releases_that_were_seen_to_pass_once_that_is_confirmed() {
    let project = Project::new();
    project.run(&Run::from([(16, "old"), (17, "same"), (18, "same")]));
    project.accept();
    // The scenario was changed, and run on the default release alone: of the others nothing is known.
    project.run(&Run::from([(18, "other")]));
    project.accept();
    assert_eq!(
        project.shown(),
        "default.snap [18] other\ndefault@16.snap [16] old\n"
    );
    let observed = [
        (15, "other\n"),
        (16, "new\n"),
        (17, "other\n"),
        (18, "other\n"),
    ];
    let observed = observed.map(|(major, text)| Observed {
        release: release(major),
        text,
        redacted: &[],
    });
    let confirm = || {
        let scenario = Path::new(SCENARIO);
        let confirmed = project
            .store
            .confirm(scenario, "default", &[], &observed)
            .expect("written");
        let told = confirmed
            .into_iter()
            .map(|one| (name(&one.path), one.change));
        told.collect::<Vec<_>>()
    };
    assert_eq!(confirm(), [("default.snap".to_owned(), Change::Releases)]);
    assert_eq!(
        project.shown(),
        "default.snap [15 17 18] other\ndefault@16.snap [16] old\n"
    );
    assert_eq!(confirm(), []);
    project.check("after it was confirmed");
}

#[test]
fn releases_that_differ_share_a_variant() {
    insta::assert_snapshot!(story(&["13-14=b 15=a 16=b 17-18=a"]));
}

#[test]
fn a_variant_is_split_when_one_of_its_releases_changes() {
    insta::assert_snapshot!(story(&["13-15=b 16-18=a", "14=c", "13-15=c"]));
}

#[test]
fn a_variant_grows_and_goes_with_its_releases() {
    insta::assert_snapshot!(story(&["13=b 14-18=a", "14=b", "15-16=b", "13-16=a",]));
}

#[test]
fn the_base_changes_to_what_a_variant_says() {
    insta::assert_snapshot!(story(&["13-14=b 15-18=a", "13-18=b"]));
}

#[test]
fn only_the_newest_release_changes() {
    insta::assert_snapshot!(story(&["13-18=a", "13-17=a 18=b"]));
}

#[test]
fn a_changed_scenario_that_was_run_on_one_release_only() {
    insta::assert_snapshot!(story(&["13=c 14-18=a", "18=b", "13-18=b"]));
}

#[test]
fn an_old_release_goes_first() {
    insta::assert_snapshot!(story(&["14=a", "13=b", "18=c", "13-18=c"]));
}

#[test]
fn what_was_proposed_for_other_releases_stays_pending() {
    let project = Project::new();
    assert_eq!(project.run(&run("14=a")), ["default.snap.new"]);
    assert_eq!(
        project.run(&run("18=b")),
        ["default.snap.new", "default@14.snap.new"]
    );
    assert_eq!(
        project.run(&run("15=a")),
        ["default.snap.new", "default@14-15.snap.new"]
    );
    project.accept();
    insta::assert_snapshot!(project.shown(), @"
    default.snap [18] b
    default@14-15.snap [14 15] a
    ");
    // What behaves as accepted again is no longer proposed.
    assert_eq!(project.run(&run("14-15=c")), ["default@14-15.snap.new"]);
    assert_eq!(project.run(&run("14=a")), ["default@15.snap.new"]);
    assert!(project.run(&run("15=a")).is_empty());
    assert_eq!(project.files().len(), 2);
}

#[test]
fn a_release_newer_than_the_default_gets_the_variant() {
    let project = Project::new();
    project.run(&run("13-18=a"));
    project.accept();
    assert_eq!(project.run(&run("19=b")), ["default@19.snap.new"]);
    project.accept();
    insta::assert_snapshot!(project.shown(), @"
    default.snap [13 14 15 16 17 18] a
    default@19.snap [19] b
    ");
    // Once it is the default, its text is the base.
    let later = Project {
        store: project.store.clone().with_default(19),
        ..project
    };
    later.run(&run("13-18=a 19=c"));
    later.accept();
    insta::assert_snapshot!(later.shown(), @"
    default.snap [19] c
    default@13-18.snap [13 14 15 16 17 18] a
    ");
}

/// Numbers that are the same in each run of the tests.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Some releases, and what they give.
    fn run(&mut self) -> Run {
        let many = self.roll(3) > 0;
        let texts = 1 + self.roll(4);
        let mut run = Run::new();
        for major in MAJORS {
            if many || self.roll(3) == 0 {
                let text = ["a", "b", "c", "d"][usize::try_from(self.roll(texts)).unwrap()];
                run.insert(major, text);
            }
        }
        run
    }
}

#[test]
fn whatever_was_before_each_release_gets_its_text_in_the_fewest_files() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let project = Project::new();
        let mut told = format!("seed {seed}");
        for _ in 0..8 {
            let before = project.holding();
            let had_variant: BTreeSet<u32> = MAJORS
                .filter(|major| {
                    let base = project
                        .files()
                        .get("default.snap")
                        .map(|(_, text)| text.clone());
                    before.get(major) != base.as_ref()
                })
                .collect();
            let seen = dice.run();
            told += &format!("\n{}on {seen:?}: ", project.shown());
            let pending = project.run(&seen);
            told += &pending.join(" ");
            project.accept();
            project.check(&told);
            for (major, text) in &seen {
                let compared = project.compare(*major, text).unwrap();
                assert_eq!(compared, Comparison::Same, "{major} is not {text}: {told}");
            }
            let after = project.holding();
            for major in had_variant.iter().filter(|major| !seen.contains_key(major)) {
                assert_eq!(after.get(major), before.get(major), "{major}: {told}");
            }
            // Once more, and nothing is new.
            assert!(project.run(&seen).is_empty(), "{told}");
            assert!(project.accept().is_empty(), "{told}");
        }
    }
}

#[test]
fn a_first_run_gives_a_pending_file_for_each_text() {
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let seen = dice.run();
        let project = Project::new();
        let texts: BTreeSet<&&str> = seen.values().collect();
        assert_eq!(project.run(&seen).len(), texts.len(), "{seen:?}");
    }
}

#[test]
fn runs_one_after_the_other_propose_what_one_run_would() {
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let (one, other) = (Project::new(), Project::new());
        for project in [&one, &other] {
            project.run(&run("13=b 14-16=a 17=c 18=a"));
            project.accept();
        }
        let seen = dice.run();
        let at_once = one.run(&seen);
        let mut pending = Vec::new();
        for (major, text) in seen.iter().rev() {
            pending = other.run(&Run::from([(*major, *text)]));
        }
        // What passed is not remembered between runs, and need not be unless the base changes.
        if seen.get(&18).is_none_or(|text| *text == "a") {
            assert_eq!(at_once, pending, "{seen:?}");
            assert_eq!(one.files(), other.files(), "{seen:?}");
        }
    }
}

#[test]
fn what_insta_accepts_needs_no_more_than_further_runs() {
    let mut contradictions = 0;
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let project = Project::new();
        'runs: for _ in 0..6 {
            let seen = dice.run();
            let mut told = format!("seed {seed}\n{}on {seen:?}", project.shown());
            for round in 0.. {
                let compared = seen.keys().map(|major| project.compare(*major, ""));
                if compared
                    .into_iter()
                    .any(|compared| matches!(compared, Err(SnapshotErrorKind::Overlap { .. })))
                {
                    // It is told, and somebody has to decide.
                    contradictions += 1;
                    break 'runs;
                }
                let pending = project.run(&seen);
                told += &format!("\n{pending:?}");
                if pending.is_empty() {
                    break;
                }
                assert!(round < 3, "{told}\n{}", project.shown());
                project.accept_with_insta();
            }
            for (major, text) in &seen {
                let compared = project.compare(*major, text).unwrap();
                assert_eq!(compared, Comparison::Same, "{major}: {told}");
            }
        }
    }
    assert!(contradictions < 30, "{contradictions} of 60");
}
