//! A step that a session is at.

use std::collections::VecDeque;

use super::message::{How, Message};
use crate::scenario::Statement;
use crate::transcript::{Answer, ServerMessage, TransactionStatus};

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
    /// The messages that are not over yet, first the one that is in flight or about to be.
    pub(super) messages: VecDeque<Message>,
    /// What came for each statement of the message in flight, as far as the server has got.
    answers: Vec<Vec<Answer>>,
    /// Statements that have ended and are not reported yet.
    pub ended: Vec<Answered>,
    /// Whether the turn has been reported to wait: when it began to, counted over the case.
    pub waiting_since: Option<usize>,
    /// For each marker of the step, how many notices its session had been sent when the step began.
    pub notices_before: Vec<u32>,
}

impl Turn {
    pub(super) fn new(
        step: Option<usize>,
        messages: VecDeque<Message>,
        unsolicited: Vec<Answer>,
    ) -> Self {
        Self {
            step,
            messages,
            answers: vec![unsolicited],
            ended: Vec::new(),
            waiting_since: None,
            notices_before: Vec::new(),
        }
    }

    /// Whether the last statement has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.messages.is_empty()
    }

    /// Which statement of the message in flight the server has got to.
    pub(super) fn place(&self) -> usize {
        match self.answers.as_slice() {
            [before @ .., last] => before.len() + usize::from(is_end(last)),
            [] => 0,
        }
    }

    /// Takes in an answer to the message in flight.
    pub(super) fn take(&mut self, answer: Answer) {
        let Some(message) = self.messages.front() else {
            return;
        };
        // That a statement was parsed is worth a word only where nothing else was asked.
        if answer == Answer::Prepared && !matches!(message.how, How::Prepare(_)) {
            return;
        }
        // The end of a statement is not yet the end of what is said about it: an error may come at
        // the commit. So it is left behind when the first word about the next one comes.
        let has_more = self.answers.len() < message.statements.len();
        if has_more && self.answers.last().is_some_and(|last| is_end(last)) {
            self.answers.push(Vec::new());
        }
        if let Some(answers) = self.answers.last_mut() {
            answers.push(answer);
        }
    }

    /// Drops what came for the message in flight.
    pub(super) fn forget_answers(&mut self) {
        self.answers = vec![Vec::new()];
    }

    /// The message in flight is over: the server is ready again, if it says so, in this status.
    pub(super) fn end_message(&mut self, status: Option<TransactionStatus>) {
        let Some(message) = self.messages.pop_front() else {
            return;
        };
        let mut all = std::mem::take(&mut self.answers);
        self.answers = vec![Vec::new()];
        all.resize(message.statements.len(), vec![Answer::Skipped]);
        // No notification is about one of the statements; psql shows them behind all.
        let mut notifications = Vec::new();
        for answers in &mut all {
            notifications
                .extend(answers.extract_if(.., |answer| matches!(answer, Answer::Notification(_))));
        }
        if let Some(last) = all.last_mut() {
            last.append(&mut notifications);
        }
        self.end_statements(message, all);
        if let Some(last) = self.ended.last_mut() {
            last.status = status;
        }
    }

    /// The connection is over, in this way, and with it the turn.
    pub(super) fn end_for_good(&mut self, how: Answer) {
        let Some(message) = self.messages.pop_front() else {
            return;
        };
        self.messages.clear();
        if how == Answer::ReplyLost {
            self.answers = vec![Vec::new()];
        }
        if let Some(answers) = self.answers.last_mut() {
            answers.push(how);
        }
        let all = std::mem::take(&mut self.answers);
        self.end_statements(message, all);
    }

    fn end_statements(&mut self, message: Message, all: Vec<Vec<Answer>>) {
        let statements = message.statements.into_iter().zip(all);
        self.ended
            .extend(statements.map(|((part, statement), answers)| Answered {
                part,
                statement,
                answers,
                status: None,
            }));
    }
}

/// Whether the server has done with a statement that it has said this about. (After an error nothing
/// is said about the statements that follow.)
fn is_end(answers: &[Answer]) -> bool {
    answers
        .iter()
        .any(|answer| matches!(answer, Answer::Rows(_) | Answer::Command(_) | Answer::Empty))
}
