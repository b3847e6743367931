//! The program with a URL: what it prints, on success and on each kind of failure, is no secret.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use lockstep::server::Address;
use tokio::process::Command;

use crate::front::{Front, tls_file};
use crate::support::Server;

const PASSWORD: &str = "hunter2-sesame";

const SCENARIO: &str = "\
title: One row
sessions: [A]
steps:
  - A: SELECT current_setting('is_superuser') AS superuser;
    expect: { rows: [['off']] }
";

const DEADLOCK: &str = "\
title: A setting of the superuser's
sessions:
  A: { settings: { deadlock_timeout: 10ms } }
steps:
  - A: SELECT 1;
";

async fn lockstep(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args(arguments)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .env_remove("CI")
        .stdin(Stdio::null())
        .output()
        .await
        .expect("the program runs")
}

#[tokio::test]
async fn the_password_is_in_nothing_that_is_printed() {
    let server = Server::start().await;
    let own = server.endpoint();
    let admin = own.connect("postgres").await.unwrap();
    admin
        .batch_execute(&format!(
            "SET scram_iterations = 1;
             CREATE ROLE boss LOGIN SUPERUSER PASSWORD '{PASSWORD}';
             CREATE ROLE plain LOGIN CREATEDB PASSWORD '{PASSWORD}';
             CREATE ROLE nobody LOGIN PASSWORD '{PASSWORD}'"
        ))
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scenarios")).unwrap();
    fs::write(folder.path().join("scenarios/one.yaml"), SCENARIO).unwrap();
    fs::write(folder.path().join("deadlock.yaml"), DEADLOCK).unwrap();
    let Address::Unix { directory, port } = &own.address else {
        panic!("a socket")
    };
    let socket = format!("host={}&port={port}", directory.display());
    let encrypting = Front::open(own, Some("expired.crt")).await;
    let encrypting_port = encrypting.port;
    let plain = Front::open(own, None).await;
    let (plain_port, authority) = (plain.port, tls_file("authority.crt"));
    let authority = authority.display();
    let with = |user: &str, rest: &str| format!("postgres://{user}:{PASSWORD}@{rest}");

    // Arguments, exit code, and what is said among others.
    for (arguments, code, said) in [
        (
            vec![
                "run",
                "--accept",
                "--server",
                &with("boss", &format!("/?{socket}")),
            ],
            0,
            "1 ",
        ),
        (
            vec![
                "run",
                "-v",
                "--server",
                &with("plain", &format!("/?{socket}")),
            ],
            0,
            "`plain` itself",
        ),
        (
            vec![
                "show",
                "scenarios/one.yaml",
                "--server",
                &with("boss", &format!("localhost:{plain_port}/")),
            ],
            0,
            "off",
        ),
        (
            vec![
                "show",
                "deadlock.yaml",
                "--server",
                &with("boss", &format!("/?{socket}")),
            ],
            0,
            "SELECT 1",
        ),
        (
            vec![
                "show",
                "deadlock.yaml",
                "--server",
                &with("plain", &format!("/?{socket}")),
            ],
            2,
            "deadlock.yaml:3",
        ),
        (
            vec!["run", "--server", &with("nobody", &format!("/?{socket}"))],
            3,
            "ALTER ROLE \"nobody\" CREATEDB",
        ),
        (
            vec!["run", "--server", &with("stranger", &format!("/?{socket}"))],
            3,
            "authentication failed",
        ),
        (
            vec!["run", "--server", &with("boss", &format!("/none?{socket}"))],
            3,
            "does not exist",
        ),
        (
            vec![
                "run",
                "--pg",
                "17",
                "--server",
                &with("boss", &format!("/?{socket}")),
            ],
            2,
            "17 was asked for",
        ),
        (
            vec![
                "run",
                "--pg",
                "x",
                "--server",
                &with("boss", &format!("/?{socket}")),
            ],
            2,
            "exact release",
        ),
        (
            vec![
                "run",
                "--server",
                &with("boss", &format!("localhost:{plain_port}/?sslmode=require")),
            ],
            3,
            "sslmode=disable",
        ),
        (
            vec![
                "run",
                "--server",
                &with(
                    "boss",
                    &format!(
                        "localhost:{encrypting_port}/?sslmode=verify-full&sslrootcert={authority}"
                    ),
                ),
            ],
            3,
            "new certificate",
        ),
        (
            vec!["run", "--server", &with("boss", "localhost:1/")],
            3,
            "localhost:1",
        ),
        (
            vec!["run", "--server", &with("boss", "no-such-host.invalid/")],
            3,
            "no-such-host.invalid",
        ),
        (
            vec!["run", "--server", &with("boss", "h/?what=1")],
            2,
            "`what` is not supported",
        ),
        (
            vec!["run", "--server", &with("boss", "h:port/")],
            2,
            "1 to 65535",
        ),
        (vec!["run", "--server", &with("boss", "[::1/")], 2, "IPv6"),
        (
            vec!["run", "--server", &format!("postgres://boss:{PASSWORD}")],
            2,
            "URL",
        ),
        (
            vec!["run", "--server", &format!("mysql://boss:{PASSWORD}@h/")],
            2,
            "no server provider",
        ),
        (vec!["run", &with("boss", "h/")], 2, "postgres://…@h/"),
        (
            vec!["run", "--sever", &with("boss", "h/")],
            2,
            "unexpected argument",
        ),
    ] {
        let output = lockstep(folder.path(), &arguments, &[]).await;
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(!printed.contains("hunter2"), "{arguments:?}: {printed}");
        assert!(printed.contains(said), "{arguments:?}: {printed}");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
    }

    // Without a password on the command line, where other users of the machine see it.
    let server_option = format!("postgres:///postgres?{socket}");
    let arguments = ["run", "--server", &server_option];
    let user = ("PGUSER", "boss");
    let output = lockstep(folder.path(), &arguments, &[user, ("PGPASSWORD", PASSWORD)]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let file = folder.path().join("pass");
    fs::write(&file, format!("*:*:postgres:boss:{PASSWORD}\n")).unwrap();
    let file_name = file.display().to_string();
    let variables = [user, ("PGPASSFILE", file_name.as_str())];
    let open = lockstep(folder.path(), &arguments, &variables).await;
    assert_eq!(open.status.code(), Some(2), "{open:?}");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let private = lockstep(folder.path(), &arguments, &variables).await;
    assert_eq!(private.status.code(), Some(0), "{private:?}");

    // As psql has it.
    let psql = Command::new(server.psql())
        .args(["-XAtc", "SELECT current_user", &server_option])
        .envs(variables)
        .output()
        .await
        .expect("psql runs");
    assert_eq!(psql.stdout, b"boss\n", "{psql:?}");

    // Nor is it in what the run keeps.
    for entry in walk(folder.path()) {
        if entry != file {
            let text = fs::read_to_string(&entry).unwrap_or_default();
            assert!(!text.contains("hunter2"), "{}", entry.display());
        }
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}
