//! `lockstep servers`, and the options that say where a server comes from, as a user meets them.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const SCENARIO: &str = "title: A release\nsessions: [A]\nsteps:\n  - A: SHOW server_version_num;\n";

/// A folder to work in, with a scenario.
fn workplace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("release.yaml"), SCENARIO).unwrap();
    folder
}

fn lockstep(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command
        .args(arguments)
        .current_dir(directory)
        .env_remove("LOCKSTEP_CACHE");
    command
}

fn run(mut command: Command) -> (Output, String) {
    let output = command.output().unwrap();
    let text = [output.stdout.clone(), output.stderr.clone()].concat();
    (output, String::from_utf8(text).unwrap())
}

/// A `PATH` whose package clients say that there is no network.
fn offline() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for client in ["pip", "pip3", "python3", "python", "npm"] {
        let script =
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit\necho EAI_AGAIN >&2\nexit 1\n";
        let program = folder.path().join(client);
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn has_npm() -> bool {
    let version = Command::new("npm").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

#[test]
fn what_was_fetched_runs_without_a_network() {
    let folder = workplace();
    let releases = if has_npm() { "all" } else { "18" };
    let (output, text) = run(lockstep(folder.path(), &["servers", "fetch", releases]));
    assert!(output.status.success(), "{text}");
    let fetched: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("--"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(fetched.contains(&"18.6"), "{text}");

    let clients = offline();
    for release in fetched {
        let arguments = [
            "show",
            "release.yaml",
            "--server",
            "embedded",
            "--pg",
            release,
        ];
        let mut command = lockstep(folder.path(), &arguments);
        command.env("PATH", clients.path());
        let (output, text) = run(command);
        assert!(output.status.success(), "{text}");
        assert!(
            !text.contains("-- "),
            "something was fetched or made: {text}"
        );
        let (major, minor) = release.split_once('.').unwrap();
        let number = format!("{major}{minor:0>4}");
        assert!(text.contains(&number), "{text}");
    }
}

#[test]
fn offline_with_an_empty_cache_it_says_so_and_ends_with_3() {
    let folder = workplace();
    let clients = offline();
    let cache = open_cache();
    let mut command = lockstep(folder.path(), &["servers", "fetch", "16..17"]);
    command
        .env("PATH", clients.path())
        .env("LOCKSTEP_CACHE", cache.path());
    let (output, text) = run(command);
    // An installation on the machine would do.
    if !text.contains("failed to fetch") {
        return;
    }
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("failed to fetch PostgreSQL 17.10"), "{text}");
    assert!(text.contains("reaches nothing"), "{text}");
    assert!(
        text.contains("help: If this machine has no network"),
        "{text}"
    );
}

/// An empty cache that the account of root's servers can enter.
fn open_cache() -> TempDir {
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o755)).unwrap();
    cache
}

#[test]
fn the_list_shows_every_pin_and_the_cache() {
    let folder = workplace();
    let cache = open_cache();
    let mut command = lockstep(folder.path(), &["servers"]);
    command.env("LOCKSTEP_CACHE", cache.path());
    let (output, text) = run(command);
    assert!(output.status.success(), "{text}");
    for part in [
        "13.23",
        "14.23",
        "15.18",
        "16.14",
        "17.10",
        "18.6",
        "postgres:18.6",
        "pip",
        "npm",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(&*cache.path().to_string_lossy()), "{text}");
    assert!(fs::read_dir(cache.path()).unwrap().next().is_none());
}

#[test]
fn a_file_of_pins_in_the_current_folder_counts_and_its_use_is_told() {
    let folder = workplace();
    let pins = folder.path().join("lockstep-pins.yaml");
    fs::write(&pins, "releases:\n  - release: '17.9'\n").unwrap();
    let (output, text) = run(lockstep(folder.path(), &["servers"]));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("-- pins of lockstep-pins.yaml"), "{text}");
    assert!(text.contains("17.9") && !text.contains("17.10"), "{text}");
    assert!(text.contains("no package for this platform"), "{text}");

    // One that is named comes first.
    let other = folder.path().join("other.yaml");
    fs::write(&other, "releases: []\n").unwrap();
    let named = ["servers", "--pins", "other.yaml"];
    let (output, text) = run(lockstep(folder.path(), &named));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("17.10") && !text.contains("17.9"), "{text}");

    fs::write(&pins, "releases:\n  - relase: '17.9'\n").unwrap();
    for arguments in [&["servers"][..], &["show", "release.yaml"]] {
        let (output, text) = run(lockstep(folder.path(), arguments));
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("lockstep-pins.yaml"), "{text}");
        assert!(text.contains("relase"), "{text}");
    }
}

#[test]
fn prune_says_what_it_removed_and_how_much_room_that_made() {
    let folder = workplace();
    let cache = open_cache();
    let old = cache.path().join("servers/17.9-old");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("file"), vec![1; 3_000_000]).unwrap();
    for expected in [
        "1 folder removed from the cache, 3 MB freed",
        "0 folders removed",
    ] {
        let mut command = lockstep(folder.path(), &["servers", "prune"]);
        command.env("LOCKSTEP_CACHE", cache.path());
        let (output, text) = run(command);
        assert!(output.status.success(), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    assert!(!old.exists());
}

#[test]
fn a_release_that_is_not_pinned_is_a_mistake_on_the_command_line() {
    let folder = workplace();
    for (release, help) in [
        ("12", "pinned are: 13.23"),
        ("17.1", "pinned are: 13.23"),
        ("17..", "write `18`"),
        ("a..b", "write `18`"),
        ("new", "write `18`"),
    ] {
        let (output, text) = run(lockstep(folder.path(), &["servers", "fetch", release]));
        assert_eq!(output.status.code(), Some(2), "{release}: {text}");
        assert!(text.contains(help), "{release}: {text}");
    }
}

#[test]
fn with_a_local_build_the_release_is_that_of_the_folder() {
    let folder = workplace();
    let (output, text) = run(lockstep(folder.path(), &["servers", "fetch"]));
    assert!(output.status.success(), "{text}");
    let told = String::from_utf8(output.stdout).unwrap();
    let bin = PathBuf::from(told["18.6".len()..].trim());
    let local = format!("local:{}", bin.display());
    for pg in [&[][..], &["--pg", "18"], &["--pg", "18.6"]] {
        let arguments = [&["show", "release.yaml", "--server", &local], pg].concat();
        let (output, text) = run(lockstep(folder.path(), &arguments));
        assert!(output.status.success(), "{text}");
        assert!(text.contains("180006"), "{text}");
    }
    let arguments = ["show", "release.yaml", "--server", &local, "--pg", "17"];
    let (output, text) = run(lockstep(folder.path(), &arguments));
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("holds PostgreSQL 18.6, not 17"), "{text}");

    let arguments = ["show", "release.yaml", "--server", "local:/nowhere"];
    let (output, text) = run(lockstep(folder.path(), &arguments));
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("/nowhere"), "{text}");
}
