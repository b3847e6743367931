//! What the tests have in common.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lockstep::server::embedded::{self, Environment, Server, ServerError};
use lockstep::server::{Address, Endpoint, Pin, Pins};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

/// No condition takes this long unless something is broken.
pub const LIMIT: Duration = Duration::from_secs(30);

/// The environment of the user who runs the tests.
pub fn environment() -> Environment {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    Environment {
        cache: variable("LOCKSTEP_TEST_CACHE"),
        xdg_cache_home: variable("XDG_CACHE_HOME"),
        home: variable("HOME"),
        path: std::env::var_os("PATH").unwrap_or_default(),
        temp: std::env::temp_dir(),
        servers: None,
    }
}

pub fn pin() -> Pin {
    Pins::built_in().major(18).expect("18 is pinned").clone()
}

/// A folder for servers that other tests do not use, so that it can be seen what is left.
pub fn base() -> TempDir {
    let memory = Path::new("/dev/shm");
    let temp = std::env::temp_dir();
    open_folder(if memory.is_dir() { memory } else { &temp })
}

/// A fresh folder that everybody may write to: as root, another account runs the server.
pub fn open_folder(parent: &Path) -> TempDir {
    let folder = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .expect("a folder can be made");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).expect("it is ours");
    folder
}

pub fn environment_in(base: &TempDir) -> Environment {
    Environment {
        servers: Some(base.path().to_owned()),
        ..environment()
    }
}

pub async fn start(environment: &Environment) -> Server {
    embedded::start(&pin(), environment, &|_| {})
        .await
        .unwrap_or_else(|error| panic!("failed to start: {error}"))
}

pub async fn connect(endpoint: &Endpoint, database: &str) -> Client {
    try_connect(endpoint, database)
        .await
        .unwrap_or_else(|error| panic!("failed to connect: {error:?}"))
}

pub async fn try_connect(
    endpoint: &Endpoint,
    database: &str,
) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = endpoint.config(database).connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// The one value a query gives, as text.
pub async fn ask(client: &Client, sql: &str) -> String {
    client
        .query_one(&format!("SELECT ({sql})::text"), &[])
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"))
        .get(0)
}

pub fn folder_of(endpoint: &Endpoint) -> PathBuf {
    match &endpoint.address {
        Address::Unix { directory, .. } => directory.clone(),
        Address::Tcp { .. } => panic!("an embedded server listens on a Unix socket only"),
    }
}

/// The processes that work for the server in a folder, its keeper among them.
pub fn processes_of(folder: &Path) -> Vec<u32> {
    let name = folder.to_string_lossy().into_owned();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let entry = PathBuf::from(format!("/proc/{pid}"));
            let works_there =
                fs::read_link(entry.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
            works_there
                || fs::read(entry.join("cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&name))
        })
        .collect()
}

/// The process of the server in a folder that accepts connections.
pub fn postmaster_of(folder: &Path) -> u32 {
    fs::read_to_string(folder.join("data/postmaster.pid"))
        .expect("the server runs")
        .lines()
        .next()
        .and_then(|line| line.parse().ok())
        .expect("its first line is a process")
}

pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with a program, such as a package client, that tells a version and runs a shell script
/// for all else.
pub fn client(name: &str, script: &str) -> TempDir {
    let folder = open_folder(&std::env::temp_dir());
    let script = format!("[ \"$1\" = --version ] && echo 9.9 && exit 0\n{script}");
    write_program(&folder.path().join(name), &script);
    folder
}

/// Makes a program of a shell script.
///
/// It is written by another process: while this one has it open for writing, a test beside this one
/// may fork, and then the script is "busy" for as long as that child has not begun.
pub fn write_program(path: &Path, script: &str) {
    let written = Command::new("/bin/sh")
        .args([
            "-c",
            "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"",
            "sh",
            script,
        ])
        .arg(path)
        .status()
        .expect("there is a shell");
    assert!(written.success());
}

/// Why a release cannot be fetched.
pub async fn fails(pin: &Pin, environment: &Environment) -> ServerError {
    embedded::start(pin, environment, &|_| {})
        .await
        .map(|_| ())
        .expect_err("it cannot be fetched")
}

/// Whether nothing but locks is in a cache.
pub fn keeps_nothing(cache: &Path) -> bool {
    fs::read_dir(cache)
        .expect("it is there")
        .flatten()
        .all(|entry| entry.file_name() == "locks")
}
