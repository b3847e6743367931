//! A session while it is played: its connection and the step it is at.

mod message;
mod turn;

use std::fmt;
use std::sync::Arc;

use crate::scenario::{Reply, Sending, Statement};
use crate::transcript::{Answer, ServerMessage, Severity};
use crate::wire::{CancelToken, Incoming, SendError, Sender, TransactionStatus};

use message::{How, Message};
pub(crate) use turn::{Answered, Turn};

/// SQL of the runner's own that is to run before the session's next message, by the status of its
/// transaction and the SQL of the message; `None` for nothing. It leaves no trace in the transcript.
/// In a transaction that has failed there is none, since nothing would run.
#[derive(Clone)]
pub(crate) struct Prelude(pub Arc<Before>);

/// Gives SQL of the runner's own by a transaction's status and the SQL that is to follow.
type Before = dyn Fn(TransactionStatus, &str) -> Option<String> + Send + Sync;

impl fmt::Debug for Prelude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prelude")
    }
}

/// Why a session does not go on. Reads well after "failed to".
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    /// What it has to send cannot be sent.
    #[error(transparent)]
    Send(SendError),
    /// What the runner sent before it for itself failed.
    #[error("prepare the session for its statement: {}: {} ({})", .0.severity.as_str(), .0.message, .0.code)]
    Prelude(Box<ServerMessage>),
}

/// A COPY that waits for more data.
#[derive(Debug)]
struct Stream {
    statement: Statement,
    /// Whether the server has given it up: it heeds no more of the data.
    is_over: bool,
}

/// A session while it is played.
#[derive(Debug)]
pub(crate) struct LiveSession {
    sender: Option<Sender>,
    prelude: Option<Prelude>,
    status: TransactionStatus,
    /// Whether what the server says now is about the prelude.
    is_in_prelude: bool,
    unsolicited: Vec<Answer>,
    /// How many notices have come.
    notices: u32,
    stream: Option<Stream>,
    /// How the answer to the last message of the turn is waited for.
    reply: Reply,
    /// The step it is at.
    pub turn: Option<Turn>,
}

impl LiveSession {
    /// A session that has just connected.
    pub(crate) const fn new(sender: Sender, prelude: Option<Prelude>) -> Self {
        Self {
            sender: Some(sender),
            prelude,
            status: TransactionStatus::Idle,
            is_in_prelude: false,
            unsolicited: Vec::new(),
            notices: 0,
            stream: None,
            reply: Reply::Awaited,
            turn: None,
        }
    }

    /// Whether something has been sent whose end has not been seen.
    pub(crate) fn in_flight(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| !turn.is_over())
    }

    /// Whether there is a connection, as far as the session knows.
    pub(crate) const fn is_connected(&self) -> bool {
        self.sender.is_some()
    }

    /// How many notices have come.
    pub(crate) const fn notices(&self) -> u32 {
        self.notices
    }

    /// What cancels the session's statement.
    pub(crate) fn cancel_token(&self) -> Option<CancelToken> {
        self.sender.as_ref().map(Sender::cancel_token)
    }

    /// Drops the connection without a goodbye, as a client does that dies, and what it was at.
    pub(crate) fn die(&mut self) {
        self.sender = None;
        self.turn = None;
        self.stream = None;
        self.unsolicited.clear();
    }

    /// Drops what came for the statement in flight, and what came while the session was idle.
    pub(crate) fn forget_answers(&mut self) {
        self.unsolicited.clear();
        if let Some(turn) = &mut self.turn {
            turn.forget_answers();
        }
    }

    /// Sends the first message of a step. `reply` counts for the last one: those before it are
    /// answered. Where the reply is to be lost, or the message, the connection is given up.
    pub(crate) async fn begin(
        &mut self,
        step: Option<usize>,
        sending: &Sending,
        reply: Reply,
    ) -> Result<(), Obstacle> {
        let mut messages = Message::all_of(sending);
        let mut unsolicited = Vec::new();
        match (&self.stream, messages.front_mut()) {
            // What the server says while a stream is open is seen at its end, as psql shows it.
            (Some(_), Some(message)) if message.leaves_stream_open() => {}
            (Some(stream), first) => {
                unsolicited = std::mem::take(&mut self.unsolicited);
                let statement = (0, stream.statement.clone());
                match first {
                    Some(message) if message.is_data() => message.statements = vec![statement],
                    _ => messages.push_front(Message::give_up_copy(statement)),
                }
            }
            // What came while the session was idle is seen at its next use, as psql shows it.
            // Whether it came in before that use or just after must not be seen, so it stands first.
            (None, _) => unsolicited = std::mem::take(&mut self.unsolicited),
        }
        self.turn = Some(Turn::new(step, messages, unsolicited));
        self.reply = reply;
        self.send().await
    }

    /// Asks the server for nothing, so that an idle session takes in what others have notified it
    /// of; whether there is an answer to wait for.
    pub(crate) async fn knock(&mut self) -> Result<bool, Obstacle> {
        let is_idle = self.status == TransactionStatus::Idle && !self.in_flight();
        let Some(sender) = self.sender.as_mut().filter(|_| is_idle) else {
            return Ok(false);
        };
        if self.stream.is_some() {
            return Ok(false);
        }
        self.is_in_prelude = true;
        unless_broken(sender.query("").await)?;
        Ok(true)
    }

    /// Whether the server has yet to answer what the runner has asked for itself.
    pub(crate) const fn is_in_prelude(&self) -> bool {
        self.is_in_prelude
    }

    /// Takes in what came from the server, and sends the next message when one is over.
    pub(crate) async fn receive(&mut self, incoming: Incoming) -> Result<(), Obstacle> {
        // Who has hung up hears nothing more.
        if self.sender.is_none() {
            return Ok(());
        }
        match incoming {
            Incoming::Answer(answer) if self.is_in_prelude => return self.heed_prelude(answer),
            Incoming::Answer(Answer::CopyIn) => return self.feed_copy().await,
            Incoming::Answer(answer) => self.take(answer),
            Incoming::Ready(status) => {
                self.status = status;
                if std::mem::take(&mut self.is_in_prelude) {
                    return self.send_message().await;
                }
                return self.be_ready().await;
            }
            Incoming::Closed(_) => self.lose_connection(),
        }
        Ok(())
    }

    /// Drops the messages of the step that have not been sent.
    pub(crate) fn abandon(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.messages.truncate(usize::from(!self.is_in_prelude));
        }
    }

    /// Says goodbye and closes the connection.
    pub(crate) async fn close(&mut self) {
        if let Some(sender) = self.sender.take() {
            // The server may have gone first.
            let _ = sender.terminate().await;
        }
    }

    fn take(&mut self, answer: Answer) {
        self.notices += u32::from(matches!(answer, Answer::Notice(_)));
        match &mut self.turn {
            Some(turn) if !turn.is_over() => turn.take(answer),
            _ => self.unsolicited.push(answer),
        }
    }

    /// The server is ready: the message in flight is over, or the stream that was left open.
    async fn be_ready(&mut self) -> Result<(), Obstacle> {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_over()) else {
            if let Some(stream) = &mut self.stream {
                stream.is_over = true;
            }
            return Ok(());
        };
        self.stream = None;
        if self.reply == Reply::Lost && turn.messages.len() == 1 {
            self.lose_reply();
            return Ok(());
        }
        turn.end_message(Some(self.status));
        self.send().await
    }

    /// Sends the next message, or what the runner has to say before it.
    async fn send(&mut self) -> Result<(), Obstacle> {
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.is_over()) else {
            return Ok(());
        };
        if self.reply == Reply::Unsent && turn.messages.len() == 1 {
            self.lose_reply();
            return Ok(());
        }
        let prelude = match (&self.prelude, turn.messages.front()) {
            (Some(Prelude(prelude)), Some(message)) if self.stream.is_none() => {
                prelude(self.status, &message.sql())
                    .filter(|_| self.status != TransactionStatus::Failed)
            }
            _ => None,
        };
        let (Some(prelude), Some(sender)) = (prelude, &mut self.sender) else {
            return self.send_message().await;
        };
        self.is_in_prelude = true;
        unless_broken(sender.query(&prelude).await)
    }

    /// Sends the next message.
    async fn send_message(&mut self) -> Result<(), Obstacle> {
        let Some(turn) = self.turn.as_mut() else {
            return Ok(());
        };
        let Some(message) = turn.messages.front() else {
            return Ok(());
        };
        let Some(sender) = &mut self.sender else {
            self.lose_connection();
            return Ok(());
        };
        if message.leaves_stream_open() && message.is_data() {
            // A stream that the server has given up takes what is written to it all the same.
            let sent = unless_broken(message.send(sender).await);
            turn.end_message(None);
            return sent;
        }
        if self.stream.as_ref().is_some_and(|stream| stream.is_over) {
            return Box::pin(self.be_ready()).await;
        }
        unless_broken(message.send(sender).await)
    }

    /// The server asks for the data of a COPY.
    async fn feed_copy(&mut self) -> Result<(), Obstacle> {
        let (Some(turn), Some(sender)) = (&mut self.turn, &mut self.sender) else {
            return Ok(());
        };
        let Some(message) = turn.messages.front() else {
            return Ok(());
        };
        let How::Copy(data) = &message.how else {
            return unless_broken(message.refuse_copy(turn.place(), sender).await);
        };
        let sent = unless_broken(data.send(sender).await);
        let stream = message.leaves_stream_open().then(|| Stream {
            statement: message.statement(),
            is_over: false,
        });
        turn.take(Answer::CopyIn);
        if stream.is_some() {
            self.stream = stream;
            turn.end_message(None);
        }
        sent
    }

    /// Takes in what the server says about the prelude, of which nobody is told unless it means the
    /// session or the end of the connection.
    fn heed_prelude(&mut self, answer: Answer) -> Result<(), Obstacle> {
        match answer {
            Answer::Error(error) if error.severity == Severity::Error => {
                Err(Obstacle::Prelude(Box::new(error)))
            }
            Answer::Error(_) | Answer::Notice(_) | Answer::Notification(_) => {
                self.take(answer);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn lose_reply(&mut self) {
        self.sender = None;
        self.stream = None;
        if let Some(turn) = &mut self.turn {
            turn.end_for_good(Answer::ReplyLost);
        }
    }

    fn lose_connection(&mut self) {
        self.sender = None;
        self.is_in_prelude = false;
        let Some(turn) = &mut self.turn else {
            return;
        };
        if self.reply != Reply::Lost || turn.messages.len() > 1 {
            turn.end_for_good(Answer::ConnectionLost);
        } else {
            self.lose_reply();
        }
    }
}

/// A connection that is broken is the receiving half's to tell, once it has read what the server
/// still had to say.
fn unless_broken(sent: Result<(), SendError>) -> Result<(), Obstacle> {
    match sent {
        Ok(()) | Err(SendError::Io(_)) => Ok(()),
        Err(error) => Err(Obstacle::Send(error)),
    }
}

#[cfg(all(test, unix))]
mod tests;
