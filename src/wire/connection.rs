//! Making a connection.

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;

use super::authentication::Authentication;
use super::cancel::CancelToken;
use super::decode::Decoder;
use super::error::{ConnectError, ConnectErrorKind};
use super::fields::server_message;
use super::receiver::{Closing, DEFAULT_LIMIT, Receiver};
use super::sender::Sender;
use super::startup::Startup;
use super::stream::{self, ReadHalf, WriteHalf};
use crate::server::{Address, Tls};
use crate::transcript::{ServerMessage, Severity};

/// No message before the first statement comes near this: 1 MiB.
const STARTUP_LIMIT: usize = 1 << 20;

/// Connects to a server and logs in; back when the server is ready for the first statement.
///
/// There is no time limit; wrap it in [`tokio::time::timeout`]. Dropping the future closes the
/// socket.
///
/// # Errors
///
/// When the server cannot be reached, refuses (its words are in
/// [`refusal`](ConnectError::refusal)), or wants a kind of authentication that is not supported.
pub async fn connect(
    address: &Address,
    startup: &Startup,
) -> Result<(Sender, Receiver), ConnectError> {
    connect_with_tls(address, &Tls::off(), startup).await
}

/// [`connect`], over an encrypted connection where `tls` asks for it. So are the cancel requests of
/// such a connection.
///
/// # Errors
///
/// Those of [`connect`], and when the connection cannot be encrypted.
pub async fn connect_with_tls(
    address: &Address,
    tls: &Tls,
    startup: &Startup,
) -> Result<(Sender, Receiver), ConnectError> {
    handshake(address, tls, startup)
        .await
        .map_err(|kind| ConnectError {
            address: address.clone(),
            user: startup.user.clone(),
            kind,
        })
}

async fn handshake(
    address: &Address,
    tls: &Tls,
    startup: &Startup,
) -> Result<(Sender, Receiver), ConnectErrorKind> {
    let first = startup.message()?;
    let (mut read, mut write) = stream::open(address, tls).await?;
    send(&mut write, &first).await?;

    let mut decoder = Decoder::new(STARTUP_LIMIT);
    let mut authentication = Authentication::Open;
    let mut key = None;
    let mut greeting: Vec<ServerMessage> = Vec::new();
    loop {
        let message = receive(&mut read, &mut decoder).await?;
        match message {
            Message::ErrorResponse(body) => {
                let message = server_message(body.fields(), Severity::Fatal).map_err(unreadable)?;
                return Err(ConnectErrorKind::Refused(Box::new(message)));
            }
            Message::NoticeResponse(body) => {
                greeting.push(server_message(body.fields(), Severity::Notice).map_err(unreadable)?);
            }
            Message::ParameterStatus(body) => {
                let name = body.name().map_err(unreadable)?.to_owned();
                let value = body.value().map_err(unreadable)?.to_owned();
                decoder.parameters.insert(name, value);
            }
            Message::BackendKeyData(body) => key = Some((body.process_id(), body.secret_key())),
            Message::ReadyForQuery(_) => {
                if !matches!(authentication, Authentication::Done) {
                    return Err(ConnectErrorKind::Malformed(
                        "ready before authentication is over".to_owned(),
                    ));
                }
                break;
            }
            message => answer(&mut write, authentication.step(&message, startup)?).await?,
        }
    }
    let (pid, key) = key.ok_or_else(|| {
        ConnectErrorKind::Malformed("the server does not say which backend serves".to_owned())
    })?;
    decoder.begin(DEFAULT_LIMIT);
    let (goodbye, said) = oneshot::channel();
    Ok((
        Sender::new(
            write,
            goodbye,
            CancelToken::new(address.clone(), tls.clone(), pid, key),
        ),
        Receiver::new(decoder, greeting, read, said),
    ))
}

async fn receive(read: &mut ReadHalf, decoder: &mut Decoder) -> Result<Message, ConnectErrorKind> {
    loop {
        match decoder.message() {
            Ok(Some(message)) => return Ok(message),
            Ok(None) => {}
            Err(Closing::Malformed(what)) => return Err(ConnectErrorKind::Malformed(what)),
            Err(closing) => return Err(ConnectErrorKind::Malformed(closing.to_string())),
        }
        if decoder.read(read).await.map_err(ConnectErrorKind::Io)? == 0 {
            return Err(ConnectErrorKind::Closed);
        }
    }
}

async fn answer(write: &mut WriteHalf, answer: Option<BytesMut>) -> Result<(), ConnectErrorKind> {
    match answer {
        Some(answer) => send(write, &answer).await,
        None => Ok(()),
    }
}

async fn send(write: &mut WriteHalf, message: &[u8]) -> Result<(), ConnectErrorKind> {
    write
        .write_all(message)
        .await
        .map_err(ConnectErrorKind::Io)?;
    write.flush().await.map_err(ConnectErrorKind::Io)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn unreadable(error: std::io::Error) -> ConnectErrorKind {
    ConnectErrorKind::Malformed(error.to_string())
}
