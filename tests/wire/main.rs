//! The wire against a scripted server: what a session relies on when the server is slow, refuses,
//! lies, or goes away.

#![cfg(unix)]

mod backend;
mod extended;
mod scram;

use std::time::Duration;

use backend::{Backend, FATAL_SHUTDOWN};
use lockstep::server::Address;
use lockstep::transcript::{Answer, Severity};
use lockstep::wire::{
    Closing, ConnectErrorKind, Incoming, Receiver, SendError, Startup, TransactionStatus, connect,
};

fn startup(password: &str) -> Startup {
    Startup {
        user: "anna".to_owned(),
        password: password.to_owned(),
        database: "case_1".to_owned(),
        application_name: "A".to_owned(),
        options: vec![("deadlock_timeout".to_owned(), "10ms".to_owned())],
    }
}

/// All that comes until the server is ready or the connection is over.
async fn until_pause(receiver: &mut Receiver) -> Vec<Incoming> {
    let mut all = Vec::new();
    while let Some(incoming) = receiver.next().await {
        let pause = matches!(incoming, Incoming::Ready(_) | Incoming::Closed(_));
        all.push(incoming);
        if pause {
            break;
        }
    }
    all
}

#[tokio::test]
async fn the_first_message_names_everything() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.accept().await;
        let parameters = client.startup().await;
        client.welcome().await;
        parameters
    });
    let (sender, receiver) = connect(&address, &startup("")).await.expect("a welcome");
    assert_eq!(
        server.await.expect("the backend ran"),
        "user=anna database=case_1 application_name=A client_encoding=UTF8 deadlock_timeout=10ms"
    );
    assert_eq!(sender.pid(), 4711);
    assert_eq!(receiver.parameter("server_version"), Some("18.6"));
    assert_eq!(receiver.parameter("nonsense"), None);
}

#[tokio::test]
async fn a_password_is_sent_as_the_server_asks_for_it() {
    for (request, answer) in [
        (&b"\0\0\0\x03"[..], "päss"),
        // md5 of (md5 of password and role, in hexadecimal) and salt, computed with Python.
        (
            b"\0\0\0\x05\x2a\x3d\x8f\xe0",
            "md54c79bea673786e32c3d06f186dec6917",
        ),
    ] {
        let mut backend = Backend::listen();
        let address = backend.address();
        let server = tokio::spawn(async move {
            let mut client = backend.accept().await;
            client.startup().await;
            client.say(b'R', request).await;
            let password = client.hear().await;
            client.welcome().await;
            password
        });
        connect(&address, &startup("päss"))
            .await
            .expect("a welcome");
        let (tag, body) = server.await.expect("the backend ran");
        assert_eq!(tag, b'p');
        assert_eq!(String::from_utf8_lossy(&body), format!("{answer}\0"));
    }
}

#[tokio::test]
async fn scram_proves_both_sides() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.accept().await;
        client.startup().await;
        scram::authenticate(&mut client, "geheim", "geheim").await;
    });
    connect(&address, &startup("geheim"))
        .await
        .expect("a welcome");
    server
        .await
        .expect("the client proved that it knows the password");
}

#[tokio::test]
async fn a_server_that_does_not_know_the_password_is_not_trusted() {
    let mut backend = Backend::listen();
    let address = backend.address();
    tokio::spawn(async move {
        let mut client = backend.accept().await;
        client.startup().await;
        scram::authenticate(&mut client, "geheim", "something else").await;
    });
    let error = connect(&address, &startup("geheim"))
        .await
        .expect_err("a liar");
    assert!(
        matches!(error.kind, ConnectErrorKind::Scram(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_cannot_skip_its_own_proof() {
    let mut backend = Backend::listen();
    let address = backend.address();
    tokio::spawn(async move {
        let mut client = backend.accept().await;
        client.startup().await;
        client.say(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0").await;
        client.hear().await;
        client.welcome().await;
    });
    let error = connect(&address, &startup("geheim"))
        .await
        .expect_err("a liar");
    assert!(
        matches!(error.kind, ConnectErrorKind::Malformed(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_refusal_keeps_the_words_of_the_server() {
    let mut backend = Backend::listen();
    let address = backend.address();
    tokio::spawn(async move {
        let mut client = backend.accept().await;
        client.startup().await;
        client
            .say(
                b'E',
                b"SFATAL\0VFATAL\0C3D000\0Mdatabase \"case_1\" does not exist\0\0",
            )
            .await;
    });
    let error = connect(&address, &startup(""))
        .await
        .expect_err("a refusal");
    let refusal = error.refusal().expect("the server's words");
    assert_eq!(refusal.severity, Severity::Fatal);
    assert_eq!(refusal.code, "3D000");
    assert_eq!(refusal.message, "database \"case_1\" does not exist");
}

#[tokio::test]
async fn strangers_are_recognised() {
    for (greeting, expected) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "protocol"),
        (b"R\0\0\0\x08\0\0\0\x07", "GSSAPI authentication"),
        (b"", "closed the connection"),
    ] {
        let mut backend = Backend::listen();
        let address = backend.address();
        tokio::spawn(async move {
            let mut client = backend.accept().await;
            client.startup().await;
            client.write(greeting).await;
        });
        let error = connect(&address, &startup(""))
            .await
            .expect_err("a stranger");
        assert!(error.kind.to_string().contains(expected), "{}", error.kind);
    }
}

#[tokio::test]
async fn receiving_can_be_given_up_and_taken_up_again() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let (go_on, wait) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.hear().await;
        client.write(b"C\0\0\0\x0aBE").await;
        wait.await.expect("the test goes on");
        client.write(b"GIN\0Z\0\0\0\x05T").await;
        client.hear().await;
    });
    let (mut sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    sender.query("BEGIN;").await.expect("the server listens");
    let early = tokio::time::timeout(Duration::from_millis(20), receiver.next()).await;
    assert!(early.is_err(), "half a message is none: {early:?}");
    go_on.send(()).expect("the backend waits");
    assert_eq!(
        until_pause(&mut receiver).await,
        [
            Incoming::Answer(Answer::Command("BEGIN".to_owned())),
            Incoming::Ready(TransactionStatus::InTransaction)
        ]
    );
}

#[tokio::test]
async fn what_the_server_says_before_it_goes_is_heard() {
    let mut backend = Backend::listen();
    let address = backend.address();
    tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.hear().await;
        client.say(b'E', FATAL_SHUTDOWN).await;
    });
    let (mut sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    sender.query("SELECT 1;").await.expect("the server listens");
    let incoming = until_pause(&mut receiver).await;
    assert!(
        matches!(
            incoming.as_slice(),
            [Incoming::Answer(Answer::Error(error)), Incoming::Closed(Closing::Server)]
                if error.severity == Severity::Fatal && error.code == "57P01"
        ),
        "{incoming:?}"
    );
    assert_eq!(receiver.next().await, None);
}

#[tokio::test]
async fn dropping_the_sender_closes_the_connection_without_a_goodbye() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.rest().await
    });
    let (sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    let receiving = tokio::spawn(async move { receiver.next().await });
    drop(sender);
    assert_eq!(
        receiving.await.expect("it ends"),
        Some(Incoming::Closed(Closing::Client))
    );
    assert_eq!(server.await.expect("it ends"), b"", "nothing was said");
}

#[tokio::test]
async fn terminating_says_goodbye_and_waits_for_the_server() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.rest().await
    });
    let (sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    sender.terminate().await.expect("the server listens");
    assert_eq!(
        receiver.next().await,
        Some(Incoming::Closed(Closing::Server))
    );
    assert_eq!(server.await.expect("it ends"), b"X\0\0\0\x04");
}

#[tokio::test]
async fn sql_with_a_nul_byte_is_not_sent() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.hear().await
    });
    let (mut sender, _receiver) = connect(&address, &startup("")).await.expect("a welcome");
    let refused = sender.query("SELECT '\0';").await;
    assert!(
        matches!(refused, Err(SendError::NulByte { offset: 8 })),
        "{refused:?}"
    );
    sender
        .query("SELECT 1;")
        .await
        .expect("the connection is as good as before");
    assert_eq!(
        server.await.expect("it ends"),
        (b'Q', b"SELECT 1;\0".to_vec())
    );
}

#[tokio::test]
async fn copy_goes_both_ways() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.hear().await;
        client.say(b'G', b"\0\0\0").await;
        let heard = [
            client.hear().await,
            client.hear().await,
            client.hear().await,
        ];
        client.say(b'H', b"\0\0\0").await;
        client.say(b'd', b"1\n").await;
        client.say(b'c', b"").await;
        client.say(b'C', b"COPY 1\0").await;
        client.say(b'Z', b"I").await;
        client.rest().await;
        heard
    });
    let (mut sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    sender
        .query("COPY t FROM STDIN;")
        .await
        .expect("the server listens");
    assert_eq!(
        receiver.next().await,
        Some(Incoming::Answer(Answer::CopyIn))
    );
    sender
        .copy_data(b"1\ta\n")
        .await
        .expect("the server listens");
    sender
        .copy_fail("no data")
        .await
        .expect("the server listens");
    sender.copy_done().await.expect("the server listens");
    assert_eq!(
        until_pause(&mut receiver).await,
        [
            Incoming::Answer(Answer::CopyOut(Vec::new())),
            Incoming::Answer(Answer::CopyOut(b"1\n".to_vec())),
            Incoming::Answer(Answer::Command("COPY 1".to_owned())),
            Incoming::Ready(TransactionStatus::Idle)
        ]
    );
    drop((sender, receiver));
    assert_eq!(
        server.await.expect("it ends"),
        [
            (b'd', b"1\ta\n".to_vec()),
            (b'f', b"no data\0".to_vec()),
            (b'c', Vec::new())
        ]
    );
}

#[tokio::test]
async fn an_answer_without_end_does_not_eat_all_memory() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.hear().await;
        client
            .say(
                b'T',
                b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0",
            )
            .await;
        let row = [&b"\0\x01\0\0\x03\xe8"[..], &[b'x'; 1000]].concat();
        while client.try_say(b'D', &row).await {}
    });
    let (mut sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    receiver.set_limit(1 << 20);
    sender
        .query("SELECT forever();")
        .await
        .expect("the server listens");
    assert_eq!(
        receiver.next().await,
        Some(Incoming::Closed(Closing::TooLarge { limit: 1 << 20 }))
    );
    drop((sender, receiver));
    server.await.expect("it notices that nobody listens");
}

#[tokio::test]
async fn a_cancel_request_names_the_backend_and_its_key() {
    for mut backend in [Backend::listen(), Backend::listen_tcp().await] {
        let address = backend.address();
        let server = tokio::spawn(async move {
            let _client = backend.welcomed().await;
            let mut canceller = backend.accept().await;
            canceller.rest_of(16).await
        });
        let (sender, _receiver) = connect(&address, &startup("")).await.expect("a welcome");
        sender
            .cancel_token()
            .cancel()
            .await
            .expect("the server listens");
        let request = server.await.expect("it ends");
        let numbers: Vec<i32> = request
            .chunks(4)
            .map(|number| i32::from_be_bytes(number.try_into().expect("four bytes")))
            .collect();
        assert_eq!(numbers, [16, 80_877_102, 4711, 123_456]);
    }
}

#[tokio::test]
async fn nothing_secret_is_printed() {
    let mut backend = Backend::listen();
    let address = backend.address();
    tokio::spawn(async move { backend.welcomed().await.rest().await });
    let startup = startup("geheim");
    let (sender, receiver) = connect(&address, &startup).await.expect("a welcome");
    let printed = format!(
        "{startup:?} {sender:?} {receiver:?} {:?}",
        sender.cancel_token()
    );
    assert!(
        !printed.contains("geheim") && !printed.contains("123456"),
        "{printed}"
    );
}

#[tokio::test]
async fn nobody_at_home_is_said_with_the_address() {
    let backend = Backend::listen_tcp().await;
    let address = backend.address();
    drop(backend);
    let error = connect(&address, &startup(""))
        .await
        .expect_err("nobody listens");
    assert!(matches!(error.kind, ConnectErrorKind::Io(_)), "{error:?}");
    let Address::Tcp { port, .. } = address else {
        panic!("it is a port");
    };
    assert_eq!(
        error.to_string(),
        format!("connect to 127.0.0.1:{port} as `anna`")
    );
}
