//! Why a replay stopped, told at the place in the scenario where it did.

use std::time::Duration;

use super::blocking::SeenBlocker;
use super::live::LiveSession;
use super::observer::Stop;
use super::outcome::Trouble;
use super::replay::{Halt, Replay};
use crate::scenario::{Diagnostic, SessionIndex, Span};
use crate::transcript::Blocker;

/// How long a statement may take to heed a cancel request, and a backend to end.
pub(crate) const HEEDS_WITHIN: Duration = Duration::from_secs(2);

impl Replay<'_> {
    /// Stops what still runs, and tells why the replay halted at a place in the scenario.
    pub(crate) async fn trouble(&mut self, halt: Halt, span: Span) -> Trouble {
        let (message, label, help) = match halt {
            Halt::Observer(error) => return Trouble::Server(tell(&error)),
            Halt::TimeLimit => {
                let doing = match self.tell_in_flight().await {
                    Ok(doing) => doing,
                    Err(error) => return Trouble::Server(tell(&error)),
                };
                if let Err(error) = self.stop_in_flight().await {
                    return Trouble::Server(tell(&error));
                }
                (
                    format!("the step does not end within {}", seconds(self.limit)),
                    doing,
                    Some("a scenario that needs longer says so: `timeout: 2min`".to_owned()),
                )
            }
            Halt::Stuck(session) => {
                let waits = match self.tell_waits(session).await {
                    Ok(waits) => waits,
                    Err(error) => return Trouble::Server(tell(&error)),
                };
                if let Err(error) = self.stop_in_flight().await {
                    return Trouble::Server(tell(&error));
                }
                (
                    format!("{} waits, and nothing that follows can free it", self.name(session)),
                    waits,
                    Some(
                        "end the transaction that holds the lock in a step before this one, or at the end of the scenario"
                            .to_owned(),
                    ),
                )
            }
            Halt::Send(session, error) => (
                format!("failed to {error}"),
                format!("the statement of {}", self.name(session)),
                None,
            ),
            Halt::Answer(session, closing) => (
                closing.to_string(),
                format!("the answer to {}", self.name(session)),
                None,
            ),
        };
        Trouble::Invalid(Diagnostic {
            source: self.scenario.source.clone(),
            message,
            span,
            label,
            related: Vec::new(),
            help,
        })
    }

    /// How a session is called in a message.
    pub(crate) fn name(&self, session: SessionIndex) -> &str {
        self.scenario
            .sessions
            .get(session.0)
            .map_or("the outside observer", |session| &session.name.value)
    }

    /// Whom a session waits for, and whom those wait for in turn: `B waits for A, A waits for C`.
    async fn tell_waits(&self, session: SessionIndex) -> Result<String, tokio_postgres::Error> {
        let in_flight = self.in_flight();
        let seen = self.observer.look(&self.cast, &in_flight).await?;
        let mut told = Vec::new();
        let mut order = vec![session];
        order.extend(in_flight.into_iter().filter(|other| *other != session));
        for session in order {
            let blockers = seen
                .iter()
                .find(|s| s.session == session)
                .map(|s| &s.blockers[..]);
            let whom: Vec<String> = blockers
                .unwrap_or_default()
                .iter()
                .map(|blocker| self.tell_blocker(blocker))
                .collect();
            if !whom.is_empty() {
                told.push(format!(
                    "{} waits for {}",
                    self.name(session),
                    whom.join(" and ")
                ));
            }
        }
        Ok(told.join(", "))
    }

    fn tell_blocker(&self, blocker: &SeenBlocker) -> String {
        match blocker {
            SeenBlocker::Known(Blocker::Session(session)) => self.name(*session).to_owned(),
            SeenBlocker::Known(Blocker::PreparedTransaction) => "a prepared transaction".to_owned(),
            SeenBlocker::Known(Blocker::WaitEvent(event)) => event.clone(),
            SeenBlocker::Stranger(pid) => format!("a backend outside the scenario (pid {pid})"),
        }
    }

    /// What each session in flight is doing, and whom it waits for.
    async fn tell_in_flight(&self) -> Result<String, tokio_postgres::Error> {
        let mut told = Vec::new();
        for session in self.in_flight() {
            let waits = self.tell_waits(session).await?;
            if !waits.is_empty() {
                return Ok(waits);
            }
            if let Some(pid) = self.cast.pid(session)
                && let Some(doing) = self.observer.doing(pid).await?
            {
                told.push(format!("{} is {doing}", self.name(session)));
            }
        }
        Ok(told.join(", "))
    }

    /// Cancels what still runs, then ends the backends that do not heed it.
    pub(crate) async fn stop_in_flight(&mut self) -> Result<(), tokio_postgres::Error> {
        self.live
            .iter_mut()
            .flatten()
            .for_each(LiveSession::abandon);
        for how in [Stop::Cancel, Stop::Terminate] {
            for session in self.in_flight() {
                if let Some(pid) = self.cast.pid(session) {
                    self.observer.stop(pid, how).await?;
                }
            }
            let all_over = async {
                while !self.in_flight().is_empty() {
                    let Some(arrival) = self.arrivals.recv().await else {
                        break;
                    };
                    if self.receive(arrival).await.is_err() {
                        break;
                    }
                }
            };
            if tokio::time::timeout(HEEDS_WITHIN, all_over).await.is_ok() {
                break;
            }
        }
        Ok(())
    }
}

/// An error with its causes, on one line.
pub(crate) fn tell(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}

fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}
