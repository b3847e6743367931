//! The container provider, with a real engine: what a run may rely on, and what is left of one.
//!
//! Where no engine answers, or it does not have the image, each test says so and checks nothing; with
//! `LOCKSTEP_TEST_CONTAINERS` set it fails instead. `.ci/containers` provides both.

#![cfg(all(unix, feature = "container"))]

use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use lockstep::server::{
    Address, Databases, Endpoint, Environment, Pin, Pins, Provider, Reach, Server, embedded, start,
};
use testcontainers_modules::testcontainers::bollard::Docker;
use testcontainers_modules::testcontainers::core::client::docker_client_instance;
use tokio_postgres::Client;

/// No condition takes this long unless something is broken.
const LIMIT: Duration = Duration::from_secs(60);

fn pin() -> Pin {
    Pins::built_in().major(18).expect("18 is pinned").clone()
}

fn environment() -> Environment {
    Environment {
        embedded: embedded::Environment {
            cache: std::env::var_os("LOCKSTEP_TEST_CACHE").map(Into::into),
            xdg_cache_home: std::env::var_os("XDG_CACHE_HOME").map(Into::into),
            home: std::env::var_os("HOME").map(Into::into),
            path: std::env::var_os("PATH").unwrap_or_default(),
            temp: std::env::temp_dir(),
            servers: None,
        },
        docker_host: std::env::var("DOCKER_HOST").ok(),
        external: lockstep::server::external::Environment::default(),
    }
}

/// The engine, if it is there and has the image.
async fn engine() -> Option<Docker> {
    let found = async {
        let docker = docker_client_instance()
            .await
            .map_err(|error| error.to_string())?;
        let image = pin().image().to_string();
        docker
            .inspect_image(&image)
            .await
            .map_err(|error| error.to_string())?;
        Ok::<_, String>(docker)
    };
    match found.await {
        Ok(docker) => Some(docker),
        Err(why) => {
            assert!(
                std::env::var_os("LOCKSTEP_TEST_CONTAINERS").is_none(),
                "{why}"
            );
            eprintln!("nothing was tested, since there is no engine with the image: {why}");
            None
        }
    }
}

async fn started() -> Server {
    start(&Provider::Container, &pin(), &environment(), &|_| {})
        .await
        .unwrap_or_else(|error| panic!("failed to start: {error}"))
}

fn name_of(server: &Server) -> String {
    match server {
        Server::Container(server) => server.container().to_owned(),
        other => panic!("no container: {other:?}"),
    }
}

async fn is_there(docker: &Docker, container: &str) -> bool {
    docker.inspect_container(container, None).await.is_ok()
}

async fn try_connect(endpoint: &Endpoint) -> Result<Client, tokio_postgres::Error> {
    endpoint.connect(&endpoint.database).await
}

async fn connect(endpoint: &Endpoint) -> Client {
    try_connect(endpoint).await.expect("it lets us in")
}

/// Rows of one text column, one a line.
async fn ask(client: &Client, sql: &str) -> String {
    let rows = client.query(sql, &[]).await.expect(sql);
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    lines.join("\n")
}

#[tokio::test]
async fn it_is_set_up_as_an_embedded_server_is() {
    if engine().await.is_none() {
        return;
    }
    let container = started().await;
    let embedded = start(&Provider::Embedded, &pin(), &environment(), &|_| {})
        .await
        .expect("it starts");
    assert_eq!(container.release(), embedded.release());

    // What differs is where the server and its files are, not how it behaves.
    let settings = "SELECT concat(name, ' = ', setting, unit) FROM pg_settings WHERE name NOT IN (
        'application_name', 'listen_addresses', 'unix_socket_directories', 'unix_socket_permissions',
        'data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file',
        'data_directory_mode', 'log_file_mode', 'max_stack_depth', 'update_process_title',
        'shared_memory_size', 'port') AND name NOT LIKE 'tcp_keepalives%' ORDER BY name";
    let roles =
        "SELECT concat_ws(' ', rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication,
        rolbypassrls, left(rolpassword, 16)) FROM pg_authid WHERE rolcanlogin ORDER BY rolname";
    let members = "SELECT concat_ws(' ', roleid::regrole, member::regrole) FROM pg_auth_members
        WHERE member = 'lockstep'::regrole";
    let databases =
        "SELECT concat_ws(' ', datname, pg_encoding_to_char(encoding), datcollate, datctype)
        FROM pg_database ORDER BY datname";
    let (one, other) = (
        connect(container.endpoint()).await,
        connect(embedded.endpoint()).await,
    );
    for sql in [settings, roles, members, databases] {
        let (one, other) = (ask(&one, sql).await, ask(&other, sql).await);
        let differ: Vec<_> = one
            .lines()
            .zip(other.lines())
            .filter(|(a, b)| a != b)
            .collect();
        assert_eq!(differ, [("", ""); 0], "in a container, and embedded: {sql}");
        assert_eq!(one.lines().count(), other.lines().count(), "{sql}");
    }
    container.stop().await.expect("it is removed");
    embedded.stop().await.expect("it is removed");
}

#[tokio::test]
async fn its_data_lies_in_memory_and_makes_no_volume() {
    let Some(docker) = engine().await else { return };
    let server = started().await;
    let found = docker
        .inspect_container(&name_of(&server), None)
        .await
        .expect("it is there");
    assert_eq!(found.mounts.unwrap_or_default(), [], "it has volumes");
    let client = connect(server.endpoint()).await;
    let data = ask(&client, "SELECT current_setting('data_directory')").await;
    let tmpfs = found.host_config.and_then(|host| host.tmpfs);
    let folders: Vec<String> = tmpfs.unwrap_or_default().into_keys().collect();
    assert!(
        folders.iter().any(|folder| data.starts_with(folder)),
        "{data} is not in {folders:?}"
    );
    server.stop().await.expect("it is removed");
}

/// The address other machines reach this one at, if it has one.
fn outer_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent; the system only chooses the address that it would be sent from.
    socket.connect("192.0.2.77:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[tokio::test]
async fn its_port_is_published_on_the_loopback_address_alone() {
    let Some(docker) = engine().await else { return };
    let server = started().await;
    let Address::Tcp { host, port } = server.endpoint().address.clone() else {
        panic!("a container's server is reached over TCP");
    };
    assert_eq!(host, "127.0.0.1");

    let found = docker
        .inspect_container(&name_of(&server), None)
        .await
        .expect("it is there");
    let network = found.network_settings.expect("it has a network");
    let bindings: Vec<String> = network
        .ports
        .unwrap_or_default()
        .into_values()
        .flatten()
        .flatten()
        .map(|binding| binding.host_ip.unwrap_or_default())
        .collect();
    assert_eq!(bindings, ["127.0.0.1"]);

    // The machine's other addresses: the one other machines use, and the engine's own bridge.
    let bridges = network.networks.unwrap_or_default().into_values();
    let gateways = bridges.filter_map(|network| network.gateway?.parse().ok());
    let others: Vec<IpAddr> = outer_address().into_iter().chain(gateways).collect();
    assert!(!others.is_empty(), "there is no other address to try");
    for address in others {
        let reached =
            TcpStream::connect_timeout(&SocketAddr::new(address, port), Duration::from_secs(2));
        assert!(reached.is_err(), "{address}:{port} answers");
    }
    server.stop().await.expect("it is removed");
}

#[tokio::test]
async fn passwords_are_of_the_run_and_of_the_role() {
    if engine().await.is_none() {
        return;
    }
    let (one, other) = tokio::join!(started(), started());
    assert_ne!(one.endpoint().address, other.endpoint().address);
    for wrong in [
        &other.endpoint().password,
        &one.scripted_endpoint().password,
        "postgres",
    ] {
        let mut endpoint = one.endpoint().clone();
        wrong.clone_into(&mut endpoint.password);
        let error = try_connect(&endpoint)
            .await
            .map(|_| ())
            .expect_err("refused");
        assert_eq!(error.code().map(|code| code.code()), Some("28P01"));
    }
    let shown = format!("{one:?}");
    assert!(!shown.contains(&one.endpoint().password), "{shown}");
    let scripted = &one.scripted_endpoint().password;
    assert!(!shown.contains(scripted), "{shown}");
    one.stop().await.expect("it is removed");
    other.stop().await.expect("it is removed");
}

#[tokio::test]
async fn what_a_scenario_brings_can_neither_run_programs_nor_read_files() {
    if engine().await.is_none() {
        return;
    }
    let server = started().await;
    let databases = Databases::connect(
        server.endpoint(),
        server.scripted_endpoint(),
        Reach::Database,
    )
    .await
    .expect("the superuser gets in");
    let database = databases.create().await.expect("it can create");
    let client = connect(&database.role).await;
    for sql in [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('/etc/passwd')",
        "SET ROLE lockstep_admin",
        "CREATE ROLE r",
        "SELECT rolpassword FROM pg_authid",
    ] {
        let error = client.batch_execute(sql).await.expect_err(sql);
        assert_eq!(error.code().map(|code| code.code()), Some("42501"), "{sql}");
    }
    let seen = ask(
        &client,
        "SELECT string_agg(query, ' ') FROM pg_stat_activity",
    )
    .await;
    assert!(
        !seen.contains(&server.scripted_endpoint().password),
        "{seen}"
    );
    databases.remove(&database).await.expect("it can drop");
    server.stop().await.expect("it is removed");
}

#[tokio::test]
async fn nothing_is_left_after_drop_in_one_thread() {
    let Some(docker) = engine().await else { return };
    let server = started().await;
    let name = name_of(&server);
    assert!(is_there(&docker, &name).await);
    drop(server);
    assert!(!is_there(&docker, &name).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_a_panic() {
    let Some(docker) = engine().await else { return };
    let server = started().await;
    let name = name_of(&server);
    let panicked = tokio::spawn(async move {
        let _server = server;
        panic!("on purpose");
    })
    .await;
    assert!(panicked.is_err());
    assert!(!is_there(&docker, &name).await);
}

/// The containers that this process has made and that are still there.
async fn own_containers(docker: &Docker) -> Vec<String> {
    use testcontainers_modules::testcontainers::bollard::query_parameters::ListContainersOptionsBuilder;

    let own = format!("pg-lockstep.pid={}", std::process::id());
    let filters = std::collections::HashMap::from([("label", vec![own.as_str()])]);
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let found = docker
        .list_containers(Some(options))
        .await
        .expect("it answers");
    found
        .into_iter()
        .flat_map(|one| one.names.unwrap_or_default())
        .collect()
}

/// Run by the test after it, in a process of its own, whose containers are nobody else's.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test runs it"]
async fn break_off() {
    let docker = docker_client_instance().await.expect("there is an engine");
    for after in (0..12).map(|step| Duration::from_millis(step * 90)) {
        let (provider, pin, environment) = (Provider::Container, pin(), environment());
        let starting = start(&provider, &pin, &environment, &|_| {});
        if let Ok(started) = tokio::time::timeout(after, starting).await {
            started
                .expect("it starts")
                .stop()
                .await
                .expect("it is removed");
        }
        assert_eq!(own_containers(&docker).await, [""; 0], "after {after:?}");
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_start_that_was_broken_off() {
    if engine().await.is_none() {
        return;
    }
    let status = tokio::process::Command::new(std::env::current_exe().expect("we run"))
        .args(["--exact", "break_off", "--ignored"])
        .status()
        .await
        .expect("we can be run again");
    assert!(status.success());
}

#[tokio::test]
async fn a_container_that_somebody_kills_is_noticed() {
    let Some(docker) = engine().await else { return };
    let server = started().await;
    assert_eq!(server.failed(), None);
    let name = name_of(&server);
    docker.kill_container(&name, None).await.expect("it runs");
    let began = Instant::now();
    let why = loop {
        match server.failed() {
            Some(why) => break why,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
        assert!(began.elapsed() < LIMIT, "it was not noticed");
    };
    assert!(why.contains("ready to accept connections"), "{why}");
    server.stop().await.expect("it is removed");
    assert!(!is_there(&docker, &name).await);
}
