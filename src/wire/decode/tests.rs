//! Hand-made bytes, and what they say.

use super::*;
use crate::transcript::ServerMessage;

/// A message: its tag, its length, its body.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 4).expect("a short message");
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

fn row_description(columns: &[(&str, u32)]) -> Vec<u8> {
    let mut body = u16::try_from(columns.len())
        .expect("few")
        .to_be_bytes()
        .to_vec();
    for (name, type_oid) in columns {
        body.extend(name.as_bytes());
        body.extend([0; 7]);
        body.extend(type_oid.to_be_bytes());
        body.extend([0; 8]);
    }
    message(b'T', &body)
}

fn data_row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = u16::try_from(values.len())
        .expect("few")
        .to_be_bytes()
        .to_vec();
    for value in values {
        match value {
            Some(value) => {
                body.extend(i32::try_from(value.len()).expect("short").to_be_bytes());
                body.extend(*value);
            }
            None => body.extend((-1_i32).to_be_bytes()),
        }
    }
    message(b'D', &body)
}

fn fields(tag: u8, fields: &[(u8, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, value) in fields {
        body.push(*kind);
        body.extend(value.as_bytes());
        body.push(0);
    }
    body.push(0);
    message(tag, &body)
}

fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

/// Decodes what comes in one piece.
fn decode(bytes: &[u8]) -> Result<Vec<Incoming>, Closing> {
    decode_pieces(&[bytes], 1 << 20)
}

fn decode_pieces(pieces: &[&[u8]], limit: usize) -> Result<Vec<Incoming>, Closing> {
    let mut decoder = Decoder::new(limit);
    let mut incoming = Vec::new();
    for piece in pieces {
        decoder.incoming.extend_from_slice(piece);
        while let Some(next) = decoder.next()? {
            incoming.push(next);
        }
    }
    assert!(decoder.incoming.is_empty(), "bytes were left over");
    Ok(incoming)
}

/// One of everything.
fn conversation() -> Vec<u8> {
    [
        message(b'S', b"TimeZone\0UTC\0"),
        fields(
            b'N',
            &[
                (b'S', "HINWEIS"),
                (b'V', "NOTICE"),
                (b'C', "00000"),
                (b'M', "hm"),
            ],
        ),
        row_description(&[("id", 23), ("näme", 25)]),
        data_row(&[Some(b"1"), Some("Zoë".as_bytes())]),
        fields(b'N', &[(b'V', "WARNING"), (b'M', "between rows")]),
        data_row(&[Some(b""), None]),
        message(b'C', b"SELECT 2\0"),
        message(b'C', b"UPDATE 7\0"),
        message(b'I', b""),
        message(b'H', &[0, 0, 1, 0, 0]),
        message(b'd', b"a\tb\n"),
        message(b'd', b"\\N\t\xff\n"),
        message(b'c', b""),
        message(b'C', b"COPY 2\0"),
        message(b'G', &[0, 0, 1, 0, 0]),
        message(b'C', b"COPY 0\0"),
        message(b'A', b"\x00\x00\x00\x2achannel\0payload\0"),
        ready(b'T'),
    ]
    .concat()
}

#[test]
fn everything_comes_in_the_order_of_the_server() {
    let notice = |severity, code: &str, text: &str| {
        Incoming::Answer(Answer::Notice(ServerMessage {
            severity,
            code: code.to_owned(),
            message: text.to_owned(),
            ..blank()
        }))
    };
    let command = |tag: &str| Incoming::Answer(Answer::Command(tag.to_owned()));
    let column = |name: &str, type_oid| Column {
        name: name.to_owned(),
        type_oid,
    };
    assert_eq!(
        decode(&conversation()).expect("it is well formed"),
        [
            notice(Severity::Notice, "00000", "hm"),
            // Like psql, which shows a result once it is whole.
            notice(Severity::Warning, "", "between rows"),
            Incoming::Answer(Answer::Rows(ResultSet {
                columns: vec![column("id", 23), column("näme", 25)],
                rows: vec![
                    vec![Some("1".to_owned()), Some("Zoë".to_owned())],
                    vec![Some(String::new()), None],
                ],
                tag: "SELECT 2".to_owned(),
            })),
            command("UPDATE 7"),
            Incoming::Answer(Answer::Empty),
            Incoming::Answer(Answer::CopyOut(Vec::new())),
            Incoming::Answer(Answer::CopyOut(b"a\tb\n".to_vec())),
            Incoming::Answer(Answer::CopyOut(b"\\N\t\xff\n".to_vec())),
            command("COPY 2"),
            Incoming::Answer(Answer::CopyIn),
            command("COPY 0"),
            Incoming::Answer(Answer::Notification(Notification {
                pid: 42,
                channel: "channel".to_owned(),
                payload: "payload".to_owned(),
            })),
            Incoming::Ready(TransactionStatus::InTransaction),
        ]
    );
}

#[test]
fn it_does_not_matter_where_the_bytes_are_cut() {
    let bytes = conversation();
    let whole = decode(&bytes).expect("it is well formed");
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(
            decode_pieces(&[head, tail], 1 << 20).as_ref(),
            Ok(&whole),
            "cut at {at}"
        );
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode_pieces(&single, 1 << 20), Ok(whole));
}

#[test]
fn damaged_bytes_do_no_harm() {
    let bytes = conversation();
    for at in 0..bytes.len() {
        for damage in [0x01, 0x20, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= damage;
            // Whatever it says, it comes to an end, and in bounds.
            let mut decoder = Decoder::new(1 << 20);
            decoder.incoming.extend_from_slice(&damaged);
            while let Ok(Some(_)) = decoder.next() {}
        }
    }
}

#[test]
fn an_error_keeps_all_its_fields() {
    let bytes = fields(
        b'E',
        &[
            (b'S', "FEHLER"),
            (b'V', "ERROR"),
            (b'C', "23505"),
            (b'M', "duplicate key"),
            (b'D', "the detail"),
            (b'H', "the hint"),
            (b'P', "7"),
            (b'p', "11"),
            (b'q', "SELECT 1"),
            (b'W', "the context"),
            (b's', "public"),
            (b't', "jobs"),
            (b'c', "id"),
            (b'd', "int4"),
            (b'n', "jobs_pkey"),
            (b'F', "nbtinsert.c"),
            (b'L', "666"),
            (b'R', "_bt_check_unique"),
            (b'?', "of a later version"),
        ],
    );
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        decode(&bytes),
        Ok(vec![Incoming::Answer(Answer::Error(ServerMessage {
            severity: Severity::Error,
            code: "23505".to_owned(),
            message: "duplicate key".to_owned(),
            detail: some("the detail"),
            hint: some("the hint"),
            position: Some(7),
            internal_position: Some(11),
            internal_query: some("SELECT 1"),
            context: some("the context"),
            schema: some("public"),
            table: some("jobs"),
            column: some("id"),
            datatype: some("int4"),
            constraint: some("jobs_pkey"),
            file: some("nbtinsert.c"),
            line: Some(666),
            routine: some("_bt_check_unique"),
        }))])
    );
}

#[test]
fn rows_before_an_error_are_no_result() {
    let bytes = [
        row_description(&[("q", 23)]),
        data_row(&[Some(b"1")]),
        fields(
            b'E',
            &[(b'S', "ERROR"), (b'C', "22012"), (b'M', "division by zero")],
        ),
        ready(b'E'),
    ]
    .concat();
    let incoming = decode(&bytes).expect("it is well formed");
    assert!(matches!(
        incoming.as_slice(),
        [
            Incoming::Answer(Answer::Error(error)),
            Incoming::Ready(TransactionStatus::Failed)
        ] if error.severity == Severity::Error && error.code == "22012"
    ));
}

#[test]
fn text_that_is_not_utf8_does_no_harm() {
    let bytes = [
        row_description(&[("v", 25)]),
        data_row(&[Some(b"a\xffb")]),
        message(b'C', b"SELECT 1\0"),
    ]
    .concat();
    let incoming = decode(&bytes).expect("it is well formed");
    assert!(matches!(
        incoming.as_slice(),
        [Incoming::Answer(Answer::Rows(result))]
            if result.rows == [[Some("a\u{fffd}b".to_owned())]]
    ));
}

#[test]
fn what_is_not_the_protocol_is_said_to_be_so() {
    let broken: [&[u8]; 7] = [
        b"HTTP/1.1 400 Bad Request\r\n",
        &message(b'~', b""),
        &[b'Z', 0, 0, 0, 2],
        &ready(b'?'),
        &message(b'Z', b"II"),
        &data_row(&[Some(b"1")]),
        &[row_description(&[("a", 23)]), data_row(&[None, None])].concat(),
    ];
    for bytes in broken {
        let closing = decode(bytes).expect_err("it is broken");
        assert!(
            matches!(closing, Closing::Malformed(_) | Closing::TooLarge { .. }),
            "{closing}"
        );
    }
}

#[test]
fn a_limit_counts_everything_up_to_the_next_ready() {
    let some = data_row(&[Some(&[b'x'; 100])]);
    let answer = |rows: usize| {
        [
            row_description(&[("v", 25)]),
            some.repeat(rows),
            message(b'C', b"SELECT\0"),
            ready(b'I'),
        ]
        .concat()
    };
    assert!(decode_pieces(&[&answer(4), &answer(4), &answer(4)], 1000).is_ok());
    assert_eq!(
        decode_pieces(&[&answer(6)], 1000),
        Err(Closing::TooLarge { limit: 1000 })
    );
    // A message that says it is long is refused before it is there.
    assert_eq!(
        decode_pieces(&[&[b'D', 0x7f, 0xff, 0xff, 0xff]], 1000),
        Err(Closing::TooLarge { limit: 1000 })
    );
    // Values without text cost memory, too.
    let nulls = data_row(&[None; 20]);
    assert_eq!(
        decode_pieces(&[&[row_description(&[("", 25); 20]), nulls].concat()], 1000),
        Err(Closing::TooLarge { limit: 1000 })
    );
}

fn blank() -> ServerMessage {
    ServerMessage::new(Severity::Error, "", "")
}
