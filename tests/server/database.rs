//! Databases for cases.

use lockstep::server::{Databases, Reach};

use crate::bench::{ask, base, connect, environment_in, start};

#[tokio::test]
async fn each_case_has_an_empty_database_of_its_own_that_goes_with_it() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let role = server.scripted_endpoint();
    let databases = Databases::connect(server.endpoint(), role, Reach::Database)
        .await
        .expect("the superuser gets in");
    let other_run = Databases::connect(server.endpoint(), role, Reach::Database)
        .await
        .expect("the superuser gets in");

    let (one, two, three) =
        tokio::join!(databases.create(), databases.create(), other_run.create());
    let (one, two, three) = (one.unwrap(), two.unwrap(), three.unwrap());
    assert!(one != two && two != three && one != three);

    let client = connect(&one.role, &one.name).await;
    let about = "SELECT concat_ws(' ', pg_get_userbyid(datdba), pg_encoding_to_char(encoding),
                 datcollate, datctype) FROM pg_database WHERE datname = current_database()";
    assert_eq!(ask(&client, about).await, format!("{} UTF8 C C", one.name));
    client.batch_execute("CREATE TABLE t ()").await.unwrap();
    let neighbour = connect(&two.role, &two.name).await;
    assert_eq!(ask(&neighbour, "to_regclass('t') IS NULL").await, "true");

    // A connection that is still there is no reason to keep it, nor is a prepared transaction.
    client
        .batch_execute("BEGIN; INSERT INTO t DEFAULT VALUES; PREPARE TRANSACTION 'it''s open'")
        .await
        .unwrap();
    databases.remove(&one).await.unwrap();
    let admin = connect(server.endpoint(), "postgres").await;
    let left = format!(
        "SELECT count(*) FROM pg_database WHERE datname = '{}'",
        one.name
    );
    assert_eq!(ask(&admin, &left).await, "0");
    server.stop().await;
}

#[tokio::test]
async fn settings_only_a_superuser_may_set_reach_the_next_connection() {
    let base = base();
    let server = start(&environment_in(&base)).await;
    let role = server.scripted_endpoint();
    let databases = Databases::connect(server.endpoint(), role, Reach::Database)
        .await
        .unwrap();
    let (database, other) = (
        databases.create().await.unwrap(),
        databases.create().await.unwrap(),
    );
    let show = "current_setting('deadlock_timeout')";
    let usual = ask(&connect(&database.role, &database.name).await, show).await;

    databases
        .with_superuser_settings(
            &database,
            &[("deadlock_timeout", "17ms"), ("log_lock_waits", "on")],
        )
        .await
        .unwrap();
    assert_eq!(
        ask(&connect(&database.role, &database.name).await, show).await,
        "17ms"
    );
    assert_eq!(
        ask(&connect(&other.role, &other.name).await, show).await,
        usual
    );

    databases.reset_superuser_settings(&database).await.unwrap();
    assert_eq!(
        ask(&connect(&database.role, &database.name).await, show).await,
        usual
    );

    let wrong = databases
        .with_superuser_settings(&database, &[("deadlock_timeout", "soon'")])
        .await
        .expect_err("no time");
    assert!(
        wrong.to_string().contains("invalid value for parameter"),
        "{wrong}"
    );
    server.stop().await;
}
