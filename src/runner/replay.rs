//! One case, played from the first step to the last.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::alias::Alias;
use super::cast::Cast;
use super::live::{Answered, LiveSession, Obstacle};
use super::locks::LockView;
use super::observer::Observer;
use super::trouble::HEEDS_WITHIN;
use crate::scenario::{Action, Reply, Scenario, Sending, SessionIndex, Step};
use crate::transcript::{Event, EventKind, Transcript};
use crate::wire::{Closing, Incoming, Receiver, Sender};

/// Something that came from the server, and for which session.
pub(crate) type Arrival = (SessionIndex, Incoming);

/// Why a replay does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The time limit of the step is over.
    TimeLimit,
    /// A session waits, and nothing the scenario does can end that.
    Stuck(SessionIndex),
    /// A session does not go on: what it has to send cannot be sent.
    Session(SessionIndex, Obstacle),
    /// A session's answer cannot be taken in.
    Answer(SessionIndex, Closing),
    /// The observer's connection failed.
    Observer(tokio_postgres::Error),
}

/// One case while it is played. The sessions of the scenario come first; behind them stands the
/// outside observer that `check` steps ask through.
pub(crate) struct Replay<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) observer: &'a Observer,
    pub(crate) limit: Duration,
    alias: Alias,
    pub(crate) cast: Cast,
    pub(crate) arrivals: UnboundedReceiver<Arrival>,
    arrive: UnboundedSender<Arrival>,
    pub(crate) live: Vec<Option<LiveSession>>,
    pub(crate) waits_begun: usize,
    /// Whether the scenario's SQL may signal a backend.
    pub(crate) may_signal: bool,
    /// How locks are looked at after each step, where they are of interest.
    pub(crate) locks: Option<LockView>,
    began: Instant,
    /// What has happened so far.
    pub(crate) transcript: Transcript,
}

impl<'a> Replay<'a> {
    /// A case about to begin; nobody has connected yet.
    pub(crate) fn new(
        scenario: &'a Scenario,
        observer: &'a Observer,
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
            cast: Cast::of(everybody),
            arrivals,
            arrive,
            live: std::iter::repeat_with(|| None).take(everybody).collect(),
            waits_begun: 0,
            may_signal: scenario.all_sql().any(|sql| names_a_signal(&sql.text)),
            locks: None,
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
        self.cast.enter(session, sender.pid());
        self.transcript.backends.push((sender.pid(), session));
        self.live[session.0] = Some(LiveSession::new(sender, None));
        let arrive = self.arrive.clone();
        let alias = self.alias.clone();
        tokio::spawn(async move {
            while let Some(mut incoming) = receiver.next().await {
                if let Incoming::Answer(answer) = &mut incoming {
                    alias.apply(answer);
                }
                if arrive.send((session, incoming)).is_err() {
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
            while let Some((who, incoming)) = self.arrivals.recv().await {
                if who == session && matches!(incoming, Incoming::Closed(_)) {
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

    /// Plays all steps.
    pub(crate) async fn play(&mut self) -> Result<(), (usize, Halt)> {
        let scenario = self.scenario;
        for (at, step) in scenario.steps.iter().enumerate() {
            self.play_step(at, step).await.map_err(|halt| (at, halt))?;
            self.look_at_locks(at).await.map_err(|halt| (at, halt))?;
        }
        // Whoever still waits must be freed by itself: there is no step left to do it.
        let last = scenario.steps.len().saturating_sub(1);
        while let Some(session) = self.in_flight().first().copied() {
            self.await_end(session).await.map_err(|halt| (last, halt))?;
        }
        Ok(())
    }

    async fn play_step(&mut self, at: usize, step: &Step) -> Result<(), Halt> {
        match &step.action {
            Action::Say(_) => Ok(()),
            Action::WaitFor(session) => self.await_end(*session).await,
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
                self.run(*session, Some(at), sending, *reply).await
            }
            Action::Check(sql) => {
                self.push(
                    at,
                    EventKind::Checked {
                        sql: sql.text.clone(),
                    },
                );
                let outside = self.outside();
                let sending = Sending::Statements(sql.clone());
                self.run(outside, Some(at), &sending, Reply::Awaited)
                    .await?;
                self.await_end(outside).await
            }
            _ => unreachable!("the loader gives no other kind yet"),
        }
    }

    /// Has a session send something, until it is answered or proven to wait, and reports.
    pub(crate) async fn run(
        &mut self,
        session: SessionIndex,
        step: Option<usize>,
        sending: &Sending,
        reply: Reply,
    ) -> Result<(), Halt> {
        if let Some(live) = &mut self.live[session.0] {
            live.begin(step, sending, reply)
                .await
                .map_err(|obstacle| Halt::Session(session, obstacle))?;
        }
        let settled = self.settle(self.deadline()).await?;
        self.report(Some(session), settled);
        Ok(())
    }

    /// Waits until a session is free: until what it waits for ends by itself.
    pub(crate) async fn await_end(&mut self, session: SessionIndex) -> Result<(), Halt> {
        let deadline = self.deadline();
        while self.is_in_flight(session) {
            let settled = self.settle(deadline).await?;
            self.report(None, settled);
            if !self.is_in_flight(session) {
                break;
            }
            if !self.waits_may_end() {
                return Err(Halt::Stuck(session));
            }
            tokio::select! {
                biased;
                Some(arrival) = self.arrivals.recv() => self.receive(arrival).await?,
                () = tokio::time::sleep_until(deadline) => return Err(Halt::TimeLimit),
            }
        }
        Ok(())
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

    fn is_in_flight(&self, session: SessionIndex) -> bool {
        self.live[session.0]
            .as_ref()
            .is_some_and(LiveSession::in_flight)
    }

    /// Takes in what has arrived by now.
    pub(crate) async fn take_arrivals(&mut self) -> Result<(), Halt> {
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.receive(arrival).await?;
        }
        Ok(())
    }

    /// Takes in one thing that arrived.
    pub(crate) async fn receive(&mut self, (session, incoming): Arrival) -> Result<(), Halt> {
        if let Incoming::Closed(closing @ (Closing::TooLarge { .. } | Closing::Malformed(_))) =
            incoming
        {
            return Err(Halt::Answer(session, closing));
        }
        if let Some(live) = &mut self.live[session.0] {
            live.receive(incoming)
                .await
                .map_err(|obstacle| Halt::Session(session, obstacle))?;
        }
        Ok(())
    }

    /// Whether a wait may end without a step that ends it: by one of the server's timeouts, which
    /// somebody must have set by its name.
    fn waits_may_end(&self) -> bool {
        self.scenario
            .all_sql()
            .any(|sql| names_a_timeout(&sql.text))
            || self
                .scenario
                .sessions
                .iter()
                .flat_map(|session| &session.settings)
                .any(|setting| names_a_timeout(&setting.name.value))
    }
}

/// Whether SQL may make a backend end what it does. Where that is in a function, the set-up names
/// it.
pub(crate) fn names_a_signal(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["pg_cancel_backend", "pg_terminate_backend"]
        .iter()
        .any(|function| text.contains(function))
}

/// Whether SQL sets one of the server's timeouts, which may end a wait without a step that ends it.
pub(crate) fn names_a_timeout(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.match_indices("_timeout")
        .any(|(at, _)| !text[..at].ends_with("deadlock"))
}
