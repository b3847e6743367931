//! Encrypted connections: what is trusted, and what is refused.

use std::time::Duration;

use lockstep::server::Databases;
use lockstep::server::external::{self, ConnectionUrl, Environment, ExternalError};
use lockstep::transcript::Answer;
use lockstep::wire::{self, ConnectErrorKind, Incoming, Startup};

use crate::front::{Front, tls_file};
use crate::support::Server;

async fn start(
    server: &Server,
    front: &Front,
    host: &str,
    parameters: &str,
) -> Result<external::Server, ExternalError> {
    let own = server.endpoint();
    let text = format!(
        "postgresql://{}:{}@{host}:{}/?{parameters}",
        own.user, own.password, front.port
    );
    let url = ConnectionUrl::from_text(&text).expect("a URL");
    external::start(&url, None, &Environment::default()).await
}

/// Parameters that trust the authority of a file.
fn trusting(mode: &str, file: &str) -> String {
    format!("sslmode={mode}&sslrootcert={}", tls_file(file).display())
}

#[tokio::test]
async fn both_kinds_of_connections_are_encrypted_and_cancelled() {
    let server = Server::start().await;
    // It lets nothing through that is not encrypted.
    let front = Front::open(server.endpoint(), Some("loopback.crt")).await;
    let parameters = trusting("verify-full", "authority.crt");
    let used = start(&server, &front, "localhost", &parameters)
        .await
        .unwrap();
    let scripted = used.scripted_endpoint();
    let databases = Databases::connect(used.endpoint(), &scripted.user)
        .await
        .unwrap();
    let database = databases.create().await.unwrap();
    let startup = Startup {
        user: scripted.user.clone(),
        password: scripted.password.clone(),
        database: database.name.clone(),
        application_name: "A".to_owned(),
        options: Vec::new(),
    };
    let (mut sender, mut receiver) =
        wire::connect_with_tls(&scripted.address, &scripted.tls, &startup)
            .await
            .unwrap();
    // More than fits into what is on the way at once, in both directions.
    let long = "x".repeat(3 << 20);
    sender.query(&format!("SELECT '{long}';")).await.unwrap();
    let Some(Incoming::Answer(Answer::Rows(rows))) = receiver.next().await else {
        panic!("rows")
    };
    assert_eq!(rows.rows, [[Some(long)]]);
    assert!(matches!(receiver.next().await, Some(Incoming::Ready(_))));

    sender.query("SELECT pg_sleep(600);").await.unwrap();
    let cancel = sender.cancel_token();
    let error = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            // Until the statement runs there is nothing to cancel.
            cancel.cancel().await.unwrap();
            tokio::select! {
                biased;
                incoming = receiver.next() => break incoming,
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
            }
        }
    })
    .await
    .expect("it is cancelled");
    assert!(
        matches!(&error, Some(Incoming::Answer(Answer::Error(error))) if error.code == "57014"),
        "{error:?}"
    );
    sender.terminate().await.unwrap();
    used.stop().await.unwrap();
}

#[tokio::test]
async fn a_certificate_must_be_what_the_mode_asks_for() {
    let server = Server::start().await;
    for (certificate, host, parameters, said) in [
        (
            "loopback.crt",
            "127.0.0.1",
            trusting("verify-full", "authority.crt"),
            None,
        ),
        (
            "loopback.crt",
            "localhost",
            trusting("verify-full", "stranger.crt"),
            Some("is not trusted"),
        ),
        (
            "loopback.crt",
            "localhost",
            trusting("verify-ca", "stranger.crt"),
            Some("is not trusted"),
        ),
        (
            "loopback.crt",
            "localhost",
            trusting("require", "stranger.crt"),
            Some("is not trusted"),
        ),
        (
            "loopback.crt",
            "localhost",
            "sslmode=verify-full".to_owned(),
            Some("is not trusted"),
        ),
        (
            "elsewhere.crt",
            "localhost",
            trusting("verify-full", "authority.crt"),
            Some("another host"),
        ),
        (
            "elsewhere.crt",
            "localhost",
            trusting("verify-ca", "authority.crt"),
            None,
        ),
        (
            "expired.crt",
            "localhost",
            trusting("verify-full", "authority.crt"),
            Some("new certificate"),
        ),
        (
            "expired.crt",
            "localhost",
            trusting("verify-ca", "authority.crt"),
            Some("new certificate"),
        ),
        (
            "expired.crt",
            "localhost",
            "sslmode=require".to_owned(),
            None,
        ),
    ] {
        let front = Front::open(server.endpoint(), Some(certificate)).await;
        let started = start(&server, &front, host, &parameters).await;
        match (started, said) {
            (Ok(used), None) => used.stop().await.unwrap(),
            (Err(error), Some(said)) => {
                let help = error.help().unwrap_or_default();
                assert!(
                    help.contains(said),
                    "{certificate} {parameters}: {error} ({help})"
                );
                assert!(!format!("{error:?}").contains(&server.endpoint().password));
            }
            (Ok(_), Some(_)) => panic!("{certificate} {parameters}: it is let through"),
            (Err(error), None) => panic!("{certificate} {parameters}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_refused_where_that_is_required() {
    let server = Server::start().await;
    let front = Front::open(server.endpoint(), None).await;
    let error = start(&server, &front, "localhost", "sslmode=require")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("does not support TLS"),
        "{error}"
    );
    assert!(error.help().unwrap().contains("sslmode=disable"));
    let used = start(&server, &front, "localhost", "").await.unwrap();

    let encrypted = lockstep::server::Tls::required(
        lockstep::server::Verification::Nothing,
        &lockstep::server::TlsFiles::default(),
    )
    .unwrap();
    let scripted = used.scripted_endpoint();
    let startup = Startup {
        user: scripted.user.clone(),
        password: scripted.password.clone(),
        database: "postgres".to_owned(),
        application_name: "A".to_owned(),
        options: Vec::new(),
    };
    let error = wire::connect_with_tls(&scripted.address, &encrypted, &startup)
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind, ConnectErrorKind::NoEncryption),
        "{error:?}"
    );
    used.stop().await.unwrap();
}
