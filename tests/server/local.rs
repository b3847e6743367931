//! Builds of PostgreSQL that the user names by their folder.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep::server::embedded::{self, Environment, Progress};
use lockstep::server::{Local, LocalError, Pin, Provider, Release, Server, StartError};
use tempfile::TempDir;

use crate::bench::{
    ask, base, client, connect, environment, environment_in, open_folder, pin, write_program,
};

/// The folder of real programs.
async fn programs() -> PathBuf {
    embedded::fetch(&pin(), &environment(), &|_| {})
        .await
        .unwrap_or_else(|error| panic!("failed to fetch: {error}"))
}

/// A folder of programs that tell a version, and do nothing else.
fn telling(version: &str) -> TempDir {
    let folder = client("initdb", "exit 1");
    let postgres = format!("echo 'postgres (PostgreSQL) {version}'");
    write_program(&folder.path().join("postgres"), &postgres);
    folder
}

/// A script that becomes a real program.
fn calling(bin: &Path, name: &str) -> String {
    format!("exec '{}' \"$@\"", bin.join(name).display())
}

async fn start(
    directory: PathBuf,
    release: Release,
    environment: &Environment,
) -> Result<Server, StartError> {
    let provider = Provider::Local(directory);
    let environment = environment.clone().into();
    lockstep::server::start(&provider, &Pin::of(release), &environment, &|_| {}).await
}

#[tokio::test]
async fn a_build_runs_from_its_folder_or_the_one_above() {
    let bin = programs().await;
    let base = base();
    let above = bin.parent().unwrap().to_owned();
    for directory in [bin.clone(), above] {
        let local = Local::find(&directory).await.unwrap();
        assert_eq!(local.release(), pin().release);
        assert_eq!(local.version(), pin().release.to_string());
        let server = start(directory, local.release(), &environment_in(&base))
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(server.release(), pin().release);
        let client = connect(server.endpoint(), "postgres").await;
        assert_eq!(ask(&client, "current_setting('fsync')").await, "off");
        server.stop().await.expect("nothing is left on it");
    }
}

#[tokio::test]
async fn another_build_in_the_same_folder_has_a_cluster_of_its_own() {
    let bin = programs().await;
    let base = base();
    let cache = open_folder(&std::env::temp_dir());
    // The build: programs that call the real ones.
    let build = client("initdb", &calling(&bin, "initdb"));
    write_program(&build.path().join("postgres"), &calling(&bin, "postgres"));
    let environment = Environment {
        cache: Some(cache.path().to_owned()),
        ..environment_in(&base)
    };
    let made = std::sync::Mutex::new(0);
    let report = |progress| {
        if matches!(progress, Progress::MakingCluster(_)) {
            *made.lock().unwrap() += 1;
        }
    };
    for expected in [1, 1, 2] {
        if expected == 2 {
            // As after `make install`.
            let postgres = fs::File::open(build.path().join("postgres")).unwrap();
            postgres.set_modified(std::time::SystemTime::now()).unwrap();
        }
        embedded::start_installed(pin().release, build.path(), &environment, &[], &report)
            .await
            .unwrap_or_else(|error| panic!("{error}"))
            .stop()
            .await;
        assert_eq!(*made.lock().unwrap(), expected);
    }
}

#[tokio::test]
async fn versions_under_development_have_a_release_to_count_as() {
    for (version, release) in [("19devel", "19.0"), ("18beta1 (Debian 18~beta1-1)", "18.0")] {
        let folder = telling(version);
        let local = Local::find(folder.path()).await.unwrap();
        assert_eq!(local.release().to_string(), release);
        let word = version.split(' ').next().unwrap();
        assert_eq!(local.version(), word);
        for agrees in [word, release, &release[..2]] {
            assert_eq!(local.must_be_named(agrees), Ok(()));
        }
        let error = local.must_be_named("17").unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.help().unwrap().contains("--pg"), "{error}");
    }
}

#[tokio::test]
async fn a_folder_that_is_not_what_was_asked_for_is_told() {
    let nothing = open_folder(&std::env::temp_dir());
    let error = Local::find(nothing.path()).await.unwrap_err();
    assert!(matches!(error, LocalError::NoPrograms(_)), "{error}");

    let strange = telling("of another kind");
    let error = Local::find(strange.path()).await.unwrap_err();
    assert!(matches!(error, LocalError::NoVersion { .. }), "{error}");

    let folder = telling("18.6");
    let wanted = Release {
        major: 18,
        minor: 5,
    };
    let error = start(folder.path().to_owned(), wanted, &environment())
        .await
        .map(|_| ())
        .unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with("holds PostgreSQL 18.6, not 18.5"), "{text}");
}
