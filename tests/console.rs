//! What a user sees of a run on the terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lockstep::cli::{ExitStatus, exit_status};
use lockstep::report::{Console, Cut, RunSummary, Verbosity, WhyCut, group, step_place};
use lockstep::runner::{CaseResult, Verdict};
use lockstep::scenario::{
    Action, Diagnostic, ReleaseComparison, ReleaseOperator, ReleaseRange, Reply, Role, Scenario,
    Sending, Session, SessionIndex, SourceFile, Span, Spanned, SqlText, Step, split,
};
use lockstep::server::Release;
use lockstep::snapshot::{Mode, Unused, WhyUnused};
use lockstep::transcript::{Answer, Event, EventKind, Transcript};

/// The file that all scenarios here are read from.
const YAML: &str = "\
title: Two workers
sessions: [A]
steps:
  - A: BEGIN;
  - say: Now the end.
  - A: COMMIT;
    id: a-commits
    label: commit → done
  - A: |
      SELECT 1
      FROM jobs;
";

fn span(text: &str) -> Span {
    let start = YAML.find(text).expect("in the file");
    Span {
        start,
        end: start + text.len(),
    }
}

fn sql_text(text: &str, span: Span) -> SqlText {
    SqlText {
        text: text.into(),
        span,
        origins: Vec::new(),
    }
}

fn scenario(path: &str) -> Arc<Scenario> {
    let statement = |text: &str, sql: &str| Step {
        span: span(text),
        action: Action::Send {
            session: SessionIndex(0),
            sending: Sending::Statements(sql_text(sql, span(text))),
            reply: Reply::Awaited,
        },
        role: Role::Ordered,
        id: None,
        label: None,
        note: None,
        expect: Vec::new(),
    };
    let commit = Step {
        id: Some(Spanned {
            value: "a-commits".into(),
            span: span("a-commits"),
        }),
        label: Some("commit → done".into()),
        ..statement("A: COMMIT;", "COMMIT;")
    };
    let say = Step {
        action: Action::Say("Now the end.".into()),
        ..statement("say: Now", "")
    };
    Arc::new(Scenario {
        source: SourceFile {
            path: path.into(),
            text: YAML.into(),
        },
        case: "default".into(),
        matrix: Vec::new(),
        title: "Two workers".into(),
        summary: None,
        tags: Vec::new(),
        differences: Vec::new(),
        postgres: ReleaseRange::default(),
        sources: Vec::new(),
        setup: Vec::new(),
        teardown: None,
        sessions: vec![Session {
            name: Spanned {
                value: "A".into(),
                span: span("[A]"),
            },
            title: None,
            isolation: None,
            settings: Vec::new(),
            setup: None,
            teardown: None,
            role: None,
        }],
        steps: vec![
            statement("A: BEGIN;", "BEGIN;"),
            say,
            commit,
            statement("A: |", "SELECT 1\nFROM jobs;"),
        ],
        claims: Vec::new(),
        limits: Vec::new(),
        timeout: None,
        own_server: None,
        schedules: None,
        carries_over: false,
        superuser: None,
        clock: None,
        redactions: Vec::new(),
    })
}

/// A transcript in which the steps 1 and 3 ran, and the second answered `tag`.
fn transcript(tag: &str) -> Transcript {
    let ran = |step: usize, sql: &str, tag: &str| {
        let session = SessionIndex(0);
        [
            EventKind::Sent {
                session,
                sending: Sending::Statements(sql_text(sql, Span { start: 0, end: 0 })),
            },
            EventKind::Answered {
                session: Some(session),
                part: 0,
                statement: split(sql).unwrap().remove(0),
                answers: vec![Answer::Command(tag.into())],
                status: None,
            },
        ]
        .map(|kind| Event {
            step,
            at: Duration::ZERO,
            kind,
        })
    };
    let mut events = Vec::new();
    events.extend(ran(0, "BEGIN;", "BEGIN"));
    events.extend(ran(2, "COMMIT;", tag));
    Transcript {
        sessions: vec!["A".into()],
        events,
        ..Transcript::default()
    }
}

fn diagnostic(message: &str) -> Diagnostic {
    Diagnostic {
        source: scenario("scenarios/x.yaml").source.clone(),
        message: message.into(),
        span: span("COMMIT"),
        label: String::new(),
        related: Vec::new(),
        help: None,
    }
}

fn result(path: &str, verdict: Verdict) -> CaseResult {
    CaseResult {
        scenario: scenario(path),
        case: "default".into(),
        release: Release {
            major: 18,
            minor: 6,
        },
        transcript: transcript("COMMIT"),
        verdict,
        elapsed: Duration::from_millis(12),
    }
}

fn differs(path: &str) -> CaseResult {
    let accepted = transcript("COMMIT").text().as_str().to_owned();
    CaseResult {
        transcript: transcript("ROLLBACK"),
        ..result(path, Verdict::Differs { accepted })
    }
}

/// One result of each verdict.
fn one_of_each() -> Vec<CaseResult> {
    let isolation = CaseResult {
        case: "isolation=read committed".into(),
        ..differs("scenarios/isolation.yaml")
    };
    vec![
        result("scenarios/queue/two-workers.yaml", Verdict::Pass),
        isolation,
        result(
            "scenarios/queue/lease.yaml",
            Verdict::Unmet(vec![
                diagnostic("1 row came, not 2"),
                diagnostic("no error came"),
            ]),
        ),
        result("lab/a new race.yaml", Verdict::New),
        result(
            "scenarios/stuck.yaml",
            Verdict::Invalid(diagnostic("nothing can free A")),
        ),
        CaseResult {
            transcript: Transcript::default(),
            ..result(
                "scenarios/lost.yaml",
                Verdict::Error("the server on \u{1b}[2Jport 5 went away".into()),
            )
        },
    ]
}

fn unused(path: &str, why: WhyUnused) -> Unused {
    let path = path.into();
    Unused { path, why }
}

/// The same on another release.
fn on(release: &str, result: CaseResult) -> CaseResult {
    CaseResult {
        release: release.parse().expect("a release"),
        ..result
    }
}

fn unserved(path: &str, release: &str) -> CaseResult {
    let reason = "failed to start PostgreSQL 14.23: no room\nhelp: make room";
    CaseResult {
        transcript: Transcript::default(),
        ..on(release, result(path, Verdict::Unserved(reason.into())))
    }
}

/// A run on three releases in which each mark appears.
fn on_three_releases() -> Vec<CaseResult> {
    let excluding = |result: CaseResult| {
        let mut scenario = (*result.scenario).clone();
        scenario.postgres = ReleaseRange {
            comparisons: vec![ReleaseComparison {
                operator: ReleaseOperator::GreaterOrEqual,
                bound: vec![15],
            }],
        };
        CaseResult {
            scenario: Arc::new(scenario),
            ..result
        }
    };
    let pass = |path: &str, release: &str| on(release, result(path, Verdict::Pass));
    let variant = |path: &str, release: &str| CaseResult {
        transcript: transcript("ROLLBACK"),
        ..pass(path, release)
    };
    let new = |path: &str, release: &str, tag: &str| CaseResult {
        transcript: transcript(tag),
        ..on(release, result(path, Verdict::New))
    };
    let long = "scenarios/isolation/serializable/read-only-deferrable/waits-for-safe-snapshot.yaml";
    vec![
        pass("scenarios/a.yaml", "13.23"),
        pass("scenarios/a.yaml", "14.23"),
        pass("scenarios/a.yaml", "18.6"),
        variant("scenarios/隔離.yaml", "13.23"),
        unserved("scenarios/隔離.yaml", "14.23"),
        pass("scenarios/隔離.yaml", "18.6"),
        on("13.23", differs(long)),
        unserved(long, "14.23"),
        pass(long, "18.6"),
        excluding(pass("scenarios/fifteen.yaml", "18.6")),
        new("scenarios/new.yaml", "13.23", "WARNING"),
        unserved("scenarios/new.yaml", "14.23"),
        new("scenarios/new.yaml", "18.6", "COMMIT"),
        new("scenarios/newer.yaml", "13.23", "COMMIT"),
        new("scenarios/newer.yaml", "14.23", "COMMIT"),
        new("scenarios/newer.yaml", "18.6", "COMMIT"),
        on(
            "13.23",
            result(
                "scenarios/unmet.yaml",
                Verdict::Unmet(vec![diagnostic("no row came")]),
            ),
        ),
        pass("scenarios/unmet.yaml", "18.6"),
        on(
            "18.6",
            result(
                "scenarios/corrupt.yaml",
                Verdict::Unreadable("snapshot `x.snap` has no header".into()),
            ),
        ),
    ]
}

struct Shown {
    color: bool,
    ascii: bool,
    verbosity: Verbosity,
    mode: Mode,
    pending: Vec<PathBuf>,
    unused: Vec<Unused>,
    are_removed: bool,
    cut: Option<Cut>,
}

const NORMAL: Shown = Shown {
    color: false,
    ascii: false,
    verbosity: Verbosity::Normal,
    mode: Mode::Propose,
    pending: Vec::new(),
    unused: Vec::new(),
    are_removed: false,
    cut: None,
};

impl Shown {
    /// The whole report.
    fn of(&self, results: &[CaseResult]) -> String {
        let diagnostics = |diagnostics: &[Diagnostic]| {
            diagnostics
                .iter()
                .map(|one| format!("error: {} [rendered]\n", one.message))
                .collect()
        };
        let console =
            Console::new(self.color, self.verbosity, self.mode, &diagnostics).ascii(self.ascii);
        let groups = group(results);
        let lines: String = groups
            .iter()
            .map(|group| console.line(group, groups.len()))
            .collect();
        let mut releases: Vec<Release> = results.iter().map(|result| result.release).collect();
        releases.sort();
        releases.dedup();
        let run = RunSummary {
            releases: &releases,
            results,
            elapsed: Duration::from_millis(1234),
            pending: &self.pending,
            unused: &self.unused,
            are_removed: self.are_removed,
            cut: self.cut,
        };
        lines + &console.conclusion(&run)
    }
}

#[test]
fn a_run_that_ended_early_says_what_it_left_out() {
    let results = [
        result("scenarios/a.yaml", Verdict::Pass),
        result("scenarios/b.yaml", Verdict::Unmet(Vec::new())),
    ];
    let summary = |cases, runs, why| {
        let cut = Some(Cut { cases, runs, why });
        let shown = Shown { cut, ..NORMAL }.of(&results);
        let mut lines = shown.lines();
        let line = lines.find(|line| line.contains("Summary"));
        line.expect("there is a summary").to_owned()
    };
    assert_eq!(
        [
            summary(5, 5, WhyCut::FailFast),
            summary(1, 9, WhyCut::Interrupted),
            summary(0, 1, WhyCut::Interrupted),
            summary(0, 8, WhyCut::FailFast),
        ],
        [
            " Summary [   1.234s] 7 cases: 1 passed, 1 unmet, 5 not run (--fail-fast)",
            " Summary [   1.234s] 3 cases: 1 passed, 1 unmet, 1 not run (interrupted)",
            " Summary [   1.234s] 2 cases: 1 passed, 1 unmet, 1 run left out (interrupted)",
            " Summary [   1.234s] 2 cases: 1 passed, 1 unmet, 8 runs left out (--fail-fast)",
        ]
    );
}

#[test]
fn the_one_case_of_a_matrix_that_failed_is_named() {
    let mut failed = result("scenarios/a.yaml", Verdict::Unmet(Vec::new()));
    let mut scenario = Scenario::clone(&failed.scenario);
    scenario.case = "read committed".into();
    scenario.matrix = vec![("isolation".into(), "read committed".into())];
    failed.case.clone_from(&scenario.case);
    failed.scenario = scenario.into();
    let of = |results: &[CaseResult]| {
        let shown = NORMAL.of(results);
        let line = shown.lines().find(|line| line.contains("lockstep show"));
        let (_, command) = line.expect("it is told").split_once(":").expect("a colon");
        command.trim().to_owned()
    };
    assert_eq!(
        of(&[failed.clone()]),
        "lockstep show --case 'read committed' scenarios/a.yaml"
    );
    let mut other = failed.clone();
    other.case = "serializable".into();
    assert_eq!(of(&[failed, other]), "lockstep show scenarios/a.yaml");
}

#[test]
fn what_is_pending_of_a_case_that_passed_can_be_accepted() {
    let results = [result("scenarios/a.yaml", Verdict::Pass)];
    let pending = vec![PathBuf::from("snapshots/a/default~2.snap.new")];
    insta::assert_snapshot!(Shown { pending, ..NORMAL }.of(&results));
}

#[test]
fn three_scenarios_that_pass() {
    let results = ["scenarios/a.yaml", "scenarios/b/c.yaml", "d.yaml"]
        .map(|path| result(path, Verdict::Pass));
    insta::assert_snapshot!(NORMAL.of(&results));
}

#[test]
fn each_verdict_is_explained() {
    let shown = Shown {
        pending: vec![
            "snapshots/isolation/isolation=read+committed.snap.new".into(),
            "lab/snapshots/a new race/default.snap.new".into(),
        ],
        unused: vec![
            unused("snapshots/gone/default.snap", WhyUnused::NoCase),
            unused("snapshots/lost/default@13.snap", WhyUnused::NoRelease),
            unused("snapshots/lost/default@14-15.snap", WhyUnused::Redundant),
        ],
        ..NORMAL
    };
    insta::assert_snapshot!(shown.of(&one_of_each()));
}

#[test]
fn colors_change_no_word() {
    for results in [one_of_each(), on_three_releases()] {
        let color = Shown {
            color: true,
            ..NORMAL
        }
        .of(&results);
        let plain = NORMAL.of(&results);
        assert!(color.contains("\u{1b}["));
        assert!(!plain.contains('\u{1b}'));
        assert_eq!(anstream::adapter::strip_str(&color).to_string(), plain);
    }
}

#[test]
fn in_ci_a_new_case_fails_and_says_what_to_do() {
    let shown = Shown {
        mode: Mode::ReadOnly,
        ..NORMAL
    };
    insta::assert_snapshot!(shown.of(&[result("lab/it's new.yaml", Verdict::New)]));
}

#[test]
fn a_thousand_cases_do_not_drown_the_few_that_matter() {
    let mut results: Vec<CaseResult> = (0..1000)
        .map(|number| result(&format!("scenarios/{number}.yaml"), Verdict::Pass))
        .collect();
    results[500] = differs("scenarios/queue/two-workers.yaml");
    insta::assert_snapshot!(NORMAL.of(&results));
    for (number, changed) in results.iter_mut().enumerate().take(100) {
        *changed = differs(&format!("scenarios/{number}.yaml"));
    }
    let shown = NORMAL.of(&results);
    assert!(shown.contains("and 81 more (-v shows all)"), "{shown}");
    assert_eq!(shown.matches("--- accepted").count(), 20);
    let verbose = Shown {
        verbosity: Verbosity::Verbose,
        ..NORMAL
    }
    .of(&results);
    assert_eq!(verbose.matches("--- accepted").count(), 101);
    assert_eq!(verbose.matches("    PASS ").count(), 899);
}

#[test]
fn repeated_runs_are_one_case() {
    let mut results: Vec<CaseResult> = (0..400)
        .map(|number| {
            let path = ["scenarios/steady.yaml", "scenarios/torn.yaml"][number % 2];
            result(path, Verdict::Pass)
        })
        .collect();
    for torn in [33, 51, 399] {
        results[torn] = differs("scenarios/torn.yaml");
    }
    results[399].transcript = transcript("WARNING");
    results[201] = result(
        "scenarios/torn.yaml",
        Verdict::Unmet(vec![diagnostic("no row came")]),
    );
    insta::assert_snapshot!(NORMAL.of(&results));
}

#[test]
fn several_releases_end_in_a_table() {
    insta::assert_snapshot!(NORMAL.of(&on_three_releases()));
}

#[test]
fn the_table_can_be_had_in_ascii() {
    let shown = Shown {
        ascii: true,
        ..NORMAL
    }
    .of(&on_three_releases());
    let table = shown.split("13.23  14.23  18.6").nth(1).unwrap();
    let table = table.split("Summary").next().unwrap();
    let rows = table.lines().filter(|row| !row.contains('隔'));
    let rows: String = rows.map(|row| format!("{}\n", row.trim_end())).collect();
    assert!(rows.is_ascii(), "{rows}");
    insta::assert_snapshot!(rows);
}

#[test]
fn a_table_of_hundreds_shows_where_releases_differ() {
    let mut results = Vec::new();
    for number in 0..400 {
        for release in ["17.10", "18.6"] {
            let passed = result(&format!("scenarios/{number}.yaml"), Verdict::Pass);
            results.push(on(release, passed));
        }
    }
    results[200].transcript = transcript("ROLLBACK");
    results[301] = on("18.6", differs("scenarios/150.yaml"));
    insta::assert_snapshot!(NORMAL.of(&results));
    for result in results.iter_mut().step_by(2) {
        result.transcript = transcript("ROLLBACK");
    }
    let shown = NORMAL.of(&results);
    assert!(
        shown.contains("\nand 300 cases more (-v shows all)\n"),
        "{shown}"
    );
    assert!(shown.lines().count() < 150, "{shown}");
}

#[test]
fn cases_without_a_server_are_told_once() {
    let results: Vec<CaseResult> = (0..100)
        .map(|number| unserved(&format!("scenarios/{number}.yaml"), "14.23"))
        .collect();
    insta::assert_snapshot!(NORMAL.of(&results), @"

    ERROR 100 cases were not run on 14.23
    failed to start PostgreSQL 14.23: no room
    help: make room

     Summary [   1.234s] 100 cases: 100 errors
    ");
}

#[test]
fn a_long_difference_is_cut_unless_all_is_asked_for() {
    let accepted: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let results = [result("scenarios/a.yaml", Verdict::Differs { accepted })];
    let normal = NORMAL.of(&results);
    assert!(
        normal.contains("more lines") && !normal.contains("line 199"),
        "{normal}"
    );
    let verbose = Shown {
        verbosity: Verbosity::Verbose,
        ..NORMAL
    }
    .of(&results);
    assert!(verbose.contains("-line 199\n"), "{verbose}");
}

#[test]
fn what_was_removed_is_named() {
    let shown = Shown {
        unused: vec![
            unused("snapshots/a/x.snap", WhyUnused::NoCase),
            unused("snapshots/a/y.snap", WhyUnused::NoCase),
        ],
        are_removed: true,
        ..NORMAL
    };
    insta::assert_snapshot!(shown.of(&[result("scenarios/a.yaml", Verdict::Pass)]), @"
        PASS [   0.012s] a (18.6)
     Summary [   1.234s] 1 case: 1 passed

    2 snapshots that nothing needs were removed:
      snapshots/a/x.snap
      snapshots/a/y.snap
    ");
}

#[test]
fn quiet_says_nothing_of_what_passed() {
    let quiet = Shown {
        verbosity: Verbosity::Quiet,
        ..NORMAL
    };
    assert_eq!(quiet.of(&[result("scenarios/a.yaml", Verdict::Pass)]), "");
    let shown = quiet.of(&one_of_each());
    assert!(
        !shown.contains("PASS") && shown.contains("--- accepted"),
        "{shown}"
    );
}

#[test]
fn a_step_is_found_by_number_name_and_line() {
    let scenario = scenario("scenarios/a.yaml");
    let places: Vec<String> = (0..5).map(|step| step_place(&scenario, step)).collect();
    insta::assert_snapshot!(places.join("\n"), @"
    step 1 (A> BEGIN;) at scenarios/a.yaml:4
    step 2 (say: Now the end.) at scenarios/a.yaml:5
    step 3 (a-commits, commit → done) at scenarios/a.yaml:6
    step 4 (A> SELECT 1…) at scenarios/a.yaml:9
    step 5 at scenarios/a.yaml
    ");
}

#[test]
fn the_exit_status_is_that_of_the_weightiest_verdict() {
    let of = |results: &[CaseResult]| exit_status(results).code();
    let each = one_of_each();
    assert_eq!(of(&[]), ExitStatus::NothingSelected.code());
    assert_eq!(of(&each[..1]), 0);
    for (result, code) in each.iter().zip([0, 1, 1, 1, 2, 3]) {
        assert_eq!(
            of(&[result.clone(), each[0].clone()]),
            code,
            "{}",
            result.scenario.source.path.display()
        );
    }
    assert_eq!(of(&each[..5]), 2);
    assert_eq!(of(&each), 3);
    assert_eq!(of(&[unserved("scenarios/a.yaml", "14.23")]), 3);
    let unreadable = Verdict::Unreadable("no header".into());
    assert_eq!(of(&[result("scenarios/a.yaml", unreadable)]), 2);
    assert_eq!(ExitStatus::NothingSelected.code(), 4);
}

#[test]
fn names_do_not_depend_on_the_form_of_the_path() {
    for path in [
        "scenarios/q/a.yaml",
        "./scenarios/q/a.yaml",
        "/home/x/scenarios/q/a.yml",
    ] {
        assert_eq!(lockstep::report::scenario_name(Path::new(path)), "q/a");
    }
}
