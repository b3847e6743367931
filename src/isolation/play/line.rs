//! A connection of a spec that is played.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use crate::transcript::{Answer, Notification};
use crate::wire::{CancelToken, Incoming, Receiver, SendError, Sender, TransactionStatus};

/// A connection: that of a session, or the control connection.
///
/// What arrives is kept until somebody looks at the session, so that notices are told when their
/// session is looked at, whenever they came.
#[derive(Debug)]
pub(super) struct Line {
    sender: Option<Sender>,
    receiver: Receiver,
    pid: i32,
    cancel: CancelToken,
    inbox: VecDeque<Incoming>,
    /// How many messages were sent whose end has not arrived.
    unanswered: usize,
    /// Whether the server has said last that no transaction is open.
    is_idle: bool,
    /// How many notices have been seen.
    pub notices: u32,
    /// Notifications that have been seen and not told.
    pub notifications: Vec<Notification>,
}

impl Line {
    pub(super) fn new(sender: Sender, receiver: Receiver) -> Self {
        Self {
            pid: sender.pid(),
            cancel: sender.cancel_token(),
            sender: Some(sender),
            receiver,
            inbox: VecDeque::new(),
            unanswered: 0,
            is_idle: true,
            notices: 0,
            notifications: Vec::new(),
        }
    }

    pub(super) const fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) const fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    pub(super) const fn is_open(&self) -> bool {
        self.sender.is_some()
    }

    /// Whether the server has something to do for this connection.
    pub(super) const fn in_flight(&self) -> bool {
        self.unanswered > 0
    }

    /// Whether it is open, and nothing is under way: no message and no transaction.
    pub(super) const fn is_idle(&self) -> bool {
        self.is_open() && !self.in_flight() && self.is_idle
    }

    /// Sends SQL as one message. A connection that is broken is told by its receiving half.
    pub(super) async fn send(&mut self, sql: &str) -> Result<(), SendError> {
        let Some(sender) = &mut self.sender else {
            return Ok(());
        };
        match sender.query(sql).await {
            Ok(()) | Err(SendError::Io(_)) => {
                self.unanswered += 1;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Gives up a COPY that asks for data.
    pub(super) async fn refuse_copy_in(&mut self) {
        if let Some(sender) = &mut self.sender {
            // What is broken is told when it is next read.
            let _ = sender.copy_fail("a spec has no data for COPY").await;
        }
    }

    /// Says goodbye.
    pub(super) async fn close(&mut self) {
        if let Some(sender) = self.sender.take() {
            let _ = sender.terminate().await;
        }
    }

    /// Waits until the server has closed the connection.
    pub(super) async fn gone(&mut self) {
        while self.receiver.next().await.is_some() {}
    }

    /// Takes in what has arrived; ready if that was anything.
    pub(super) fn poll_arrival(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut has_come = false;
        while let Poll::Ready(Some(incoming)) = pin!(self.receiver.next()).poll(context) {
            match &incoming {
                Incoming::Ready(status) => {
                    self.unanswered = self.unanswered.saturating_sub(1);
                    self.is_idle = *status == TransactionStatus::Idle;
                }
                Incoming::Closed(_) => {
                    self.unanswered = 0;
                    self.sender = None;
                }
                Incoming::Answer(_) => {}
            }
            self.inbox.push_back(incoming);
            has_come = true;
        }
        if has_come {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Waits for the end of all that was sent. How many rows came of it, or nothing if anything
    /// went wrong.
    pub(super) async fn settle(&mut self) -> Option<usize> {
        let (mut rows, mut is_good) = (0, true);
        while self.in_flight() {
            poll_fn(|context| self.poll_arrival(context)).await;
            while let Some(incoming) = self.inbox.pop_front() {
                match incoming {
                    Incoming::Answer(Answer::Rows(result)) => rows += result.rows.len(),
                    Incoming::Answer(Answer::Error(_)) | Incoming::Closed(_) => is_good = false,
                    Incoming::Answer(_) | Incoming::Ready(_) => {}
                }
            }
        }
        self.notices = 0;
        self.notifications.clear();
        is_good.then_some(rows)
    }

    /// The next thing that has arrived and has not been seen. Notifications are kept aside.
    pub(super) fn take(&mut self) -> Option<Incoming> {
        loop {
            match self.inbox.pop_front()? {
                Incoming::Answer(Answer::Notification(notification)) => {
                    self.notifications.push(notification);
                }
                incoming => return Some(incoming),
            }
        }
    }
}
