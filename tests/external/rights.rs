//! What a run needs, makes, and leaves on a server that somebody else runs.

use lockstep::server::external::{self, ConnectionUrl, Environment, ExternalError, WantedRelease};
use lockstep::server::{Address, Databases, Endpoint, Reach, Release};
use tokio_postgres::Client;

use crate::front::Front;
use crate::support::Server;

/// The URL of a role on a server's socket.
pub fn url(server: &Endpoint, user: &str, password: &str) -> ConnectionUrl {
    let Address::Unix { directory, port } = &server.address else {
        panic!("an embedded server listens on a Unix socket");
    };
    let text = format!(
        "postgresql://{user}:{password}@/?host={}&port={port}",
        directory.display()
    );
    ConnectionUrl::from_text(&text).expect("a URL")
}

async fn start(url: &ConnectionUrl) -> Result<external::Server, ExternalError> {
    external::start(url, None, &Environment::default()).await
}

async fn admin(server: &Server) -> Client {
    server
        .endpoint()
        .connect("postgres")
        .await
        .expect("the superuser gets in")
}

async fn ask(client: &Client, sql: &str) -> String {
    client
        .query_one(&format!("SELECT ({sql})::text"), &[])
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"))
        .get::<_, Option<String>>(0)
        .unwrap_or_default()
}

/// All that runs make: databases and roles by name.
const MADE: &str = "SELECT string_agg(name, ' ' ORDER BY name) FROM (
    SELECT datname::text FROM pg_database WHERE datname LIKE 'lockstep\\_%'
    UNION ALL SELECT rolname::text FROM pg_roles
    WHERE rolname LIKE 'lockstep\\_%' AND rolname <> 'lockstep_admin') AS made (name)";

#[tokio::test]
async fn a_superuser_gives_scenarios_a_role_that_is_none_and_nothing_is_left() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let own = server.endpoint();
    let used = start(&url(own, &own.user, &own.password)).await.unwrap();

    let scripted = used.scripted_endpoint();
    let databases = Databases::connect(used.endpoint(), scripted, Reach::Database)
        .await
        .unwrap();
    let database = databases.create().await.unwrap();
    let inside = database.role.connect(&database.name).await.unwrap();
    let about = "SELECT concat_ws(' ', rolsuper, rolcreatedb, pg_has_role('pg_monitor', 'MEMBER'))
                 FROM pg_roles WHERE rolname = current_user";
    assert_eq!(ask(&inside, about).await, "f f t");
    inside
        .batch_execute("CREATE TABLE t (); BEGIN; SELECT FROM t; PREPARE TRANSACTION 'open'")
        .await
        .unwrap();
    used.stop().await.unwrap();
    assert_eq!(ask(&admin, MADE).await, "");
}

#[tokio::test]
async fn cases_are_alike_whatever_the_servers_defaults_are() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    for sql in [
        "ALTER ROLE ALL SET search_path = nowhere",
        "ALTER SYSTEM SET timezone = 'Asia/Tokyo'",
        "ALTER SYSTEM SET datestyle = 'German'",
        "ALTER SYSTEM SET default_transaction_isolation = 'serializable'",
        "ALTER SYSTEM SET statement_timeout = '1h'",
        "ALTER SYSTEM SET autovacuum = on",
        "SELECT pg_reload_conf()",
    ] {
        admin.batch_execute(sql).await.unwrap();
    }
    // A connection made after the reload has been heeded sees it.
    while ask(&admin, "current_setting('autovacuum')").await != "on" {
        tokio::task::yield_now().await;
    }
    let own = server.endpoint();
    let used = start(&url(own, &own.user, &own.password)).await.unwrap();
    assert_eq!(used.notes().len(), 1, "{:?}", used.notes());
    assert!(
        used.notes()[0].contains("autovacuum = on"),
        "{:?}",
        used.notes()
    );

    let scripted = used.scripted_endpoint();
    let databases = Databases::connect(used.endpoint(), scripted, Reach::Database)
        .await
        .unwrap();
    let database = databases.create().await.unwrap();
    let inside = database.role.connect(&database.name).await.unwrap();
    for (setting, value) in [
        ("timezone", "UTC"),
        ("datestyle", "ISO, MDY"),
        ("default_transaction_isolation", "read committed"),
        ("statement_timeout", "0"),
        ("search_path", "\"$user\", public"),
    ] {
        let show = format!("current_setting('{setting}')");
        assert_eq!(ask(&inside, &show).await, value, "{setting}");
    }
    used.stop().await.unwrap();
}

#[tokio::test]
async fn a_role_without_superuser_is_enough() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    admin
        .batch_execute(
            "SET scram_iterations = 1;
             CREATE ROLE maker LOGIN CREATEDB CREATEROLE PASSWORD 'm';
             CREATE ROLE plain LOGIN CREATEDB PASSWORD 'p';
             CREATE ROLE strong LOGIN CREATEDB PASSWORD 's';
             GRANT pg_execute_server_program TO strong",
        )
        .await
        .unwrap();
    for (user, password, own_role) in [("maker", "m", true), ("plain", "p", false)] {
        let used = start(&url(server.endpoint(), user, password))
            .await
            .unwrap();
        let scripted = used.scripted_endpoint();
        assert_eq!(scripted.user != user, own_role, "{user}");
        let told = used
            .notes()
            .iter()
            .any(|note| note.contains("`plain` itself"));
        assert_eq!(told, !own_role, "{:?}", used.notes());

        let databases = Databases::connect(used.endpoint(), scripted, Reach::Database)
            .await
            .unwrap();
        let database = databases.create().await.unwrap();
        let inside = database.role.connect(&database.name).await.unwrap();
        inside
            .batch_execute("CREATE TABLE t (); BEGIN; SELECT FROM t; PREPARE TRANSACTION 'open'")
            .await
            .unwrap();
        let set = databases
            .with_superuser_settings(&database, &[("deadlock_timeout", "10ms")])
            .await;
        let denial = set.expect_err("no superuser").denial();
        assert!(denial.expect("denied").contains("deadlock_timeout"));
        let grant = format!("GRANT SET ON PARAMETER deadlock_timeout TO {user}");
        admin.batch_execute(&grant).await.unwrap();
        databases
            .with_superuser_settings(&database, &[("deadlock_timeout", "10ms")])
            .await
            .unwrap();
        let next = scripted.connect(&database.name).await.unwrap();
        let show = "current_setting('deadlock_timeout')";
        assert_eq!(ask(&next, show).await, "10ms", "{user}");
        databases.remove(&database).await.unwrap();
        databases.create().await.unwrap();
        used.stop().await.unwrap();
        assert_eq!(ask(&admin, MADE).await, "", "{user}");
    }
    let error = start(&url(server.endpoint(), "strong", "s"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("run programs"), "{error}");
}

#[tokio::test]
async fn what_dead_runs_left_is_swept_and_nothing_else() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let own = server.endpoint();
    let address = url(own, &own.user, &own.password);

    let living = start(&address).await.unwrap();
    let databases = Databases::connect(
        living.endpoint(),
        living.scripted_endpoint(),
        Reach::Database,
    )
    .await
    .unwrap();
    let of_the_living = databases.create().await.unwrap();

    let dead = start(&address).await.unwrap();
    let run = dead.endpoint().run;
    let databases = Databases::connect(dead.endpoint(), dead.scripted_endpoint(), Reach::Database)
        .await
        .unwrap();
    let of_the_dead = databases.create().await.unwrap();
    let (held, role) = (
        format!(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
             AND classid::int8 << 32 | objid::int8 = {}",
            run.cast_signed()
        ),
        dead.scripted_endpoint().user.clone(),
    );
    assert_eq!(ask(&admin, &held).await, "1");
    // As if it were killed: its connections end, and nothing is said.
    drop((dead, databases));
    while ask(&admin, &held).await != "0" {
        tokio::task::yield_now().await;
    }
    // Somebody else's, which only look as if they were a run's.
    for sql in [
        "CREATE DATABASE lockstep_mine",
        "CREATE ROLE eva",
        "CREATE DATABASE lockstep_0123456789abcdef_1 OWNER eva",
    ] {
        admin.batch_execute(sql).await.unwrap();
    }

    let next = start(&address).await.unwrap();
    assert!(
        next.notes()[0].contains("2 databases"),
        "{:?}",
        next.notes()
    );
    let made = ask(&admin, MADE).await;
    let made: Vec<&str> = made.split(' ').collect();
    assert!(!made.contains(&of_the_dead.name.as_str()), "{made:?}");
    assert!(!made.contains(&role.as_str()), "{made:?}");
    for kept in [
        of_the_living.name.as_str(),
        &living.scripted_endpoint().user,
        "lockstep_mine",
        "lockstep_0123456789abcdef_1",
    ] {
        assert!(made.contains(&kept), "{kept}: {made:?}");
    }
    next.stop().await.unwrap();
    living.stop().await.unwrap();
    assert_eq!(
        ask(&admin, MADE).await,
        "lockstep_0123456789abcdef_1 lockstep_mine"
    );
}

#[tokio::test]
async fn what_is_missing_is_said_and_what_to_do() {
    let server = Server::start().await;
    let own = server.endpoint();
    admin(&server)
        .await
        .batch_execute("CREATE ROLE \"no \"\"rights\" LOGIN PASSWORD 'n'")
        .await
        .unwrap();
    let error = start(&url(own, "no%20%22rights", "n")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the role `no \"rights` may not create databases"
    );
    let help = error.help().unwrap();
    assert!(
        help.contains("ALTER ROLE \"no \"\"rights\" CREATEDB;"),
        "{help}"
    );

    let error = start(&url(own, &own.user, "wrong")).await.unwrap_err();
    assert!(
        error.to_string().contains("password authentication failed"),
        "{error}"
    );
    assert!(error.help().unwrap().contains("PGPASSWORD"));

    let right = url(own, &own.user, &own.password);
    let asked = |text: &str| Some(text.parse::<WantedRelease>().unwrap());
    let none = Environment::default();
    let other = Release {
        major: 18,
        minor: 1,
    };
    for refused in ["17", "18.1"] {
        let error = external::start(&right, asked(refused), &none)
            .await
            .unwrap_err();
        assert!(error.is_mistake());
        assert!(
            error
                .to_string()
                .ends_with(&format!("and {refused} was asked for")),
            "{error}"
        );
    }
    let fits = external::start(&right, asked("18"), &none).await.unwrap();
    assert_ne!(fits.release(), other);
    fits.stop().await.unwrap();
}

#[tokio::test]
async fn a_pooler_is_refused() {
    let server = Server::start().await;
    let own = server.endpoint();
    let front = Front::pooling(own).await;
    let text = format!(
        "postgresql://{}:{}@localhost:{}/",
        own.user, own.password, front.port
    );
    let url = ConnectionUrl::from_text(&text).unwrap();
    let error = start(&url).await.unwrap_err();
    assert!(error.to_string().contains("connection pooler"), "{error}");
    assert_eq!(ask(&admin(&server).await, MADE).await, "");
}
