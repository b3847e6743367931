//! Why a replay stopped, told at the place in the scenario where it did.

use std::time::Duration;

use super::blocking::{SeenBlocker, VACUUM_TRUNCATE};
use super::case::within_limit;
use super::cast::Backend;
use super::live::{LiveSession, Obstacle};
use super::observer::Stop;
use super::outcome::Trouble;
use super::replay::{Halt, Replay};
use super::silence::silence;
use crate::scenario::{Diagnostic, SessionIndex, Span};
use crate::wire::Closing;

/// How long a statement may take to heed a cancel request, and a backend to end.
pub(crate) const HEEDS_WITHIN: Duration = Duration::from_secs(2);

/// Where in a scenario a replay halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a step.
    Step,
    /// In a set-up or a tear-down.
    Apart,
}

impl Place {
    const fn what(self) -> &'static str {
        match self {
            Self::Step => "the step",
            Self::Apart => "this",
        }
    }

    const fn way_out(self) -> &'static str {
        match self {
            Self::Step => {
                "end the transaction that holds the lock in a step before this one, or at the end of the scenario"
            }
            Self::Apart => {
                "set-up and tear-down run one after the other: end the transaction that holds the lock before this one begins"
            }
        }
    }
}

/// Why a replay halted, without the place.
struct Explanation {
    message: String,
    label: String,
    help: Option<String>,
}

impl Replay<'_> {
    /// Stops what still runs, and tells why the replay halted at a place in the scenario.
    pub(crate) async fn trouble(&mut self, halt: Halt, span: Span, place: Place) -> Trouble {
        let halt = match halt {
            Halt::Told(trouble) => return *trouble,
            halt => halt,
        };
        let is_over = matches!(halt, Halt::TimeLimit);
        let is_stuck = matches!(halt, Halt::Stuck(_));
        if is_over && let Some(trouble) = silence(&self.observer, self.limit).await {
            return trouble;
        }
        if let Halt::Session(_, obstacle @ Obstacle::Prelude(_)) = halt {
            return Trouble::Server(format!("failed to {obstacle}"));
        }
        let explanation = match within_limit(self.explain(halt, place)).await {
            Ok(Ok(explanation)) => explanation,
            Ok(Err(error)) => return Trouble::Server(tell(&error)),
            Err(trouble) => return trouble,
        };
        if is_over && !self.in_flight().is_empty() {
            // What runs in the server ends when it is told to, unless something holds it from outside.
            let unheeding = "what runs does not heed that it is told to end";
            return Trouble::Unfit(format!("{}, and {unheeding}", explanation.message));
        }
        let diagnostic = Diagnostic {
            source: self.scenario.source.clone(),
            message: explanation.message,
            span,
            label: explanation.label,
            related: Vec::new(),
            help: explanation.help,
        };
        if is_stuck {
            Trouble::Stuck(diagnostic)
        } else {
            Trouble::Invalid(diagnostic)
        }
    }

    async fn explain(
        &mut self,
        halt: Halt,
        place: Place,
    ) -> Result<Explanation, tokio_postgres::Error> {
        Ok(match halt {
            Halt::Told(_) => unreachable!("it needs no explanation"),
            Halt::Observer(error) => return Err(error),
            Halt::StillOpen(session) => {
                let label = self.tell_doing(&self.backends_of(session)).await?;
                self.stop_in_flight().await?;
                Explanation {
                    message: format!(
                        "the server does not close the connection of {} within {}",
                        self.name(session),
                        seconds(self.limit)
                    ),
                    label,
                    help: Some("a timeout of the server's ends it, or `terminate`".to_owned()),
                }
            }
            Halt::TimeLimit => {
                let label = self.tell_in_flight().await?;
                self.stop_in_flight().await?;
                Explanation {
                    message: format!("{} does not end within {}", place.what(), seconds(self.limit)),
                    label,
                    help: Some("a scenario that needs longer says so: `timeout: 2min`".to_owned()),
                }
            }
            Halt::Stuck(session) => {
                let label = self.tell_waits(session).await?;
                self.stop_in_flight().await?;
                Explanation {
                    message: format!("{} waits, and nothing that follows can free it", self.name(session)),
                    label,
                    help: Some(place.way_out().to_owned()),
                }
            }
            Halt::HeldBack(session) => Explanation {
                message: format!("the step of {} is never reported", self.name(session)),
                label: "what it is to be reported after does not come".to_owned(),
                help: Some("take the step out of `report_after`, or let it come before the session's next step".to_owned()),
            },
            Halt::Session(session, obstacle) => Explanation {
                message: format!("failed to {obstacle}"),
                label: format!("the statement of {}", self.name(session)),
                help: None,
            },
            Halt::Answer(session, closing) => Explanation {
                message: closing.to_string(),
                label: format!("the answer to {}", self.name(session)),
                help: matches!(closing, Closing::TooLarge { .. }).then(|| {
                    "ask for less, with LIMIT, `left(…, 100)` or `count(*)`: transcripts are for reading"
                        .to_owned()
                }),
            },
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
        let watched = self.watched();
        let look = self.look(&watched).await?;
        let mut told = Vec::new();
        let first = Backend::Of(session);
        let mut order = vec![first];
        order.extend(watched.into_iter().filter(|other| *other != first));
        for backend in order {
            let blockers = look
                .seen
                .iter()
                .find(|seen| seen.backend == backend)
                .map(|seen| &seen.blockers[..]);
            let whom: Vec<String> = blockers
                .unwrap_or_default()
                .iter()
                .map(|blocker| self.tell_blocker(blocker))
                .collect();
            if !whom.is_empty() {
                told.push(format!(
                    "{} waits for {}",
                    self.tell_backend(backend),
                    whom.join(" and ")
                ));
            }
        }
        Ok(told.join(", "))
    }

    fn tell_blocker(&self, blocker: &SeenBlocker) -> String {
        match blocker {
            SeenBlocker::Backend(backend) => self.tell_backend(*backend),
            SeenBlocker::PreparedTransaction => "a prepared transaction".to_owned(),
            SeenBlocker::Event(event) => event.clone(),
            SeenBlocker::Truncation(_) => VACUUM_TRUNCATE.to_owned(),
            SeenBlocker::Stranger(pid) => format!("a backend outside the scenario (pid {pid})"),
        }
    }

    fn tell_backend(&self, backend: Backend) -> String {
        match backend {
            Backend::Of(session) => self.name(session).to_owned(),
            Backend::Lost(session, _) => format!("the lost connection of {}", self.name(session)),
        }
    }

    /// What each backend in flight is doing, and whom it waits for.
    async fn tell_in_flight(&self) -> Result<String, tokio_postgres::Error> {
        for session in self.in_flight() {
            let waits = self.tell_waits(session).await?;
            if !waits.is_empty() {
                return Ok(waits);
            }
        }
        self.tell_doing(&self.watched()).await
    }

    async fn tell_doing(&self, backends: &[Backend]) -> Result<String, tokio_postgres::Error> {
        let mut told = Vec::new();
        for backend in backends {
            if let Some(pid) = self.cast.pid_of(*backend)
                && let Some(doing) = self.observer.doing(pid).await?
            {
                told.push(format!("{} is {doing}", self.tell_backend(*backend)));
            }
        }
        Ok(told.join(", "))
    }

    fn backends_of(&self, session: SessionIndex) -> Vec<Backend> {
        let mut backends = vec![Backend::Of(session)];
        backends.extend(self.lost_of(session));
        backends
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

pub(crate) fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}
