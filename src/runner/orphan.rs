//! The backends of lost connections.

use tokio::time::Instant;

use super::cast::Backend;
use super::observer::Stop;
use super::replay::{Halt, Replay, answered};
use super::settle::LOOKS_APART;
use crate::scenario::{Action, SessionIndex, SqlText, Waits};

/// How often a backend looks whether its client is still there.
const CHECK_INTERVAL: &str = "client_connection_check_interval";

/// What the backend of a lost connection was at when its client went.
#[derive(Debug, Default)]
pub(crate) struct Orphan {
    /// The step, if it had not ended.
    step: Option<usize>,
    /// Whether nobody waits for that.
    is_left_alone: bool,
}

impl Replay<'_> {
    /// Lets a session lose its connection, whatever it is at. Its backend notices when it is next
    /// about to read or to write.
    pub(crate) fn lose(&mut self, session: SessionIndex) {
        let Some(live) = &mut self.live[session.0] else {
            return;
        };
        let was_connected = live.is_connected();
        let turn = live.turn.as_ref().filter(|turn| !turn.is_over());
        let orphan = Orphan {
            step: turn.and_then(|turn| turn.step),
            is_left_alone: turn.is_some() && self.left_alone.contains(&session),
        };
        // What its backend signals when it goes on is not seen.
        self.any_may_signal |= turn.is_some() && self.signalling.contains(&session);
        live.die();
        self.left_alone.remove(&session);
        self.cancelling.remove(&session);
        if was_connected {
            self.leave_behind(session, orphan);
        }
    }

    /// Notes that a session has hung up by itself, if it has, since it `was_connected`.
    pub(crate) fn note_hang_up(&mut self, session: SessionIndex, was_connected: bool) {
        if was_connected && !self.is_connected(session) {
            self.leave_behind(session, Orphan::default());
        }
    }

    fn leave_behind(&mut self, session: SessionIndex, orphan: Orphan) {
        if let Some(pid) = self.cast.pid(session) {
            self.orphans.insert(Backend::Lost(session, pid), orphan);
            self.cast.lose(session);
        }
    }

    /// Whether nobody waits for what a backend is at.
    pub(crate) fn is_left_alone(&self, backend: Backend) -> bool {
        match backend {
            Backend::Of(session) => {
                self.left_alone.contains(&session) && !self.is_being_cancelled(backend)
            }
            Backend::Lost(..) => self
                .orphans
                .get(&backend)
                .is_some_and(|orphan| orphan.is_left_alone),
        }
    }

    /// Whether a backend that has lost its client notices by itself, and ends: its session has set
    /// how often it looks.
    pub(crate) fn looks_after_its_client(&self, backend: Backend) -> bool {
        let Backend::Lost(session, _) = backend else {
            return false;
        };
        let is_named = |sql: &SqlText| sql.text.to_ascii_lowercase().contains(CHECK_INTERVAL);
        let setup = self.scenario.sessions.get(session.0);
        let is_set = setup.is_some_and(|setup| {
            let mut settings = setup.settings.iter();
            settings.any(|setting| setting.name.value == CHECK_INTERVAL && setting.value != "0")
                || setup.setup.as_ref().is_some_and(is_named)
        });
        let mut steps = self.scenario.steps.iter();
        is_set
            || steps.any(|step| match &step.action {
                Action::Send {
                    session: who,
                    sending,
                    ..
                } => *who == session && sending.sql().into_iter().any(is_named),
                _ => false,
            })
    }

    /// What the step that a backend is at is expected to wait for, by any of its outcomes.
    pub(crate) fn expected_waits(&self, backend: Backend) -> impl Iterator<Item = &Waits> {
        let step = match backend {
            Backend::Of(session) => self.live[session.0]
                .as_ref()
                .and_then(|live| live.turn.as_ref()?.step),
            Backend::Lost(..) => self.orphans.get(&backend).and_then(|orphan| orphan.step),
        };
        step.and_then(|step| self.scenario.steps.get(step))
            .into_iter()
            .flat_map(|step| &step.expect)
            .flat_map(|expectation| &expectation.outcomes)
            .filter_map(|expect| expect.waits.as_ref())
            .map(|waits| &waits.value)
    }

    /// Takes lost backends that have ended out of the cast; whether there were any.
    pub(crate) fn forget_lost(&mut self, gone: &[Backend]) -> bool {
        let mut any = false;
        for backend in gone {
            if matches!(backend, Backend::Lost(..)) {
                self.cast.forget(*backend);
                self.orphans.remove(backend);
                any = true;
            }
        }
        any
    }

    /// The backends that a session's lost connections have left behind.
    pub(crate) fn lost_of(&self, session: SessionIndex) -> Vec<Backend> {
        self.cast
            .lost()
            .filter(|lost| lost.session() == session)
            .collect()
    }

    /// Ends backends of lost connections, and waits until they are gone.
    pub(crate) async fn end_lost(
        &mut self,
        lost: &[Backend],
        deadline: Instant,
    ) -> Result<(), Halt> {
        for backend in lost {
            self.stop(*backend, Stop::Terminate, deadline).await?;
        }
        while !self.are_gone(lost, deadline).await? {}
        Ok(())
    }

    /// Looks whether lost backends are gone. Where they are not, it is back when it is time for the
    /// next look.
    pub(crate) async fn are_gone(
        &mut self,
        lost: &[Backend],
        deadline: Instant,
    ) -> Result<bool, Halt> {
        let left: Vec<Backend> = self.cast.lost().filter(|b| lost.contains(b)).collect();
        if left.is_empty() {
            return Ok(true);
        }
        let look = self.observer.look(&self.cast, &left, |_, _| false);
        let look = answered(deadline, look).await?;
        self.forget_lost(&look.gone);
        if look.gone.len() == left.len() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Err(Halt::TimeLimit);
        }
        tokio::time::sleep(LOOKS_APART).await;
        Ok(false)
    }

    /// Stops what a backend of the case does.
    pub(crate) async fn stop(
        &self,
        backend: Backend,
        how: Stop,
        deadline: Instant,
    ) -> Result<(), Halt> {
        if let Some(pid) = self.cast.pid_of(backend) {
            answered(deadline, self.observer.stop(pid, how)).await?;
        }
        Ok(())
    }
}
