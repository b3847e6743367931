//! Cases side by side on one server: what one of them cannot do to another.

use lockstep::server::{Databases, Pool, Reach};
use tokio_postgres::Client;

use crate::bench::{ask, base, connect, environment_in, start, try_connect};

async fn code(client: &Client, sql: &str) -> Option<String> {
    let error = client.batch_execute(sql).await.err()?;
    Some(error.code()?.code().to_owned())
}

/// What the catalogs of one database hold.
async fn catalogs(client: &Client) -> String {
    let each = "SELECT string_agg(format('SELECT ''%1$s '' || md5(string_agg(c::text, '','' ORDER BY c::text)) AS h FROM %1$s c',
                                         oid::regclass), ' UNION ALL ')
                FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace
                  AND NOT relisshared";
    let each = ask(client, each).await;
    ask(
        client,
        &format!("SELECT string_agg(h, E'\\n' ORDER BY h) FROM ({each}) AS tables"),
    )
    .await
}

#[tokio::test]
async fn a_case_cannot_hurt_its_neighbour() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let scripted = server.scripted_endpoint();
    let databases = Databases::connect(server.endpoint(), scripted, Reach::Database)
        .await
        .unwrap();
    let (hostile, victim) = (
        databases.create().await.unwrap(),
        databases.create().await.unwrap(),
    );
    let neighbour = connect(&victim.role, &victim.name).await;
    neighbour
        .batch_execute(
            "CREATE TABLE t (); BEGIN; SELECT FROM t; PREPARE TRANSACTION 'theirs'; BEGIN",
        )
        .await
        .unwrap();
    let observer = connect(server.endpoint(), "postgres").await;
    let pid = ask(&neighbour, "pg_backend_pid()").await;
    let observer_pid = ask(&observer, "pg_backend_pid()").await;
    let client = connect(&hostile.role, &hostile.name).await;

    let (me, them) = (&hostile.name, &victim.name);
    for sql in [
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
        &format!("SELECT pg_terminate_backend({pid})"),
        &format!("SELECT pg_cancel_backend({pid})"),
        &format!("SELECT pg_terminate_backend({observer_pid})"),
        &format!("SELECT pg_cancel_backend({observer_pid})"),
        &format!("DROP DATABASE {them} WITH (FORCE)"),
        &format!("ALTER DATABASE {them} RENAME TO mine"),
        &format!("ALTER DATABASE {them} SET default_transaction_read_only = on"),
        &format!("ALTER DATABASE {them} CONNECTION LIMIT 0"),
        &format!("CREATE DATABASE copy TEMPLATE {them}"),
        &format!("ALTER ROLE {them} PASSWORD 'mine'"),
        &format!("ALTER ROLE {them} SET search_path = evil"),
        &format!("DROP ROLE {them}"),
        &format!("SET ROLE {them}"),
        &format!("GRANT {them} TO {me}"),
        &format!("DROP OWNED BY {them}"),
        &format!("REASSIGN OWNED BY {them} TO {me}"),
        "ALTER ROLE lockstep SET search_path = evil",
        "ALTER ROLE lockstep PASSWORD 'mine'",
        "ALTER ROLE ALL SET search_path = evil",
        "ALTER ROLE lockstep_admin SET search_path = evil",
        "LOCK TABLE pg_database IN ACCESS EXCLUSIVE MODE",
        "LOCK TABLE pg_authid IN SHARE MODE",
        "SELECT FROM pg_database FOR UPDATE",
        "ROLLBACK PREPARED 'theirs'",
        "SELECT pg_reload_conf()",
        "SELECT pg_stat_reset_shared('bgwriter')",
        "CHECKPOINT",
    ] {
        let refused = code(&client, sql).await;
        let _ = client.batch_execute("ROLLBACK").await;
        let right = if sql.starts_with("LOCK TABLE") {
            // Before it asks for rights it asks for a transaction.
            "25P01"
        } else {
            "42501"
        };
        assert_eq!(refused.as_deref(), Some(right), "{sql}");
    }
    for sql in [
        "BEGIN; LOCK TABLE pg_database IN ACCESS EXCLUSIVE MODE",
        "BEGIN; LOCK TABLE pg_authid IN SHARE MODE",
    ] {
        assert_eq!(code(&client, sql).await.as_deref(), Some("42501"), "{sql}");
        client.batch_execute("ROLLBACK").await.unwrap();
    }

    // PostgreSQL only warns here.
    client
        .batch_execute(&format!("REVOKE CONNECT ON DATABASE {them} FROM PUBLIC"))
        .await
        .unwrap();
    let connects = format!("has_database_privilege('{them}', 'CONNECT')");
    assert_eq!(ask(&client, &connects).await, "true");

    // What it may do to its own role, and to the one that all are members of, nobody else feels.
    client
        .batch_execute(&format!(
            "ALTER ROLE {me} PASSWORD 'mine'; ALTER ROLE {me} SET search_path = evil;
             SET ROLE lockstep; ALTER ROLE lockstep SET search_path = evil;
             ALTER ROLE lockstep PASSWORD 'mine'; SET ROLE NONE"
        ))
        .await
        .unwrap();
    client
        .batch_execute("BEGIN; LOCK TABLE pg_database IN ACCESS SHARE MODE")
        .await
        .unwrap();
    assert!(try_connect(&hostile.role, &hostile.name).await.is_err());
    let another = databases.create().await.unwrap();
    for case in [&victim, &another] {
        let fresh = connect(&case.role, &case.name).await;
        let path = ask(&fresh, "current_setting('search_path')").await;
        assert_eq!(path, "\"$user\", public");
    }
    assert_eq!(ask(&neighbour, "pg_backend_pid()").await, pid);
    assert_eq!(ask(&observer, "pg_backend_pid()").await, observer_pid);
    for case in [hostile, victim, another] {
        databases.remove(&case).await.unwrap();
    }
    let left = "SELECT string_agg(rolname, ' ') FROM pg_roles
                WHERE rolname LIKE 'lockstep%' AND rolname NOT IN ('lockstep', 'lockstep_admin')";
    assert_eq!(ask(&observer, &format!("coalesce(({left}), '')")).await, "");
    server.stop().await;
}

#[tokio::test]
async fn databases_of_the_pool_are_as_good_as_new_and_all_gone_at_the_end() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let scripted = server.scripted_endpoint();
    let admin = connect(server.endpoint(), "postgres").await;
    let databases = Databases::connect(server.endpoint(), scripted, Reach::Database)
        .await
        .unwrap();
    let fresh = "lockstep_fresh";
    admin
        .batch_execute(&format!(
            "CREATE DATABASE {fresh} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        ))
        .await
        .unwrap();
    let right = catalogs(&connect(server.endpoint(), fresh).await).await;

    let pool = Pool::new(databases, 5, 2);
    let mut taken = Vec::new();
    for _ in 0..3 {
        let case = pool.take().await.unwrap();
        let client = connect(server.endpoint(), &case.name).await;
        assert_eq!(catalogs(&client).await, right);
        client.batch_execute("CREATE TABLE t ()").await.unwrap();
        assert_ne!(catalogs(&client).await, right);
        assert!(!taken.contains(&case.name));
        taken.push(case.name.clone());
        drop(client);
        pool.give_back(case).await;
    }
    pool.close().await.unwrap();
    let left = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database
                WHERE NOT datistemplate";
    assert_eq!(ask(&admin, left).await, "lockstep_fresh postgres");
    let roles = "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'lockstep\\_%\\_0%'";
    assert_eq!(ask(&admin, roles).await, "0");
    server.stop().await;
}

#[tokio::test]
async fn no_more_databases_are_made_than_are_wanted() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let scripted = server.scripted_endpoint();
    let databases = Databases::connect(server.endpoint(), scripted, Reach::Database)
        .await
        .unwrap();
    let pool = Pool::new(databases, 2, 8);
    let (one, two) = (pool.take().await.unwrap(), pool.take().await.unwrap());
    // One that nobody wants would be made before the one that is asked for now.
    let late = pool.take().await.unwrap();
    let client = connect(server.endpoint(), "postgres").await;
    let made = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database
                WHERE datname ~ '^lockstep_.*_[0-9]+$' AND datdba <> 'lockstep_admin'::regrole";
    assert_eq!(
        ask(&client, made).await,
        [&one, &two, &late].map(|case| case.name.as_str()).join(" ")
    );
    let pool_error = {
        // The server goes away: whoever asks next is told.
        server.stop().await;
        pool.take().await
    };
    assert!(pool_error.is_err());
}
