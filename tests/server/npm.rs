//! Fetching with npm, where npm does not do what is wanted of it.

use std::path::Path;

use lockstep::server::embedded::{Environment, ServerErrorKind};
use lockstep::server::{Client, Pin, Pins, Release};
use tempfile::TempDir;

use crate::bench::{client, environment, fails, is_empty, keeps_nothing, open_folder};

/// A release that npm brings and no machine has installed.
fn made_up() -> Pin {
    let mut pin = Pins::built_in().major(17).expect("17 is pinned").clone();
    pin.release = Release {
        major: 17,
        minor: 999,
    };
    pin
}

fn with(clients: &TempDir, cache: &Path) -> Environment {
    Environment {
        cache: Some(cache.to_owned()),
        path: clients.path().into(),
        ..environment()
    }
}

#[tokio::test]
async fn it_is_asked_for_exactly_the_pinned_file_and_may_run_no_script() {
    let cache = open_folder(&std::env::temp_dir());
    let npm = client("npm", "echo \"asked: $*\"; exit 1");
    let pin = made_up();
    let error = fails(&pin, &with(&npm, cache.path())).await.to_string();
    let package = pin.package.expect("it has a package");
    let file = package.file_for_this_platform().expect("there is one");
    let wanted = format!("pack {}/{}@{}", package.name, file.tag, package.version);
    assert!(error.contains(&format!("asked: {wanted}")), "{error}");
    assert!(error.contains("--ignore-scripts"), "{error}");
}

#[tokio::test]
async fn a_file_with_another_checksum_is_refused_and_nothing_kept() {
    let cache = open_folder(&std::env::temp_dir());
    let pin = made_up();
    let package = pin.package.as_ref().expect("it has a package");
    let file = &package.file_for_this_platform().expect("there is one").file;
    let npm = client(
        "npm",
        &format!("for folder; do :; done; echo evil >\"$folder/{file}\""),
    );
    let error = fails(&pin, &with(&npm, cache.path())).await;
    assert!(
        matches!(error.kind(), ServerErrorKind::ChecksumDiffers { .. }),
        "{error:?}"
    );
    assert!(keeps_nothing(cache.path()));
}

#[tokio::test]
async fn without_npm_it_says_what_to_install_or_to_use_instead() {
    let cache = open_folder(&std::env::temp_dir());
    let nothing = open_folder(&std::env::temp_dir());
    assert!(is_empty(nothing.path()));
    let error = fails(&made_up(), &with(&nothing, cache.path())).await;
    assert!(
        matches!(
            error.kind(),
            ServerErrorKind::NoClient {
                client: Client::Npm,
                ..
            }
        ),
        "{error:?}"
    );
    let help = error.help().expect("it can be helped");
    assert!(help.contains("npm 7"), "{help}");
    assert!(help.contains("--server local:DIR"), "{help}");
}

#[tokio::test]
async fn no_network_and_no_such_package_are_told_apart() {
    for (said, is_offline) in [
        ("npm error code EAI_AGAIN", true),
        ("npm error code ENOTFOUND", true),
        ("npm error code E404", false),
        ("npm error code ETARGET", false),
    ] {
        let cache = open_folder(&std::env::temp_dir());
        let npm = client("npm", &format!("echo '{said}' >&2; exit 1"));
        let error = fails(&made_up(), &with(&npm, cache.path())).await;
        let told = match error.kind() {
            ServerErrorKind::Offline { .. } => true,
            ServerErrorKind::PackageGone { .. } => false,
            _ => panic!("{error:?}"),
        };
        assert_eq!(told, is_offline, "{error}");
        assert!(error.to_string().contains(said), "{error}");
        let help = error.help().expect("it can be helped");
        let way = if is_offline {
            "servers fetch"
        } else {
            "lockstep-pins.yaml"
        };
        assert!(help.contains(way), "{help}");
        assert!(keeps_nothing(cache.path()));
    }
}
