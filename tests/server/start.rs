//! What a started server is.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use lockstep::server::{Databases, Reach, embedded};

use crate::bench::{
    ask, base, connect, environment_in, folder_of, pin, postmaster_of, start, try_connect,
};

#[tokio::test]
async fn it_is_the_pinned_release_with_the_settings_every_server_has() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let client = connect(server.endpoint(), "postgres").await;

    let version = ask(
        &client,
        "split_part(current_setting('server_version'), ' ', 1)",
    )
    .await;
    assert_eq!(version, pin().release.to_string());
    for (name, value) in [
        ("autovacuum", "off"),
        ("jit", "off"),
        ("fsync", "off"),
        ("synchronous_commit", "local"),
        ("full_page_writes", "off"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("DateStyle", "ISO, MDY"),
        ("lc_messages", "C"),
        ("listen_addresses", ""),
    ] {
        let shown = ask(&client, &format!("current_setting('{name}')")).await;
        assert_eq!(shown, value, "{name}");
    }
    let prepared = ask(&client, "current_setting('max_prepared_transactions')").await;
    assert_ne!(prepared, "0");
    let locale = "SELECT datcollate FROM pg_database WHERE datname = 'template0'";
    assert_eq!(ask(&client, locale).await, "C");
    server.stop().await;
}

#[tokio::test]
async fn nobody_else_can_reach_it() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let folder = folder_of(server.endpoint());

    let mode = |path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(folder.clone()), 0o700);
    assert_eq!(mode(folder.join("data")), 0o700);
    assert_eq!(mode(folder.join("log")), 0o600);

    if cfg!(target_os = "linux") {
        let postmaster = postmaster_of(&folder);
        let tcp: String = ["tcp", "tcp6"]
            .iter()
            .filter_map(|table| fs::read_to_string(format!("/proc/{postmaster}/net/{table}")).ok())
            .collect();
        for file in fs::read_dir(format!("/proc/{postmaster}/fd")).expect("it runs") {
            let target = fs::read_link(file.expect("it runs").path()).unwrap_or_default();
            let target = target.to_string_lossy();
            if let Some(inode) = target.strip_prefix("socket:[") {
                let inode = format!(" {} ", inode.trim_end_matches(']'));
                assert!(!tcp.contains(&inode), "it listens on TCP");
            }
        }
        // As root, the run has an account that nobody else has, without further groups.
        let status = fs::read_to_string(format!("/proc/{postmaster}/status")).expect("it runs");
        let groups = status.lines().find(|line| line.starts_with("Groups:"));
        if fs::metadata("/proc/self").expect("we run").uid() == 0 {
            assert_eq!(groups.map(|line| line["Groups:".len()..].trim()), Some(""));
            assert_ne!(fs::metadata(&folder).expect("it is there").uid(), 0);
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn from_another_account_it_cannot_be_connected_to() {
    use std::os::unix::process::CommandExt;

    if !rustix::process::geteuid().is_root() {
        // Only root can be somebody else.
        return;
    }
    let base = base();
    let environment = environment_in(&base);
    let programs = embedded::fetch(&pin(), &environment, &|_| {})
        .await
        .expect("it is there");
    let server = start(&environment).await;
    let folder = folder_of(server.endpoint());
    // Even who has learnt the password does not reach the socket.
    let psql = |uid: u32| {
        std::process::Command::new(programs.join("psql"))
            .uid(uid)
            .gid(uid)
            .current_dir("/")
            .env_clear()
            .env("PGPASSWORD", &server.endpoint().password)
            .args(["-X", "-h"])
            .arg(&folder)
            .args(["-U", &server.endpoint().user, "-d", "postgres"])
            .args(["-c", "SELECT 1"])
            .output()
            .expect("it can be run")
    };
    for uid in [65534, 1000, 0x6C6F_0000] {
        let output = psql(uid);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{uid}");
        assert!(said.contains("Permission denied"), "{uid}: {said}");
    }
    assert!(psql(0).status.success(), "root itself gets in");
    server.stop().await;
}

#[tokio::test]
async fn passwords_are_of_the_run_and_of_the_role() {
    let base = base();
    let environment = environment_in(&base);
    let (one, other) = tokio::join!(start(&environment), start(&environment));
    assert_ne!(one.endpoint().password, other.endpoint().password);
    assert_ne!(one.endpoint().password, one.scripted_endpoint().password);

    for wrong in [
        &other.endpoint().password,
        &one.scripted_endpoint().password,
        "of-the-template",
    ] {
        let mut endpoint = one.endpoint().clone();
        wrong.clone_into(&mut endpoint.password);
        let error = try_connect(&endpoint, "postgres")
            .await
            .expect_err("refused");
        assert_eq!(error.code().map(|code| code.code()), Some("28P01"));
    }
    let shown = format!("{one:?}");
    assert!(!shown.contains(&one.endpoint().password), "{shown}");
    assert!(
        !shown.contains(&one.scripted_endpoint().password),
        "{shown}"
    );
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn what_a_scenario_brings_cannot_leave_its_database() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let scripted = server.scripted_endpoint();
    let databases = Databases::connect(server.endpoint(), scripted, Reach::Database)
        .await
        .expect("the superuser gets in");
    let database = databases.create().await.expect("it can create");
    let role = &database.role;
    let client = connect(role, &database.name).await;

    let flags = "SELECT concat(rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls)
                 FROM pg_roles WHERE rolname = current_user";
    assert_eq!(ask(&client, flags).await, "fffff");
    let memberships = "SELECT string_agg(r.rolname, ',') FROM pg_auth_members m
                       JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = current_user::regrole";
    assert_eq!(ask(&client, memberships).await, "lockstep");
    let memberships = memberships.replace("current_user", "'lockstep'");
    assert_eq!(ask(&client, &memberships).await, "pg_monitor");

    let refused = "42501";
    for sql in [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/lockstep-leak'",
        "CREATE TABLE t (x text); COPY t FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_read_binary_file('postgresql.conf')",
        "SELECT pg_ls_dir('/')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(lo_create(0), '/tmp/lockstep-leak')",
        "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/libc.so.6', 'getpid'",
        "CREATE FUNCTION f() RETURNS int LANGUAGE internal AS 'pg_backend_pid'",
        "ALTER SYSTEM SET archive_command = 'true'",
        "SET session_preload_libraries = 'x'",
        "SET ROLE lockstep_admin",
        "SET SESSION AUTHORIZATION lockstep_admin",
        "ALTER ROLE lockstep SUPERUSER",
        "ALTER ROLE CURRENT_USER CREATEROLE",
        "ALTER ROLE lockstep_admin PASSWORD 'x'",
        "GRANT pg_execute_server_program TO lockstep",
        "CREATE ROLE r",
        "CREATE DATABASE d",
        "SELECT rolpassword FROM pg_authid",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'lockstep_admin'",
    ] {
        let error = client.batch_execute(sql).await.expect_err(sql);
        assert_eq!(
            error.code().map(|code| code.code()),
            Some(refused),
            "{sql}: {error:?}"
        );
    }

    // It owns its database and sees whom it waits for.
    client
        .batch_execute(
            "CREATE TABLE jobs (id int); CREATE SCHEMA s; SELECT * FROM pg_stat_activity",
        )
        .await
        .expect("this is what scenarios do");
    let seen = "SELECT string_agg(query, ' ') FROM pg_stat_activity";
    let seen = ask(&client, seen).await;
    assert!(!seen.contains(&role.password), "{seen}");
    assert!(!seen.contains(&server.endpoint().password), "{seen}");
    server.stop().await;
}
