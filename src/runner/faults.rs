//! Clients that go away, statements that are cancelled, backends that are ended.

use tokio::time::{Instant, timeout_at};

use super::cast::Backend;
use super::live::LiveSession;
use super::observer::Stop;
use super::outcome::Trouble;
use super::replay::{Halt, Replay};
use super::trouble::tell;
use crate::scenario::SessionIndex;
use crate::transcript::EventKind;

impl Replay<'_> {
    /// A session's client goes away without a goodbye. Its backend has then either ended or is
    /// proven to wait.
    pub(crate) async fn disconnect(
        &mut self,
        at: usize,
        session: SessionIndex,
    ) -> Result<(), Halt> {
        self.push(at, EventKind::Disconnected(session));
        let before = self.lost_of(session);
        self.lose(session);
        let settled = self.settle(self.deadline()).await?;
        let lingers = settled.iter().find(|(backend, _)| {
            matches!(backend, Backend::Lost(who, _) if *who == session) && !before.contains(backend)
        });
        if let Some((_, blockers)) = lingers {
            let blockers = blockers.clone();
            self.push(at, EventKind::Lingers { session, blockers });
        }
        self.report(None, settled);
        Ok(())
    }

    /// A session's client asks the server to cancel what the session runs.
    ///
    /// The server closes the connection that brings the request only after the signal has been sent,
    /// and a process heeds its signals before it does anything else. So a request that comes while
    /// the session is idle is over before the next statement arrives. One that comes for a statement
    /// has an effect, and until that is seen the statement does not count as waiting.
    pub(crate) async fn cancel(&mut self, at: usize, session: SessionIndex) -> Result<(), Halt> {
        self.take_arrivals().await?;
        self.push(at, EventKind::CancelRequested(session));
        let token = self.live[session.0]
            .as_ref()
            .and_then(|live| live.cancel_token());
        if let Some(token) = token {
            if self.may_catch_a_cancel() {
                // The statement may go on, and wait again.
                self.is_signalled = true;
            } else if self.is_in_flight(session) {
                self.cancelling.insert(session);
            }
            timeout_at(self.deadline(), token.cancel())
                .await
                .map_err(|_| Halt::TimeLimit)?
                .map_err(|error| Halt::from(Trouble::Server(tell(&error))))?;
        }
        self.settle_and_report(Some(session)).await
    }

    /// A session's backend is told to end: the one that serves it or, where it has lost its
    /// connection, those that are left behind. It has ended then, and what it held is free.
    pub(crate) async fn terminate(&mut self, at: usize, session: SessionIndex) -> Result<(), Halt> {
        self.push(at, EventKind::Terminated(session));
        let deadline = self.deadline();
        if self.is_connected(session) {
            self.take_notifications(session, deadline).await?;
            self.stop(Backend::Of(session), Stop::Terminate, deadline)
                .await?;
            self.await_closed(session, deadline).await?;
        } else {
            let lost = self.lost_of(session);
            self.end_lost(&lost, deadline).await?;
        }
        self.settle_and_report(Some(session)).await
    }

    /// Lets an idle session take in what it was notified of, before its backend is told to end: the
    /// backend would heed whichever it sees first.
    pub(crate) async fn take_notifications(
        &mut self,
        session: SessionIndex,
        deadline: Instant,
    ) -> Result<(), Halt> {
        if !self.may_listen() {
            return Ok(());
        }
        let Some(live) = &mut self.live[session.0] else {
            return Ok(());
        };
        let mut is_open = live
            .knock()
            .await
            .map_err(|obstacle| Halt::Session(session, obstacle))?;
        while is_open {
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => self.receive(arrival).await?,
                () = tokio::time::sleep_until(deadline) => return Err(Halt::TimeLimit),
            }
            is_open = self.live[session.0]
                .as_ref()
                .is_some_and(LiveSession::is_in_prelude);
        }
        Ok(())
    }

    /// Waits until the server has closed a session's connection, and those it has lost.
    pub(crate) async fn await_close(&mut self, session: SessionIndex) -> Result<(), Halt> {
        let deadline = self.deadline();
        // Its answer, if one was kept back, is seen where it ended.
        self.left_alone.remove(&session);
        self.await_closed(session, deadline).await?;
        let lost = self.lost_of(session);
        loop {
            match self.are_gone(&lost, deadline).await {
                Ok(true) => break,
                Ok(false) => {}
                Err(Halt::TimeLimit) => return Err(Halt::StillOpen(session)),
                Err(halt) => return Err(halt),
            }
        }
        self.settle_and_report(None).await
    }

    /// Waits until a session's connection is closed: the server closes it last of all, when what the
    /// backend held is free.
    pub(crate) async fn await_closed(
        &mut self,
        session: SessionIndex,
        deadline: Instant,
    ) -> Result<(), Halt> {
        while self.is_connected(session) {
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => self.receive(arrival).await?,
                () = tokio::time::sleep_until(deadline) => return Err(Halt::StillOpen(session)),
            }
        }
        Ok(())
    }

    /// Whether a session's statement is to end by a cancel request that has not been heeded.
    pub(crate) fn is_being_cancelled(&self, backend: Backend) -> bool {
        matches!(backend, Backend::Of(session) if self.cancelling.contains(&session))
    }

    /// Whether a session may be notified of something.
    fn may_listen(&self) -> bool {
        let mut sql = self.scenario.all_sql();
        sql.any(|sql| sql.text.to_ascii_lowercase().contains("listen"))
    }

    /// Whether the scenario's SQL may catch the error of a cancelled statement, and go on.
    fn may_catch_a_cancel(&self) -> bool {
        self.scenario.all_sql().any(|sql| {
            let text = sql.text.to_ascii_lowercase();
            text.contains("query_canceled") || text.contains("57014")
        })
    }
}
