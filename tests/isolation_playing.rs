//! Specs that are played: what isolationtester prints to the byte, and trouble that is told.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep::isolation::{self, Expected, PlayOptions, Spec, SpecEnd, beside};
use lockstep::runner::Trouble;
use lockstep::scenario::{self, RenderStyle, SourceFile};
use lockstep::server;
use tokio::sync::mpsc::unbounded_channel;

/// Specs that are no part of the project.
const CONFORMANCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/isolation/specs");

fn specs(paths: &[PathBuf]) -> Vec<Arc<Spec>> {
    let specs: Vec<_> = paths
        .iter()
        .map(|path| {
            let source = scenario::read(path).expect("it can be read");
            Arc::new(isolation::parse(&source).expect("it holds no mistake"))
        })
        .collect();
    assert!(!specs.is_empty());
    specs
}

fn found(folder: &str) -> Vec<Arc<Spec>> {
    specs(&isolation::discover(&[folder]).expect("the folder is there"))
}

async fn play(
    specs: &[Arc<Spec>],
    server: &server::Server,
    jobs: usize,
    superuser: bool,
) -> Vec<SpecEnd> {
    let (tell, mut ends) = unbounded_channel();
    let options = PlayOptions {
        jobs,
        limit: Duration::from_secs(60),
        superuser,
        fail_fast: false,
    };
    isolation::run(specs.to_vec(), server, options, tell)
        .await
        .expect("the server does its part");
    let mut all = Vec::new();
    while let Some(end) = ends.recv().await {
        all.push(end);
    }
    all.sort_by_key(|end| end.at);
    assert_eq!(all.len(), specs.len());
    all
}

fn rendered(trouble: Option<&Trouble>) -> String {
    match trouble {
        None => "none\n".to_owned(),
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            scenario::render(std::slice::from_ref(diagnostic), RenderStyle::plain())
        }
        Some(other) => format!("{other:?}\n"),
    }
}

fn assert_is_as_expected(spec: &Spec, end: &SpecEnd) {
    let expected = Expected::read(&beside(&spec.source.path), &spec.name());
    let expected = expected.expect("it can be read");
    assert!(
        expected.holds(&end.played.output),
        "{}:\n{}",
        spec.name(),
        expected
            .nearest(&end.played.output)
            .map_or_else(|| end.played.output.clone(), |(_, diff)| diff.to_string())
    );
    assert_eq!(rendered(end.played.trouble.as_ref()), "none\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spec_prints_what_isolationtester_prints() {
    let server = support::Server::start().await.into_running();
    let mut specs = found("tests/data/isolation/ok");
    // Converted these give something else: no schedule of a scenario sees what another has left.
    specs.extend(found("tests/data/isolation/left-open"));
    for end in play(&specs, &server, 2, false).await {
        assert_is_as_expected(&specs[end.at], &end);
    }
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spec_sees_nothing_of_the_one_before() {
    let server = support::Server::start().await.into_running();
    let found = found("tests/data/isolation/traces/specs");
    let (leaving, looking): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|spec| spec.name().starts_with("leaves"));
    let specs: Vec<_> = leaving
        .iter()
        .flat_map(|leaving| std::iter::once(leaving).chain(&looking).cloned())
        .collect();
    // One after the other, so that each could be played where the one before was.
    for end in play(&specs, &server, 1, false).await {
        assert_is_as_expected(&specs[end.at], &end);
    }
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_gives_what_it_gives_alone() {
    let server = support::Server::start().await.into_running();
    for path in isolation::discover(&["tests/data/isolation/schedules"]).expect("it is there") {
        let source = scenario::read(&path).expect("it can be read");
        let (rest, schedules): (Vec<_>, Vec<_>) = source
            .text
            .lines()
            .partition(|line| !line.starts_with("permutation"));
        let with = |schedules: &[&str]| {
            let text = format!("{}\n{}\n", rest.join("\n"), schedules.join("\n"));
            let source = SourceFile {
                path: path.clone(),
                text: text.into(),
            };
            Arc::new(isolation::parse(&source).expect("it holds no mistake"))
        };
        let mut specs = vec![with(&schedules)];
        specs.extend(schedules.iter().map(|schedule| with(&[*schedule])));
        let ends = play(&specs, &server, 1, false).await;
        for end in &ends {
            assert_eq!(rendered(end.played.trouble.as_ref()), "none\n");
        }
        let played = |end: &SpecEnd| {
            let output = &end.played.output;
            let first = output
                .find("\nstarting permutation")
                .expect("one was played");
            output[first..].to_owned()
        };
        let alone: String = ends[1..].iter().map(played).collect();
        assert_eq!(played(&ends[0]), alone, "{}", path.display());
    }
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_is_told_at_once_and_hurts_nobody_else() {
    let server = support::Server::start().await.into_running();
    let mut paths = isolation::discover(&["tests/data/isolation/trouble"]).expect("it is there");
    paths.retain(|path| !path.ends_with("takes-too-long.spec"));
    let specs = specs(&paths);
    let began = Instant::now();
    // One after the other, so that each comes after one that failed.
    for end in play(&specs, &server, 1, false).await {
        let shown = format!(
            "{}\ntrouble: {}",
            end.played.output,
            rendered(end.played.trouble.as_ref())
        );
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/isolation/trouble", omit_expression => true }, {
            insta::assert_snapshot!(specs[end.at].name(), shown);
        });
    }
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "what can never go on is not waited for"
    );
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_takes_too_long_is_cancelled_and_told() {
    let server = support::Server::start().await.into_running();
    let specs = specs(&["tests/data/isolation/trouble/takes-too-long.spec".into()]);
    let (tell, mut ends) = unbounded_channel();
    let options = PlayOptions {
        jobs: 1,
        limit: Duration::from_secs(1),
        superuser: false,
        fail_fast: false,
    };
    isolation::run(specs, &server, options, tell)
        .await
        .expect("the server does its part");
    let end = ends.recv().await.expect("it has ended");
    assert_eq!(
        end.played.output,
        "Parsed test spec with 1 sessions\n\
         \n\
         starting permutation: sleeps look\n\
         isolationtester: canceling step sleeps after 1 seconds\n\
         step sleeps: SELECT pg_sleep(60);\n\
         ERROR:  canceling statement due to user request\n\
         step look: SELECT 1 AS n;\n\
         n\n\
         -\n\
         1\n\
         (1 row)\n\
         \n"
    );
    assert!(rendered(end.played.trouble.as_ref()).contains("took longer than its time limit"));
    server.stop().await.expect("nothing is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_specs_print_what_is_expected_alone_and_side_by_side() {
    if !Path::new(CONFORMANCE).is_dir() {
        eprintln!("skipped: there is no {CONFORMANCE}");
        return;
    }
    let server = support::Server::start().await.into_running();
    let specs = found(CONFORMANCE);
    for jobs in [1, 8] {
        for end in play(&specs, &server, jobs, true).await {
            let spec = &specs[end.at];
            let expected = Expected::read(&beside(&spec.source.path), &spec.name());
            let expected = expected.expect("it can be read");
            if let Some((_, diff)) = expected.nearest(&end.played.output)
                && !expected.holds(&end.played.output)
            {
                panic!("{} with {jobs} side by side:\n{diff}", spec.name());
            }
        }
    }
    server.stop().await.expect("nothing is left");
}
