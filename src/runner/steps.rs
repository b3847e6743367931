//! Playing the steps of a case.

use super::blocking::{BUFFER_PIN, SYNC_REP};
use super::cast::Backend;
use super::replay::{Halt, Replay, within};
use super::settle::{LOOKS_APART, Settled};
use crate::scenario::{Action, Blocker, Reply, Role, Sending, SessionIndex, Step};
use crate::schedule::{Marker, Progress};
use crate::transcript::EventKind;

impl Replay<'_> {
    /// Plays a step that needs no more than the connections that there are.
    pub(crate) async fn play_step(&mut self, at: usize, step: &Step) -> Result<(), Halt> {
        match &step.action {
            Action::Say(_) => Ok(()),
            Action::WaitFor(session) => self.await_end(*session).await,
            Action::WaitForClose(session) => self.await_close(*session).await,
            Action::Send {
                session,
                sending,
                reply,
            } => {
                self.await_end(*session).await?;
                self.push(
                    at,
                    EventKind::Sent {
                        session: *session,
                        sending: sending.clone(),
                    },
                );
                if *reply == Reply::Later {
                    self.left_alone.insert(*session);
                }
                self.run(*session, Some(at), sending, *reply).await
            }
            Action::Check(sql) => {
                let invariant = match &step.role {
                    Role::Invariant(name) => Some(name.clone()),
                    Role::Ordered | Role::Owned { .. } => None,
                };
                if invariant.is_some() {
                    self.await_everybody().await?;
                }
                self.push(
                    at,
                    EventKind::Checked {
                        sql: sql.text.clone(),
                        invariant,
                    },
                );
                let outside = self.outside();
                let sending = Sending::Statements(sql.clone());
                self.run(outside, Some(at), &sending, Reply::Awaited)
                    .await?;
                self.await_end(outside).await
            }
            Action::Sleep(for_so_long) => {
                self.push(at, EventKind::Slept(*for_so_long));
                tokio::time::sleep(*for_so_long).await;
                self.settle_and_report(None).await
            }
            Action::Disconnect(session) => self.disconnect(at, *session).await,
            Action::Cancel(session) => self.cancel(at, *session).await,
            Action::Terminate(session) => self.terminate(at, *session).await,
            Action::Advance { by, to } => self.advance(at, *by, *to).await,
            Action::Connect(_) | Action::Restart(_) => {
                unreachable!("the stage plays what changes its connections")
            }
        }
    }

    /// Waits for whoever is in flight when there is no step left that could free them, and ends what
    /// lost connections have left behind, so that it is in nobody's way.
    pub(crate) async fn play_out(&mut self) -> Result<(), Halt> {
        self.await_everybody().await?;
        let lost: Vec<Backend> = self.cast.lost().collect();
        self.end_lost(&lost, self.deadline()).await
    }

    async fn await_everybody(&mut self) -> Result<(), Halt> {
        for session in self.everybody() {
            self.await_end(session).await?;
        }
        Ok(())
    }

    /// Has a session send something, until it is answered or proven to wait, and reports.
    pub(crate) async fn run(
        &mut self,
        session: SessionIndex,
        step: Option<usize>,
        sending: &Sending,
        reply: Reply,
    ) -> Result<(), Halt> {
        let was_connected = self.is_connected(session);
        let notices_before = self.notices_before(step);
        self.note_signals(session, sending);
        if let Some(live) = &mut self.live[session.0] {
            within(self.limit, session, live.begin(step, sending, reply)).await?;
            if let Some(turn) = &mut live.turn {
                turn.notices_before = notices_before;
            }
        }
        self.note_hang_up(session, was_connected);
        self.settle_and_report(Some(session)).await
    }

    /// For each marker of a step, how many notices its session has been sent.
    fn notices_before(&self, step: Option<usize>) -> Vec<u32> {
        let markers = self.markers_of(step).iter();
        markers
            .map(|marker| match marker {
                Marker::AfterNotices { step, .. } => self.notices(step.session),
                Marker::WaitsFirst | Marker::After(_) => 0,
            })
            .collect()
    }

    /// Waits until everybody has settled, and reports: of one session first.
    pub(crate) async fn settle_and_report(
        &mut self,
        first: Option<SessionIndex>,
    ) -> Result<(), Halt> {
        let settled = self.settle(self.deadline()).await?;
        self.report(first, settled);
        Ok(())
    }

    /// Waits until a session is free: until what it waits for ends by itself. Answers that were kept
    /// back are kept back no longer.
    pub(crate) async fn await_end(&mut self, session: SessionIndex) -> Result<(), Halt> {
        let deadline = self.deadline();
        if self.left_alone.remove(&session) && !self.is_in_flight(session) {
            self.report(None, Settled::new());
        }
        if !self.is_in_flight(session) {
            return self.await_report(session).await;
        }
        loop {
            let settled = self.settle(deadline).await?;
            let may_end = self.waits_may_end(&settled);
            // Also what ended the statement is told before the next step, however it arrived.
            self.report(None, settled);
            if !self.is_in_flight(session) {
                return self.await_report(session).await;
            }
            if !may_end {
                return Err(Halt::Stuck(session));
            }
            let may_be_taken = !self.open_streams().is_empty();
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => self.receive(arrival).await?,
                // Nothing arrives when the server takes in what is written to a stream left open.
                () = tokio::time::sleep(LOOKS_APART), if may_be_taken => {}
                () = tokio::time::sleep_until(deadline) => return Err(Halt::TimeLimit),
            }
        }
    }

    /// Waits until the end of a session's statement may be reported: until what its markers name has
    /// ended by itself.
    async fn await_report(&mut self, session: SessionIndex) -> Result<(), Halt> {
        if !self.is_held_back(session) {
            return Ok(());
        }
        self.settle_and_report(None).await?;
        if self.is_held_back(session) {
            return Err(Halt::HeldBack(session));
        }
        Ok(())
    }

    /// Whether one of the waits may end without a step that ends it: by one of the server's
    /// timeouts, which somebody must have set by its name, by a session that is left alone, or
    /// because it is for no lock.
    fn waits_may_end(&self, settled: &Settled) -> bool {
        let ends_by_itself = |blocker: &Blocker| matches!(blocker, Blocker::WaitEvent(event) if event != SYNC_REP && event != BUFFER_PIN);
        let mut blockers = settled.iter().flat_map(|(_, blockers)| blockers);
        // One whose answer is only kept back has ended.
        let mut left_alone = self.left_alone.iter();
        left_alone.any(|session| self.is_in_flight(*session))
            || blockers.any(ends_by_itself)
            || self.may_time_out
    }
}
