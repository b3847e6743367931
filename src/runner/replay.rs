//! One case while it is played: its sessions, and what arrives for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::alias::Alias;
use super::cast::{Backend, Cast};
use super::clock::SharedClock;
use super::live::{Answered, LiveSession, Obstacle};
use super::locks::LockView;
use super::observer::Observer;
use super::orphan::Orphan;
use super::outcome::Trouble;
use super::signals::any_may_signal;
use super::trouble::HEEDS_WITHIN;
use crate::scenario::{Scenario, SessionIndex};
use crate::transcript::{Event, EventKind, Transcript};
use crate::wire::{Closing, Incoming, Receiver, Sender};

/// Something that came from the server.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// For which session.
    session: SessionIndex,
    /// From which backend: what a connection that was lost still brings is nobody's.
    pid: i32,
    incoming: Incoming,
}

/// Why a replay does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The time limit of the step is over.
    TimeLimit,
    /// A session waits, and nothing the scenario does can end that.
    Stuck(SessionIndex),
    /// The markers of a session's step hold back its report, and nothing lets go of it.
    HeldBack(SessionIndex),
    /// The server has not closed a session's connection within the time limit of the step.
    StillOpen(SessionIndex),
    /// A session does not go on: what it has to send cannot be sent.
    Session(SessionIndex, Obstacle),
    /// A session's answer cannot be taken in.
    Answer(SessionIndex, Closing),
    /// The observer's connection failed.
    Observer(tokio_postgres::Error),
    /// It is known why, and where in the scenario.
    Told(Box<Trouble>),
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::Told(Box::new(trouble))
    }
}

/// One case while it is played. The sessions of the scenario come first; behind them stands the
/// outside observer that `check` steps ask through.
pub(crate) struct Replay<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Asks the server; another one after the server was restarted.
    pub(crate) observer: Arc<Observer>,
    pub(crate) limit: Duration,
    alias: Alias,
    /// The virtual clock; `None` where time is real.
    pub(crate) clock: Option<SharedClock>,
    pub(crate) cast: Cast,
    pub(crate) arrivals: UnboundedReceiver<Arrival>,
    arrive: UnboundedSender<Arrival>,
    pub(crate) live: Vec<Option<LiveSession>>,
    pub(crate) waits_begun: usize,
    /// Sessions whose steps nobody waits for; their answers are kept back.
    pub(crate) left_alone: BTreeSet<SessionIndex>,
    /// Sessions whose statement was in flight when the runner told the server to cancel it, and is
    /// not over.
    pub(crate) cancelling: BTreeSet<SessionIndex>,
    /// What the backends of lost connections were at.
    pub(crate) orphans: BTreeMap<Backend, Orphan>,
    /// Whether the server is dying a sudden death: what it may or may not say then is not heard.
    pub(crate) is_crashing: bool,
    /// Whether anybody may signal a backend at any time, without a step's SQL saying so.
    pub(crate) any_may_signal: bool,
    /// Whether a backend may have been signalled that has not heeded it.
    pub(crate) is_signalled: bool,
    /// Sessions whose statements, as long as they are in flight, may signal a backend.
    pub(crate) signalling: BTreeSet<SessionIndex>,
    /// Whether the scenario's SQL may run a VACUUM that cuts off the end of a table.
    pub(crate) may_truncate: bool,
    /// How locks are looked at after each step, where they are of interest.
    pub(crate) locks: Option<LockView>,
    /// Whether the scenario sets a timeout of the server's, which may end a wait without a step.
    pub(crate) may_time_out: bool,
    began: Instant,
    /// What has happened so far.
    pub(crate) transcript: Transcript,
}

/// The connections of a case, once it is over.
pub(crate) struct Company {
    cast: Cast,
    arrivals: UnboundedReceiver<Arrival>,
    arrive: UnboundedSender<Arrival>,
    live: Vec<Option<LiveSession>>,
    clock: Option<SharedClock>,
}

impl<'a> Replay<'a> {
    /// Goes on with the connections that another replay of the same sessions has left.
    pub(crate) fn adopt(&mut self, company: Company) {
        let Company {
            cast,
            arrivals,
            arrive,
            live,
            clock,
        } = company;
        for session in self.everybody() {
            let pid = cast.pid(session);
            self.transcript
                .backends
                .extend(pid.map(|pid| (pid, session)));
        }
        self.cast = cast;
        self.arrivals = arrivals;
        self.arrive = arrive;
        self.live = live;
        self.clock = clock;
    }

    /// What was observed, and the connections.
    pub(crate) fn hand_over(self) -> (Transcript, Company) {
        let company = Company {
            cast: self.cast,
            arrivals: self.arrivals,
            arrive: self.arrive,
            live: self.live,
            clock: self.clock,
        };
        (self.transcript, company)
    }

    /// A case about to begin; nobody has connected yet.
    pub(crate) fn new(
        scenario: &'a Scenario,
        observer: Arc<Observer>,
        alias: Alias,
        limit: Duration,
    ) -> Self {
        let (arrive, arrivals) = unbounded_channel();
        let everybody = scenario.sessions.len() + 1;
        Self {
            scenario,
            observer,
            limit,
            alias,
            clock: scenario.clock.map(|now| SharedClock::new(now, everybody)),
            cast: Cast::of(everybody),
            arrivals,
            arrive,
            live: std::iter::repeat_with(|| None).take(everybody).collect(),
            waits_begun: 0,
            left_alone: BTreeSet::new(),
            cancelling: BTreeSet::new(),
            orphans: BTreeMap::new(),
            is_crashing: false,
            any_may_signal: any_may_signal(scenario),
            is_signalled: false,
            signalling: BTreeSet::new(),
            may_truncate: scenario
                .all_sql()
                .any(|sql| sql.text.to_ascii_lowercase().contains("vacuum")),
            locks: None,
            may_time_out: scenario.all_sql().any(|sql| names_a_timeout(&sql.text))
                || scenario
                    .sessions
                    .iter()
                    .flat_map(|session| &session.settings)
                    .any(|setting| names_a_timeout(&setting.name.value)),
            began: Instant::now(),
            transcript: Transcript {
                sessions: scenario
                    .sessions
                    .iter()
                    .map(|s| s.name.value.clone())
                    .collect(),
                redactions: scenario.redactions.clone(),
                ..Transcript::default()
            },
        }
    }

    /// The place of the outside observer among the sessions.
    pub(crate) fn outside(&self) -> SessionIndex {
        SessionIndex(self.scenario.sessions.len())
    }

    /// Lets a session, or the outside observer, take part with a fresh connection.
    pub(crate) fn enter(&mut self, session: SessionIndex, sender: Sender, mut receiver: Receiver) {
        let pid = sender.pid();
        self.cast.enter(session, pid);
        self.transcript.backends.push((pid, session));
        let prelude = self.clock.as_ref().map(|clock| clock.prelude(session));
        self.live[session.0] = Some(LiveSession::new(sender, prelude));
        let arrive = self.arrive.clone();
        let alias = self.alias.clone();
        tokio::spawn(async move {
            while let Some(mut incoming) = receiver.next().await {
                if let Incoming::Answer(answer) = &mut incoming {
                    alias.apply(answer);
                }
                let arrival = Arrival {
                    session,
                    pid,
                    incoming,
                };
                if arrive.send(arrival).is_err() {
                    break;
                }
            }
        });
    }

    /// Ends a session's connection, and waits until the server has seen it.
    pub(crate) async fn leave(&mut self, session: SessionIndex) {
        let Some(mut live) = self.live[session.0].take() else {
            return;
        };
        live.close().await;
        let gone = async {
            while let Some(arrival) = self.arrivals.recv().await {
                if arrival.session == session && matches!(arrival.incoming, Incoming::Closed(_)) {
                    break;
                }
            }
        };
        // A server that does not hang up is found out by what is asked of it next.
        let _ = tokio::time::timeout(self.limit, gone).await;
    }

    /// Ends all connections, and waits until the server has seen it: the next case may need their
    /// places, and a database that has connections cannot be dropped at once.
    pub(crate) async fn close(mut self) -> Transcript {
        for mut live in self.live.iter_mut().filter_map(Option::take) {
            // A server that has stopped may not even take a goodbye.
            let _ = tokio::time::timeout(self.limit, live.close()).await;
        }
        drop(self.arrive);
        // Each connection lets go of its end of the channel when it is over.
        let over = async { while self.arrivals.recv().await.is_some() {} };
        // A backend that does not end is thrown out by who drops its database.
        let _ = tokio::time::timeout(HEEDS_WITHIN, over).await;
        self.transcript
    }

    /// What a set-up or tear-down was answered.
    pub(crate) fn take_ended(&mut self, session: SessionIndex) -> Vec<Answered> {
        let turn = self.live[session.0]
            .as_mut()
            .and_then(|live| live.turn.take());
        turn.map(|turn| turn.ended).unwrap_or_default()
    }

    /// When a step that begins now must be over.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.limit
    }

    /// Notes that something happened.
    pub(crate) fn push(&mut self, step: usize, kind: EventKind) {
        let at = self.began.elapsed();
        self.transcript.events.push(Event { step, at, kind });
    }

    /// The sessions with a statement whose end has not been seen.
    pub(crate) fn in_flight(&self) -> Vec<SessionIndex> {
        self.everybody()
            .filter(|session| self.is_in_flight(*session))
            .collect()
    }

    /// Every session, and the outside observer.
    pub(crate) fn everybody(&self) -> impl Iterator<Item = SessionIndex> + use<> {
        (0..self.live.len()).map(SessionIndex)
    }

    /// Whether a session has a statement whose end has not been seen.
    pub(crate) fn is_in_flight(&self, session: SessionIndex) -> bool {
        self.live[session.0]
            .as_ref()
            .is_some_and(LiveSession::in_flight)
    }

    /// Whether a session has a connection, as far as is known.
    pub(crate) fn is_connected(&self, session: SessionIndex) -> bool {
        self.live[session.0]
            .as_ref()
            .is_some_and(LiveSession::is_connected)
    }

    /// All backends that may do something by themselves.
    pub(crate) fn watched(&self) -> Vec<Backend> {
        let in_flight = self.in_flight().into_iter().map(Backend::Of);
        in_flight.chain(self.cast.lost()).collect()
    }

    /// Takes in what has arrived by now.
    pub(crate) async fn take_arrivals(&mut self) -> Result<(), Halt> {
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.receive(arrival).await?;
        }
        Ok(())
    }

    /// Takes in one thing that arrived.
    pub(crate) async fn receive(&mut self, arrival: Arrival) -> Result<(), Halt> {
        let Arrival {
            session,
            pid,
            incoming,
        } = arrival;
        if self.cast.pid(session) != Some(pid) {
            return Ok(());
        }
        let is_over = matches!(incoming, Incoming::Closed(_));
        match incoming {
            Incoming::Closed(closing @ (Closing::TooLarge { .. } | Closing::Malformed(_))) => {
                return Err(Halt::Answer(session, closing));
            }
            Incoming::Answer(_) if self.is_crashing => return Ok(()),
            Incoming::Answer(_) => {}
            Incoming::Ready(_) | Incoming::Closed(_) => {
                self.cancelling.remove(&session);
            }
        }
        let was_connected = self.is_connected(session);
        if let Some(live) = &mut self.live[session.0] {
            within(self.limit, session, live.receive(incoming)).await?;
        }
        self.note_hang_up(session, was_connected && !is_over);
        Ok(())
    }
}

/// Whether SQL sets one of the settings that may end a wait without a step that ends it.
pub(crate) fn names_a_timeout(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("client_connection_check_interval")
        || text
            .match_indices("_timeout")
            .any(|(at, _)| !text[..at].ends_with("deadlock"))
}

/// What the observer asks is answered within the time limit of the step.
pub(crate) async fn answered<T>(
    deadline: Instant,
    asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Halt> {
    tokio::time::timeout_at(deadline, asked)
        .await
        .map_err(|_| Halt::TimeLimit)?
        .map_err(Halt::Observer)
}

/// What a session has to send is taken in time: a server that waits for a lock reads no more of it
/// than there is room for.
pub(crate) async fn within(
    limit: Duration,
    session: SessionIndex,
    sending: impl Future<Output = Result<(), Obstacle>>,
) -> Result<(), Halt> {
    tokio::time::timeout(limit, sending)
        .await
        .map_err(|_| Halt::TimeLimit)?
        .map_err(|obstacle| Halt::Session(session, obstacle))
}
