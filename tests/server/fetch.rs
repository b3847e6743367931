//! Fetching, with package clients that do what is wanted of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lockstep::server::embedded::{self, Environment, ServerErrorKind};
use lockstep::server::{Pin, Release};
use tempfile::TempDir;

use crate::bench::{environment, is_empty, open_folder, pin, start};

/// A pip that runs a shell script.
fn pip(script: &str) -> TempDir {
    let folder = open_folder(&std::env::temp_dir());
    let program = folder.path().join("pip");
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n");
    // Written by another process: while this one has it open for writing, a test beside this one
    // may fork, and then the script is "busy" for as long as that child has not begun.
    let written = Command::new("/bin/sh")
        .args([
            "-c",
            "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"",
            "sh",
            &text,
        ])
        .arg(&program)
        .status()
        .unwrap();
    assert!(written.success());
    folder
}

fn with_pip(pip: &TempDir, cache: &Path) -> Environment {
    Environment {
        cache: Some(cache.to_owned()),
        path: pip.path().into(),
        ..environment()
    }
}

/// A release that no machine has installed.
fn made_up() -> Pin {
    let mut pin = pin();
    pin.release = Release {
        major: 18,
        minor: 999,
    };
    pin
}

async fn fails(pin: &Pin, environment: &Environment) -> embedded::ServerError {
    embedded::start(pin, environment, &|_| {})
        .await
        .map(|_| ())
        .expect_err("it cannot be fetched")
}

/// Nothing but locks is in a cache.
fn keeps_nothing(cache: &Path) -> bool {
    fs::read_dir(cache)
        .unwrap()
        .all(|entry| entry.unwrap().file_name() == "locks")
}

#[tokio::test]
async fn a_wrong_checksum_is_refused_and_nothing_kept() {
    let cache = open_folder(&std::env::temp_dir());
    let pin = made_up();
    let package = pin.package.as_ref().expect("it has a package");
    let file = &package.file_for_this_platform().expect("there is one").file;
    let pip = pip(&format!(
        "while [ $# -gt 1 ]; do [ \"$1\" = --dest ] && echo evil >\"$2/{file}\"; shift; done"
    ));
    let error = fails(&pin, &with_pip(&pip, cache.path())).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::ChecksumDiffers { .. }),
        "{error:?}"
    );
    assert!(keeps_nothing(cache.path()));
}

#[tokio::test]
async fn what_the_client_says_when_it_fails_is_shown() {
    let cache = open_folder(&std::env::temp_dir());
    let pip = pip("echo 'ERROR: Temporary failure in name resolution' >&2; exit 1");
    let error = fails(&made_up(), &with_pip(&pip, cache.path())).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::Offline { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("name resolution"), "{error}");
    assert!(error.to_string().contains("download"), "{error}");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("servers fetch"))
    );
    assert!(keeps_nothing(cache.path()));
}

#[tokio::test]
async fn a_client_that_brings_another_file_is_refused() {
    let cache = open_folder(&std::env::temp_dir());
    let pip = pip("exit 0");
    let error = fails(&made_up(), &with_pip(&pip, cache.path())).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::OtherFile { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn without_a_client_it_says_what_to_install() {
    let cache = open_folder(&std::env::temp_dir());
    let nothing = open_folder(&std::env::temp_dir());
    assert!(is_empty(nothing.path()));
    let error = fails(&made_up(), &with_pip(&nothing, cache.path())).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::NoClient { .. }),
        "{error:?}"
    );
    assert!(error.help().is_some_and(|help| help.contains("pip")));
}

#[tokio::test]
async fn a_cache_that_cannot_be_made_is_told() {
    let folder = open_folder(&std::env::temp_dir());
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let environment = Environment {
        cache: Some(file.join("cache")),
        ..environment()
    };
    let error = fails(&made_up(), &environment).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::Cache { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("file/cache"), "{error}");
}

#[tokio::test]
async fn root_is_told_of_a_cache_the_servers_account_cannot_enter() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let closed = TempDir::new().unwrap();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let environment = Environment {
        cache: Some(closed.path().join("cache")),
        ..environment()
    };
    let error = fails(&made_up(), &environment).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::OutOfReach { .. }),
        "{error:?}"
    );
    assert!(is_empty(closed.path()));
}

#[tokio::test]
async fn programs_that_somebody_else_put_among_temporary_files_are_not_run() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let shared = open_folder(&std::env::temp_dir());
    let cache = shared.path().join("cache");
    fs::create_dir(&cache).unwrap();
    std::os::unix::fs::chown(&cache, Some(4321), None).unwrap();
    let environment = Environment {
        cache: Some(cache),
        ..environment()
    };
    let error = fails(&made_up(), &environment).await;
    assert!(error.to_string().contains("somebody else"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_first_runs_at_once_fetch_once() {
    let cache = open_folder(&std::env::temp_dir());
    let calls = cache.path().with_extension("calls");
    let real = environment();
    let pip = pip(&format!(
        "echo called >>'{}'\nPATH='{}' exec pip \"$@\"",
        calls.display(),
        real.path.to_string_lossy()
    ));
    let environment = with_pip(&pip, cache.path());
    let (one, other) = tokio::join!(start(&environment), start(&environment));
    assert_eq!(one.release(), other.release());
    // Not at all where this release is installed.
    let called = fs::read_to_string(&calls).unwrap_or_default();
    let _ = fs::remove_file(&calls);
    assert!(called.lines().count() <= 1, "{called}");
    let unfinished = fs::read_dir(cache.path()).unwrap().any(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.')
    });
    assert!(!unfinished);
    one.stop().await;
    other.stop().await;
}
