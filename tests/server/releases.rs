//! The other pinned releases: they start, side by side, and are alike where they should be.

use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};

use lockstep::server::embedded::{self, Environment, Progress, Server, ServerErrorKind};
use lockstep::server::{Pin, Pins, Release};

use crate::bench::{ask, base, connect, environment_in, open_folder};

/// The pins whose programs are in the cache now, fetched into it where they were not. A machine
/// without npm has fewer.
async fn at_hand(environment: &Environment) -> Vec<&'static Pin> {
    let mut pins = Vec::new();
    for pin in Pins::built_in().iter() {
        match embedded::prepare(pin, environment, &|progress| eprintln!("{progress}")).await {
            Ok(_) => pins.push(pin),
            Err(error) if matches!(error.kind(), ServerErrorKind::NoClient { .. }) => {
                eprintln!("left out: {error}");
            }
            Err(error) => panic!("failed to fetch {}: {error}", pin.release),
        }
    }
    assert!(!pins.is_empty());
    pins
}

/// Starts servers of all pins at once.
async fn start_all(pins: &[&'static Pin], environment: &Environment) -> Vec<Server> {
    let starts: Vec<_> = pins
        .iter()
        .map(|pin| {
            let (pin, environment) = (*pin, environment.clone());
            tokio::spawn(async move {
                embedded::start(pin, &environment, &|_| {})
                    .await
                    .unwrap_or_else(|error| panic!("failed to start {}: {error}", pin.release))
            })
        })
        .collect();
    let mut servers = Vec::new();
    for start in starts {
        servers.push(start.await.expect("it starts"));
    }
    servers
}

async fn stop_all(servers: Vec<Server>) {
    for server in servers {
        server.stop().await;
    }
}

/// The settings that make servers alike, and what a server must be built with.
async fn look_at(server: &Server) {
    let release = server.release();
    let client = connect(server.endpoint(), "postgres").await;
    for (sql, expected) in [
        (
            "split_part(current_setting('server_version'), ' ', 1)",
            release.to_string().as_str(),
        ),
        (
            "SELECT string_agg(name || ': ' || error, '; ') IS NULL FROM pg_file_settings
             WHERE error IS NOT NULL",
            "true",
        ),
        (
            "SELECT string_agg(name, ', ') IS NULL FROM pg_file_settings WHERE NOT applied",
            "true",
        ),
        // Proving that one knows a password costs no more than it must.
        (
            "SELECT bool_and(rolpassword LIKE 'SCRAM-SHA-256$1:%') FROM pg_authid
             WHERE rolcanlogin",
            "true",
        ),
        ("current_setting('autovacuum')", "off"),
        ("current_setting('jit')", "off"),
        ("current_setting('fsync')", "off"),
        ("current_setting('TimeZone')", "UTC"),
        ("current_setting('DateStyle')", "ISO, MDY"),
        ("current_setting('lc_messages')", "C"),
        ("current_setting('server_encoding')", "UTF8"),
        (
            "SELECT datcollate || datctype FROM pg_database WHERE datname = 'template0'",
            "CC",
        ),
        // The files beside the programs are there: time zones, dictionaries, extensions.
        (
            "'2026-07-01 12:00 Europe/Berlin'::timestamptz",
            "2026-07-01 10:00:00+00",
        ),
        ("SELECT count(*) > 300 FROM pg_timezone_names", "true"),
        (
            "to_tsvector('english', 'the queues')::text || to_tsvector('german', 'Katzen')::text",
            "'queue':2'katz':1",
        ),
        (
            "SELECT count(*) FROM pg_available_extensions WHERE name IN ('btree_gist', 'citext',
             'dblink', 'hstore', 'pageinspect', 'pg_stat_statements', 'pg_trgm', 'pgrowlocks',
             'plpgsql', 'postgres_fdw')",
            "10",
        ),
    ] {
        assert_eq!(ask(&client, sql).await, expected, "{release}: {sql}");
    }
    for extension in ["pgrowlocks", "pageinspect", "btree_gist"] {
        client
            .batch_execute(&format!("CREATE EXTENSION {extension}"))
            .await
            .unwrap_or_else(|error| panic!("{release}: {extension}: {error:?}"));
    }
    let role = connect(server.scripted_endpoint(), "postgres").await;
    let flags = "SELECT concat(rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls)
                 FROM pg_roles WHERE rolname = current_user";
    assert_eq!(ask(&role, flags).await, "fffff", "{release}");
    for sql in [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('/etc/passwd')",
        "ALTER SYSTEM SET archive_command = 'true'",
        "SET ROLE lockstep_admin",
    ] {
        let error = role.batch_execute(sql).await.expect_err(sql);
        let code = error.code().map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{release}: {sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pinned_release_starts_and_they_are_alike() {
    let base = base();
    let environment = environment_in(&base);
    let pins = at_hand(&environment).await;
    let servers = start_all(&pins, &environment).await;
    let releases: Vec<Release> = servers.iter().map(Server::release).collect();
    let pinned: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    assert_eq!(releases, pinned);
    for server in &servers {
        look_at(server).await;
    }
    stop_all(servers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_starts_of_different_releases_do_not_wait_for_each_other() {
    let base = base();
    let usual = environment_in(&base);
    let pins = at_hand(&usual).await;
    // A cache with the packages and without clusters.
    let cache = open_folder(&std::env::temp_dir());
    let servers = embedded::cache_folder(&usual).join("servers");
    symlink(servers, cache.path().join("servers")).unwrap();
    let environment = Environment {
        cache: Some(cache.path().to_owned()),
        ..usual
    };
    let told = Arc::new(Mutex::new(Vec::new()));
    let makings: Vec<_> = pins
        .iter()
        .map(|pin| {
            let (pin, environment, told) = (*pin, environment.clone(), Arc::clone(&told));
            tokio::spawn(async move {
                let report = |progress: Progress| told.lock().unwrap().push(progress);
                embedded::prepare(pin, &environment, &report).await
            })
        })
        .collect();
    for making in makings {
        let made = making.await.expect("it does not panic");
        made.unwrap_or_else(|error| panic!("{error}"));
    }
    let told = told.lock().unwrap().clone();
    assert!(!told.contains(&Progress::Waiting), "{told:?}");
    let made = told
        .iter()
        .filter(|told| matches!(told, Progress::MakingCluster(_)));
    assert_eq!(made.count(), pins.len());
    stop_all(start_all(&pins, &environment).await).await;
}
