//! The extended protocol: what is sent, to the byte, and what is heard.

use lockstep::transcript::Answer;
use lockstep::wire::{Incoming, Request, SendError, TransactionStatus, connect};

use crate::backend::Backend;
use crate::{startup, until_pause};

#[tokio::test]
async fn requests_are_sent_in_order_with_values_as_text() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        let mut heard = Vec::new();
        for _ in 0..6 {
            heard.push(client.hear().await);
        }
        client.say(b'1', b"").await;
        client.say(b'2', b"").await;
        client.say(b't', &[0, 1, 0, 0, 0, 25]).await;
        client
            .say(b'T', b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\0\0\0\0\0\0")
            .await;
        client.say(b'D', b"\0\x01\0\0\0\x017").await;
        client.say(b's', b"").await;
        client.say(b'3', b"").await;
        client.say(b'Z', b"I").await;
        heard
    });
    let (mut sender, mut receiver) = connect(&address, &startup("")).await.expect("a welcome");
    let params = [Some("it's".to_owned()), None, Some(String::new())];
    sender
        .request(&[
            Request::Parse {
                name: "q",
                sql: "SELECT $1",
            },
            Request::Bind {
                statement: "q",
                params: &params,
            },
            Request::Describe,
            Request::Execute { max_rows: 1 },
            Request::Close { statement: "q" },
            Request::Sync,
        ])
        .await
        .expect("they are sent");
    let answers = until_pause(&mut receiver).await;
    let [
        Incoming::Answer(Answer::Prepared),
        Incoming::Answer(Answer::Rows(rows)),
        Incoming::Ready(TransactionStatus::Idle),
    ] = answers.as_slice()
    else {
        panic!("{answers:?}");
    };
    assert_eq!(rows.rows, [[Some("7".to_owned())]]);
    assert_eq!(rows.tag, "", "there would be more rows");
    assert_eq!(
        server.await.expect("the backend ran"),
        [
            (b'P', b"q\0SELECT $1\0\0\0".to_vec()),
            (
                b'B',
                b"\0q\0\0\0\0\x03\0\0\0\x04it's\xff\xff\xff\xff\0\0\0\0\0\0".to_vec()
            ),
            (b'D', b"P\0".to_vec()),
            (b'E', b"\0\0\0\0\x01".to_vec()),
            (b'C', b"Sq\0".to_vec()),
            (b'S', Vec::new()),
        ]
    );
}

#[tokio::test]
async fn what_the_protocol_cannot_carry_is_refused_before_anything_is_sent() {
    let mut backend = Backend::listen();
    let address = backend.address();
    let server = tokio::spawn(async move {
        let mut client = backend.welcomed().await;
        client.rest().await
    });
    let (mut sender, receiver) = connect(&address, &startup("")).await.expect("a welcome");
    let with_nul = [Some("a\0b".to_owned())];
    let too_many = vec![None; 65_536];
    for request in [
        Request::Parse {
            name: "",
            sql: "SELECT '\0'",
        },
        Request::Parse {
            name: "a\0b",
            sql: "SELECT 1",
        },
        Request::Bind {
            statement: "",
            params: &with_nul,
        },
        Request::Bind {
            statement: "",
            params: &too_many,
        },
        Request::Close { statement: "\0" },
    ] {
        let sent = sender.request(&[Request::Describe, request]).await;
        assert!(
            matches!(
                sent,
                Err(SendError::NulByte { .. } | SendError::TooManyParameters { count: 65_536 })
            ),
            "{sent:?}"
        );
    }
    drop((sender, receiver));
    assert_eq!(server.await.expect("the backend ran"), b"");
}
