//! The server of a case stops and starts again.

use std::sync::Arc;

use tokio::time::Instant;

use super::blocking::SeenBlocker;
use super::case::{Stage, prepare, within_limit};
use super::cast::Backend;
use super::observer::{Observer, Stop};
use super::outcome::Trouble;
use super::replay::{Halt, Replay, answered};
use super::seat::Seat;
use super::settle::Settled;
use super::trouble::tell;
use crate::scenario::Shutdown;
use crate::server::CaseDatabase;
use crate::transcript::EventKind;

impl Stage {
    /// Stops the server and starts it again. No session has a connection then; the runner's own are
    /// made anew, also the outside observer's.
    pub(super) async fn restart(
        &mut self,
        at: usize,
        how: Shutdown,
        seat: Option<&mut Seat<'_>>,
        database: &mut CaseDatabase,
        replay: &mut Replay<'_>,
    ) -> Result<(), Halt> {
        let Some(Seat::Own(server, reach)) = seat else {
            unreachable!("a scenario that restarts its server has one of its own");
        };
        replay.push(at, EventKind::Restarted(how));
        match how {
            Shutdown::Fast => replay.end_in_flight().await?,
            Shutdown::Immediate => replay.stop_listening(),
        }
        let restarted = within_limit(server.restart(how)).await?;
        restarted.map_err(|error| Trouble::Server(tell(&error)))?;
        replay.await_all_closed().await?;

        let (endpoint, scripted) = (server.endpoint(), server.scripted_endpoint());
        self.endpoint = endpoint.clone();
        let observer = within_limit(Observer::connect(endpoint)).await?;
        self.observer = Arc::new(observer.map_err(|error| Trouble::Server(tell(&error)))?);
        // The database that there is goes back to this pool, which need not make another one.
        self.pool = Arc::new(prepare(endpoint, scripted, *reach, 0, 1).await?);
        database.role.address = scripted.address.clone();
        database.role.tls = scripted.tls.clone();
        let reset = self.databases().reset_superuser_settings(database).await;
        // A crash may have undone it.
        reset.map_err(|error| Trouble::Server(tell(&error)))?;
        replay.observer = Arc::clone(&self.observer);
        replay.locks = replay.locks.take().map(|view| view.on(endpoint));
        let outside = [replay.outside()];
        let connected = self.connect_all(database, replay, &outside).await?;
        Self::enter_all(replay, &outside, connected).await?;
        replay.wind_clock().await?;
        replay.report(None, Settled::new());
        Ok(())
    }
}

impl Replay<'_> {
    /// Lets idle sessions hear what came for them, and ends the backends in flight, each when no
    /// other waits for it: the server would end them in any order, and one that waits might get what
    /// another has let go before its own turn comes.
    async fn end_in_flight(&mut self) -> Result<(), Halt> {
        let deadline = self.deadline();
        for session in self.everybody() {
            self.take_notifications(session, deadline).await?;
        }
        loop {
            let watched = self.watched();
            let look = answered(deadline, self.look(&watched)).await?;
            self.forget_lost(&look.gone);
            let is_waited_for = |backend: &Backend| {
                let mut blockers = look.seen.iter().flat_map(|seen| &seen.blockers);
                blockers.any(|blocker| *blocker == SeenBlocker::Backend(*backend))
            };
            let watched = self.watched();
            let next = watched.iter().find(|backend| !is_waited_for(backend));
            let Some(next) = next.or(watched.first()).copied() else {
                return Ok(());
            };
            match next {
                Backend::Of(session) => {
                    self.stop(next, Stop::Terminate, deadline).await?;
                    self.await_closed(session, deadline).await?;
                }
                Backend::Lost(..) => self.end_lost(&[next], deadline).await?,
            }
        }
    }

    /// Hears no more of what the server says: of a sudden death some may be told, and some not.
    fn stop_listening(&mut self) {
        self.is_crashing = true;
        for live in self.live.iter_mut().flatten() {
            live.forget_answers();
        }
    }

    /// Waits until all connections are closed, since their server is no more.
    async fn await_all_closed(&mut self) -> Result<(), Halt> {
        let deadline: Instant = self.deadline();
        for session in self.everybody() {
            self.await_closed(session, deadline).await?;
        }
        self.is_crashing = false;
        let lost: Vec<Backend> = self.cast.lost().collect();
        self.forget_lost(&lost);
        Ok(())
    }
}
