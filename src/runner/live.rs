//! A session while it is played: its connection and the step it is at.

use std::collections::VecDeque;

use crate::scenario::{SqlText, Statement, split};
use crate::transcript::{Answer, ServerMessage, TransactionStatus};
use crate::wire::{Incoming, SendError, Sender};

/// One statement of a step, ended, with all that came for it.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Which piece of the step's SQL it is from.
    pub part: usize,
    /// The statement.
    pub statement: Statement,
    /// What came, in order.
    pub answers: Vec<Answer>,
    /// Whether the session was in a transaction afterwards, where the server said so.
    pub status: Option<TransactionStatus>,
}

impl Answered {
    /// The error, if it failed.
    pub(crate) fn error(&self) -> Option<&ServerMessage> {
        self.answers.iter().find_map(|answer| match answer {
            Answer::Error(error) => Some(error),
            _ => None,
        })
    }
}

/// A step that a session is at. It stays with the session until its last answer is reported.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The position of the step in the scenario; `None` for set-up and tear-down.
    pub step: Option<usize>,
    /// The statements that are not over yet, first the one that is in flight.
    statements: VecDeque<Statement>,
    answers: Vec<Answer>,
    /// Statements that have ended and are not reported yet.
    pub ended: Vec<Answered>,
    /// Whether the turn has been reported to wait: when it began to, counted over the case.
    pub waiting_since: Option<usize>,
}

impl Turn {
    /// Whether the last statement has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.statements.is_empty()
    }
}

/// A session while it is played.
#[derive(Debug)]
pub(crate) struct LiveSession {
    sender: Option<Sender>,
    unsolicited: Vec<Answer>,
    /// The step it is at.
    pub turn: Option<Turn>,
}

impl LiveSession {
    /// A session that has just connected.
    pub(crate) fn new(sender: Sender) -> Self {
        Self {
            sender: Some(sender),
            unsolicited: Vec::new(),
            turn: None,
        }
    }

    /// Whether a statement has been sent whose end has not been seen.
    pub(crate) fn in_flight(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| !turn.is_over())
    }

    /// Sends the first statement of a step.
    pub(crate) async fn begin(
        &mut self,
        step: Option<usize>,
        sql: &SqlText,
    ) -> Result<(), SendError> {
        // The loader has refused what cannot be split, and what holds no statement.
        let statements = split(&sql.text).unwrap_or_default().into();
        self.turn = Some(Turn {
            step,
            statements,
            // What came while the session was idle is seen at its next use, as psql shows it. Whether
            // it came in before that use or just after must not be seen, so it stands first.
            answers: std::mem::take(&mut self.unsolicited),
            ended: Vec::new(),
            waiting_since: None,
        });
        self.send().await
    }

    /// Takes in what came from the server, and sends the next statement when one has ended.
    pub(crate) async fn receive(&mut self, incoming: Incoming) -> Result<(), SendError> {
        match incoming {
            Incoming::Answer(Answer::CopyIn) => return self.refuse_copy_in().await,
            Incoming::Answer(answer) => match &mut self.turn {
                Some(turn) if !turn.is_over() => turn.answers.push(answer),
                _ => self.unsolicited.push(answer),
            },
            Incoming::Ready(status) => {
                if self.end_statement(Some(status)) {
                    return self.send().await;
                }
            }
            Incoming::Closed(_) => self.lose_connection(),
        }
        Ok(())
    }

    /// Drops the statements of the step that have not been sent.
    pub(crate) fn abandon(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.statements.truncate(1);
        }
    }

    /// Says goodbye and closes the connection.
    pub(crate) async fn close(&mut self) {
        if let Some(sender) = self.sender.take() {
            // The server may have gone first.
            let _ = sender.terminate().await;
        }
    }

    /// Ends the statement in flight; whether there is another one to send.
    fn end_statement(&mut self, status: Option<TransactionStatus>) -> bool {
        let Some(turn) = &mut self.turn else {
            return false;
        };
        let Some(statement) = turn.statements.pop_front() else {
            return false;
        };
        let answers = std::mem::take(&mut turn.answers);
        turn.ended.push(Answered {
            part: 0,
            statement,
            answers,
            status,
        });
        !turn.is_over()
    }

    async fn send(&mut self) -> Result<(), SendError> {
        let Some(statement) = self.turn.as_ref().and_then(|turn| turn.statements.front()) else {
            return Ok(());
        };
        match &mut self.sender {
            Some(sender) => unless_broken(sender.query(&statement.text).await),
            None => {
                self.lose_connection();
                Ok(())
            }
        }
    }

    async fn refuse_copy_in(&mut self) -> Result<(), SendError> {
        match &mut self.sender {
            Some(sender) => unless_broken(
                sender
                    .copy_fail("the scenario has no rows for this COPY")
                    .await,
            ),
            None => Ok(()),
        }
    }

    fn lose_connection(&mut self) {
        self.sender = None;
        if let Some(turn) = &mut self.turn
            && !turn.is_over()
        {
            turn.answers.push(Answer::ConnectionLost);
            turn.statements.truncate(1);
            self.end_statement(None);
        }
    }
}

/// A connection that is broken is the receiving half's to tell, once it has read what the server
/// still had to say.
fn unless_broken(sent: Result<(), SendError>) -> Result<(), SendError> {
    match sent {
        Err(SendError::Io(_)) => Ok(()),
        other => other,
    }
}
