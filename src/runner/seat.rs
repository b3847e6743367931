//! Cases on a server which nothing else is played on.

use std::sync::Arc;

use super::case::{Stage, prepare};
use super::exploration::Exploration;
use super::options::ReplayOptions;
use super::outcome::{Outcome, Trouble};
use super::trouble::tell;
use crate::scenario::Scenario;
use crate::server::{Reach, Server};

/// A server which nothing else is played on.
pub(crate) enum Seat<'a> {
    /// Others may be played on it later.
    Lent(&'a Server),
    /// The case's own to restart, and gone afterwards.
    Own(&'a mut Server, Reach),
}

impl Seat<'_> {
    const fn server(&self) -> &Server {
        match self {
            Self::Lent(server) => server,
            Self::Own(server, _) => server,
        }
    }

    const fn reach(&self) -> Reach {
        match self {
            Self::Lent(_) => Reach::Database,
            Self::Own(_, reach) => *reach,
        }
    }

    /// Connections to it, for so many cases, one after the other.
    async fn stage(&self, cases: usize, options: ReplayOptions) -> Result<Stage, Trouble> {
        let server = self.server();
        let (endpoint, scripted) = (server.endpoint(), server.scripted_endpoint());
        let pool = prepare(endpoint, scripted, self.reach(), cases, 1).await?;
        Stage::connect(endpoint, Arc::new(pool), options).await
    }

    /// Drops what was made. What is on the case's own server goes with it.
    async fn leave(&self, stage: Stage) -> Result<(), Trouble> {
        match (self, Arc::into_inner(stage.pool)) {
            (Seat::Lent(_), Some(pool)) => {
                let closed = pool.close().await;
                closed.map_err(|error| Trouble::Server(tell(&error)))
            }
            _ => Ok(()),
        }
    }
}

/// Replays one scenario, which has its steps in one order.
pub(crate) async fn replay_alone(
    scenario: &Scenario,
    mut seat: Seat<'_>,
    options: ReplayOptions,
) -> Outcome {
    let mut stage = match seat.stage(1, options).await {
        Ok(stage) => stage,
        Err(trouble) => return Outcome::without_replay(trouble),
    };
    let mut outcome = stage.replay(scenario, Some(&mut seat)).await;
    if let Err(trouble) = seat.leave(stage).await {
        // What went wrong first says more.
        outcome.trouble.get_or_insert(trouble);
    }
    outcome
}

/// Plays the schedules that nobody has begun, one after the other, on connections to a server. Where
/// the scenario asks for it, each finds what the one before has left.
pub(super) async fn explore_on(exploration: &Exploration, stage: &mut Stage) {
    let carries_over = exploration.scenario().carries_over;
    let mut left = None;
    while let Some(turn) = exploration.next() {
        let outcome = if carries_over {
            let (outcome, for_next) = stage.replay_next(turn.scenario(), left).await;
            left = for_next;
            outcome
        } else {
            stage.replay(turn.scenario(), None).await
        };
        exploration.take(turn, outcome);
    }
    if let Some(left) = left {
        stage.drop_left(exploration.scenario(), left).await;
    }
}

/// Plays the schedules that nobody has begun, one after the other. On a server of their own nothing of
/// one is left when the next begins, and nothing is made ahead while one is played: what is shared by
/// the whole server is part of what they are about.
pub(crate) async fn explore_alone(
    exploration: &Exploration,
    seat: Seat<'_>,
    options: ReplayOptions,
) -> Result<(), Trouble> {
    let is_own = matches!(seat, Seat::Own(..));
    let ahead = if is_own { 0 } else { exploration.count() };
    let mut stage = seat.stage(ahead, options).await?;
    stage.clears_up_at_once = is_own;
    explore_on(exploration, &mut stage).await;
    seat.leave(stage).await
}
