use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use super::*;
use crate::scenario::{Bound, Span, SqlText};
use crate::server::Address;
use crate::wire::{Receiver, Startup, connect};

/// The messages a server sends, each with its first letter.
type Said<'a> = &'a [(u8, &'a [u8])];

const READY: (u8, &[u8]) = (b'Z', b"I");
const FAILED: (u8, &[u8]) = (b'Z', b"E");
const ERROR: (u8, &[u8]) = (b'E', b"SERROR\0VERROR\0C22012\0Mno\0\0");
const COPY_IN: (u8, &[u8]) = (b'G', &[0, 0, 0]);

/// A session whose server says what a test tells it to say.
struct Stage {
    live: LiveSession,
    receiver: Receiver,
    server: UnixStream,
}

impl Stage {
    async fn new(prelude: Option<Prelude>) -> Self {
        let directory = tempfile::tempdir().expect("a folder");
        let listener =
            UnixListener::bind(directory.path().join(".s.PGSQL.5432")).expect("a socket");
        let address = Address::Unix {
            directory: directory.path().to_owned(),
            port: 5432,
        };
        let startup = Startup {
            user: "anna".to_owned(),
            password: String::new(),
            database: "case".to_owned(),
            application_name: "A".to_owned(),
            options: Vec::new(),
        };
        let welcome = async {
            let (mut server, _) = listener.accept().await.expect("a client");
            let length = server.read_u32().await.expect("a length");
            let mut startup = vec![0; length as usize - 4];
            server.read_exact(&mut startup).await.expect("a message");
            say(&mut server, &[(b'R', &[0; 4]), (b'K', &[0; 8]), READY]).await;
            server
        };
        let (server, connected) = tokio::join!(welcome, connect(&address, &startup));
        let (sender, receiver) = connected.expect("a welcome");
        Self {
            live: LiveSession::new(sender, prelude),
            receiver,
            server,
        }
    }

    async fn begin(&mut self, sending: &Sending, reply: Reply) {
        self.live
            .begin(Some(0), sending, reply)
            .await
            .expect("it can be sent");
    }

    /// The first letters of the next messages from the client.
    async fn heard(&mut self, count: usize) -> String {
        let mut letters = String::new();
        for _ in 0..count {
            letters.push(char::from(self.server.read_u8().await.expect("a letter")));
            let length = self.server.read_u32().await.expect("a length");
            let mut body = vec![0; length as usize - 4];
            self.server.read_exact(&mut body).await.expect("a body");
        }
        letters
    }

    /// The server says something, and the session takes it in up to where the server is ready or
    /// the session goes on.
    async fn hear(&mut self, said: Said<'_>) -> Result<(), Obstacle> {
        say(&mut self.server, said).await;
        for _ in 0..said
            .iter()
            .filter(|(letter, _)| b"CEGZ1".contains(letter))
            .count()
        {
            let incoming = self.receiver.next().await.expect("the server is there");
            self.live.receive(incoming).await?;
        }
        Ok(())
    }

    /// What has been answered to each statement that is over.
    fn answers(&mut self) -> Vec<Vec<Answer>> {
        let turn = self.live.turn.as_mut().expect("a turn");
        let ended = std::mem::take(&mut turn.ended);
        ended.into_iter().map(|one| one.answers).collect()
    }

    /// Whether the client has gone without another word.
    async fn is_deserted(&mut self) -> bool {
        let closed = self.receiver.next().await;
        assert!(matches!(closed, Some(Incoming::Closed(_))), "{closed:?}");
        let mut rest = Vec::new();
        self.server.read_to_end(&mut rest).await.expect("an end");
        rest.is_empty()
    }
}

async fn say(server: &mut UnixStream, said: Said<'_>) {
    for (letter, body) in said {
        let length = u32::try_from(body.len() + 4).expect("a short message");
        let message = [&[*letter], &length.to_be_bytes()[..], *body].concat();
        server
            .write_all(&message)
            .await
            .expect("the client is there");
    }
}

fn sql(text: &str) -> SqlText {
    SqlText {
        text: text.to_owned(),
        span: Span { start: 0, end: 0 },
        origins: Vec::new(),
    }
}

fn statements(text: &str) -> Sending {
    Sending::Statements(sql(text))
}

fn pipeline(texts: &[&str]) -> Sending {
    let bound = |text: &&str| Bound {
        sql: sql(text),
        params: Vec::new(),
    };
    Sending::Pipeline(texts.iter().map(bound).collect())
}

fn copy(statement: Option<&str>, more: bool) -> Sending {
    Sending::Copy {
        sql: statement.map(sql),
        data: sql("1\n"),
        more,
    }
}

fn tag(tag: &str) -> Answer {
    Answer::Command(tag.to_owned())
}

#[tokio::test]
async fn a_prelude_goes_before_each_message_and_leaves_no_trace() {
    let asked: Arc<Mutex<Vec<TransactionStatus>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let prelude = Prelude(Arc::new(move |status, _: &str| {
        noted.lock().expect("nobody panics").push(status);
        Some("SET a.b = 1".to_owned())
    }));
    let mut stage = Stage::new(Some(prelude)).await;
    stage
        .begin(&statements("BEGIN; SELECT 1/0; COMMIT;"), Reply::Awaited)
        .await;
    assert_eq!(stage.heard(1).await, "Q");
    stage
        .hear(&[(b'C', b"SET\0"), READY])
        .await
        .expect("it goes on");
    assert_eq!(stage.heard(1).await, "Q");
    stage
        .hear(&[(b'C', b"BEGIN\0"), (b'Z', b"T")])
        .await
        .expect("it goes on");
    assert_eq!(stage.heard(1).await, "Q");
    stage
        .hear(&[(b'C', b"SET\0"), (b'Z', b"T")])
        .await
        .expect("it goes on");
    stage.hear(&[ERROR, FAILED]).await.expect("it goes on");
    // None before the third one: nothing but the end of the transaction would run.
    stage
        .hear(&[(b'C', b"ROLLBACK\0"), READY])
        .await
        .expect("it goes on");
    assert!(!stage.live.in_flight());
    let answers = stage.answers();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0], [tag("BEGIN")]);
    assert!(matches!(answers[1][..], [Answer::Error(_)]), "{answers:?}");
    assert_eq!(answers[2], [tag("ROLLBACK")]);
    assert_eq!(
        *asked.lock().expect("nobody panics"),
        [
            TransactionStatus::Idle,
            TransactionStatus::InTransaction,
            TransactionStatus::Failed
        ]
    );
}

#[tokio::test]
async fn a_prelude_that_fails_is_an_obstacle() {
    let prelude = Prelude(Arc::new(|_, _: &str| Some("SET a.b = 1".to_owned())));
    let mut stage = Stage::new(Some(prelude)).await;
    stage.begin(&pipeline(&["SELECT 1"]), Reply::Awaited).await;
    let obstacle = stage.hear(&[ERROR]).await.expect_err("it failed");
    assert_eq!(
        obstacle.to_string(),
        "prepare the session for its statement: ERROR: no (22012)"
    );
}

#[tokio::test]
async fn a_pipeline_knows_which_statement_failed_and_which_did_not_run() {
    let mut stage = Stage::new(None).await;
    stage
        .begin(
            &pipeline(&["SELECT 1", "SELECT 2", "SELECT 3"]),
            Reply::Awaited,
        )
        .await;
    assert_eq!(stage.heard(13).await, "PBDEPBDEPBDES");
    stage
        .hear(&[
            (b'1', b""),
            (b'2', b""),
            (b'n', b""),
            (b'C', b"BEGIN\0"),
            ERROR,
            READY,
        ])
        .await
        .expect("it goes on");
    let answers = stage.answers();
    assert_eq!(answers[0], [tag("BEGIN")]);
    assert!(matches!(answers[1][..], [Answer::Error(_)]), "{answers:?}");
    assert_eq!(answers[2], [Answer::Skipped]);
}

#[tokio::test]
async fn a_lost_reply_is_dropped_and_the_client_gone_once_the_server_is_ready() {
    let mut stage = Stage::new(None).await;
    stage
        .begin(&statements("BEGIN; COMMIT;"), Reply::Lost)
        .await;
    stage
        .hear(&[(b'C', b"BEGIN\0"), (b'Z', b"T")])
        .await
        .expect("it goes on");
    assert_eq!(stage.heard(2).await, "QQ");
    assert!(stage.live.in_flight());
    stage
        .hear(&[(b'C', b"COMMIT\0"), READY])
        .await
        .expect("it goes on");
    assert!(!stage.live.in_flight());
    assert_eq!(
        stage.answers(),
        [vec![tag("BEGIN")], vec![Answer::ReplyLost]]
    );
    assert!(stage.is_deserted().await);
}

#[tokio::test]
async fn an_unsent_message_leaves_the_client_gone() {
    let mut stage = Stage::new(None).await;
    stage
        .begin(&statements("BEGIN; COMMIT;"), Reply::Unsent)
        .await;
    stage
        .hear(&[(b'C', b"BEGIN\0"), (b'Z', b"T")])
        .await
        .expect("it goes on");
    assert_eq!(stage.heard(1).await, "Q");
    assert_eq!(
        stage.answers(),
        [vec![tag("BEGIN")], vec![Answer::ReplyLost]]
    );
    assert!(stage.is_deserted().await);
}

#[tokio::test]
async fn a_stream_that_fails_early_reads_the_same_as_one_that_fails_late() {
    let mut seen = Vec::new();
    for is_early in [true, false] {
        let mut stage = Stage::new(None).await;
        stage
            .begin(&copy(Some("COPY t FROM STDIN"), true), Reply::Awaited)
            .await;
        stage.hear(&[COPY_IN]).await.expect("it goes on");
        assert!(stage.live.in_flight());
        assert_eq!(stage.live.written(), Some(2));
        if is_early {
            stage.hear(&[ERROR, READY]).await.expect("it goes on");
        } else {
            stage.live.leave_open();
        }
        assert!(!stage.live.in_flight());
        assert_eq!(stage.live.written(), None);
        assert_eq!(stage.answers(), [vec![Answer::CopyIn]]);
        stage.begin(&copy(None, true), Reply::Awaited).await;
        if !is_early {
            assert_eq!(stage.live.written(), Some(4));
            stage.live.leave_open();
        }
        assert!(!stage.live.in_flight());
        assert_eq!(stage.answers(), [Vec::<Answer>::new()]);
        stage.begin(&copy(None, false), Reply::Awaited).await;
        assert_eq!(stage.live.in_flight(), !is_early);
        if !is_early {
            stage.hear(&[ERROR, READY]).await.expect("it goes on");
        }
        seen.push(stage.answers());
        // The session goes on as if nothing had been.
        stage.begin(&statements("SELECT 1;"), Reply::Awaited).await;
        stage
            .hear(&[(b'C', b"SELECT 1\0"), READY])
            .await
            .expect("it goes on");
        assert_eq!(stage.answers(), [vec![tag("SELECT 1")]]);
    }
    assert!(matches!(seen[0][0][..], [Answer::Error(_)]), "{seen:?}");
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_connection_that_is_lost_while_data_is_taken_in_is_seen_at_its_end() {
    let mut stage = Stage::new(None).await;
    stage
        .begin(&copy(Some("COPY t FROM STDIN"), true), Reply::Awaited)
        .await;
    stage.hear(&[COPY_IN]).await.expect("it goes on");
    stage.server.shutdown().await.expect("an end");
    let closed = stage.receiver.next().await.expect("an end");
    stage.live.receive(closed).await.expect("it goes on");
    assert!(!stage.live.in_flight());
    assert_eq!(stage.answers(), [vec![Answer::CopyIn]]);
    stage.begin(&copy(None, false), Reply::Awaited).await;
    assert_eq!(stage.answers(), [vec![Answer::ConnectionLost]]);
}

#[test]
fn the_server_counts_no_further_than_the_marker_of_the_end() {
    for (data, bytes) in [
        ("", 0),
        ("1\tö\n2", 6),
        ("1\n\\.\n2\n", 4),
        ("1\r\\.\r2\r", 4),
        ("a\\.b\n\\.", 7),
    ] {
        assert_eq!(counted(data), bytes, "{data:?}");
    }
}

#[tokio::test]
async fn a_stream_that_is_left_is_ended_first() {
    let mut stage = Stage::new(None).await;
    stage
        .begin(&copy(Some("COPY t FROM STDIN"), true), Reply::Awaited)
        .await;
    stage.hear(&[COPY_IN]).await.expect("it goes on");
    stage.live.leave_open();
    stage.begin(&statements("SELECT 1;"), Reply::Awaited).await;
    assert_eq!(stage.heard(3).await, "Qdf");
    stage.hear(&[ERROR, READY]).await.expect("it goes on");
    assert_eq!(stage.heard(1).await, "Q");
    stage
        .hear(&[(b'C', b"SELECT 1\0"), READY])
        .await
        .expect("it goes on");
    let answers = stage.answers();
    assert!(matches!(answers[0][..], [Answer::Error(_)]), "{answers:?}");
    assert_eq!(answers[1], [tag("SELECT 1")]);
}

#[tokio::test]
async fn a_copy_without_data_is_refused_in_each_protocol() {
    for (sending, letters) in [
        (statements("COPY t FROM STDIN;"), "Qf"),
        (pipeline(&["COPY t FROM STDIN"]), "PBDESfS"),
    ] {
        let mut stage = Stage::new(None).await;
        stage.begin(&sending, Reply::Awaited).await;
        stage.hear(&[COPY_IN]).await.expect("it goes on");
        assert_eq!(stage.heard(letters.len()).await, letters);
        stage.hear(&[ERROR, READY]).await.expect("it goes on");
        assert!(!stage.live.in_flight());
    }
}
