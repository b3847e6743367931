//! One schedule, from its set-ups to its tear-downs.

use std::time::Instant;

use super::complete::How;
use super::halt::{Halt, Part};
use super::line::Line;
use super::player::{Current, Player};
use crate::isolation::print::table;
use crate::runner::{FIRST_LOOK, LOOKS_APART};
use crate::scenario::{Signals, Spanned, split};
use crate::schedule::{Marker, Schedule, ScheduledStep};
use crate::transcript::{Answer, psql};
use crate::wire::Incoming;

/// An error of a message that is no step.
struct Failure {
    /// As libpq tells it.
    text: String,
    /// The character of the SQL where it is, counted from 1.
    position: Option<u32>,
}

/// How a message that is no step ended.
enum Ended {
    /// It has done its work.
    Done,
    /// With an error.
    Failed(Failure),
}

impl Player<'_> {
    /// Sends the global set-ups; their answers are collected when the schedule begins.
    pub(super) async fn begin_setups(&mut self) -> Result<(), Halt> {
        let spec = self.spec;
        for (at, setup) in spec.setups.iter().enumerate() {
            self.send(self.control(), Part::Setup(at), setup).await?;
        }
        Ok(())
    }

    /// Plays one schedule. If another one follows, its global set-ups are sent right behind the
    /// tear-down of this one.
    pub(super) async fn schedule(
        &mut self,
        schedule: &Schedule,
        is_last: bool,
    ) -> Result<(), Halt> {
        let spec = self.spec;
        self.output.push_str("\nstarting permutation:");
        for scheduled in &schedule.steps {
            self.output.push(' ');
            self.output.push_str(&spec.step(scheduled.step).name.value);
        }
        self.output.push('\n');
        let is_set_up = std::mem::take(&mut self.is_refilled);
        for at in (0..spec.setups.len()).filter(|_| !is_set_up) {
            let ended = self.collect(self.control(), Part::Setup(at)).await?;
            self.must_be_done(&ended, "setup failed: ", Part::Setup(at))?;
        }
        self.session_setups().await?;
        for scheduled in &schedule.steps {
            self.step(scheduled).await?;
        }
        self.try_complete_all(How::ToTheEnd).await?;
        if let Some(session) = self.waiting.first() {
            return Err(Halt::HeldBack(*session));
        }
        self.teardowns(is_last).await
    }

    /// Runs the set-ups of the sessions, in their order. Those that only begin a transaction are
    /// sent side by side: nobody can see in which order transactions begin that have done nothing.
    async fn session_setups(&mut self) -> Result<(), Halt> {
        let spec = self.spec;
        let setups: Vec<_> = spec
            .sessions
            .iter()
            .enumerate()
            .filter_map(|(at, session)| Some((at, session.setup.as_ref()?)))
            .collect();
        let begins_only = std::mem::take(&mut self.begins_only);
        for group in setups.chunk_by(|(one, _), (next, _)| begins_only[*one] && begins_only[*next])
        {
            for (at, setup) in group {
                self.send(*at, Part::SessionSetup(*at), setup).await?;
            }
            for (at, _) in group {
                let part = Part::SessionSetup(*at);
                let ended = self.collect(*at, part).await?;
                let name = &spec.sessions[*at].name.value;
                self.must_be_done(&ended, &format!("setup of session {name} failed: "), part)?;
            }
        }
        self.begins_only = begins_only;
        Ok(())
    }

    /// Begins a step once its session is free, and waits until it has ended or waits.
    async fn step(&mut self, scheduled: &ScheduledStep) -> Result<(), Halt> {
        let session = scheduled.step.session;
        self.finish(session).await?;
        let sql = &self.spec.step(scheduled.step).sql.value;
        let notices_before = scheduled.markers.iter().map(|marker| match marker {
            Marker::AfterNotices { step, .. } => self.lines[step.session].notices,
            Marker::WaitsFirst | Marker::After(_) => 0,
        });
        let current = Current {
            step: scheduled.step,
            markers: scheduled.markers.clone(),
            notices_before: notices_before.collect(),
            since: Instant::now(),
            answers: String::new(),
            is_over: false,
        };
        self.current[session] = Some(current);
        if !self.lines[session].is_open() {
            let name = &self.spec.step(scheduled.step).name.value;
            self.output.push_str(&format!(
                "failed to send query for step {name}: no connection to the server\n\n"
            ));
            return Err(Halt::Disconnected(session));
        }
        self.is_signalled |= self.any_may_signal || self.is_signalling();
        self.figures.steps += 1;
        self.something_happens();
        self.lines[session]
            .send(sql)
            .await
            .map_err(|error| Halt::Send(Part::Step(session), error))?;
        let has_ended = self.try_complete(session, How::First).await?;
        self.try_complete_all(How::Again).await?;
        if !has_ended {
            self.waiting.push(session);
        }
        Ok(())
    }

    /// Whether a step in flight may signal a backend, now or when it goes on.
    pub(super) fn is_signalling(&self) -> bool {
        let mut in_flight = self.current.iter().flatten().filter(|it| !it.is_over);
        in_flight.any(|it| Signals::are_named(&self.spec.step(it.step).sql.value))
    }

    async fn teardowns(&mut self, is_last: bool) -> Result<(), Halt> {
        let spec = self.spec;
        for (at, session) in spec.sessions.iter().enumerate() {
            let Some(teardown) = &session.teardown else {
                continue;
            };
            let part = Part::SessionTeardown(at);
            self.send(at, part, teardown).await?;
            if let Ended::Failed(error) = self.collect(at, part).await? {
                let name = &session.name.value;
                let text = format!("teardown of session {name} failed: {}", error.text);
                self.output.push_str(&text);
            }
        }
        if !is_last && self.refill().await? {
            return Ok(());
        }
        if let Some(teardown) = &spec.teardown {
            self.send(self.control(), Part::Teardown, teardown).await?;
        }
        if !is_last {
            self.begin_setups().await?;
        }
        if spec.teardown.is_some()
            && let Ended::Failed(error) = self.collect(self.control(), Part::Teardown).await?
        {
            let text = format!("teardown failed: {}", error.text);
            self.output.push_str(&text);
        }
        Ok(())
    }

    /// Brings the tables back to where the set-up had left them, if the spec is one where that can be
    /// done without dropping them, and no transaction is open. Where it fails it has changed nothing,
    /// and it is not tried again.
    async fn refill(&mut self) -> Result<bool, Halt> {
        if !self.lines.iter().all(Line::is_idle) {
            return Ok(false);
        }
        let Some(refill) = self.refill.take() else {
            return Ok(false);
        };
        self.send(self.control(), Part::Teardown, &refill).await?;
        let ended = self.collect(self.control(), Part::Teardown).await?;
        self.is_refilled = matches!(ended, Ended::Done);
        if self.is_refilled {
            self.refill = Some(refill);
        }
        Ok(self.is_refilled)
    }

    async fn send(&mut self, line: usize, part: Part, sql: &Spanned<String>) -> Result<(), Halt> {
        self.something_happens();
        let sent = self.lines[line].send(&sql.value).await;
        sent.map_err(|error| Halt::Send(part, error))
    }

    fn must_be_done(&mut self, ended: &Ended, what: &str, part: Part) -> Result<(), Halt> {
        match ended {
            Ended::Done => Ok(()),
            Ended::Failed(error) => {
                self.output.push_str(what);
                self.output.push_str(&error.text);
                Err(Halt::Setup(part, error.position))
            }
        }
    }

    /// Waits for the end of the first message in flight on a connection, and prints its last rows.
    async fn collect(&mut self, line: usize, part: Part) -> Result<Ended, Halt> {
        let sql = self.sql_of(part).value.clone();
        let mut last = None;
        let mut error = None;
        let mut pause = FIRST_LOOK;
        let began = Instant::now();
        if !self.lines[line].is_open() && !self.lines[line].in_flight() {
            return Ok(Ended::Failed(Failure {
                text: "no connection to the server\n".to_owned(),
                position: None,
            }));
        }
        loop {
            while let Some(incoming) = self.lines[line].take() {
                match incoming {
                    Incoming::Answer(Answer::Rows(rows)) => last = Some(rows),
                    Incoming::Answer(Answer::Error(message)) => {
                        error = Some(Failure {
                            position: message.position,
                            text: psql::render(&sql, &[Answer::Error(message)]),
                        });
                    }
                    Incoming::Answer(Answer::Notice(notice)) => {
                        let text = psql::render(&sql, &[Answer::Notice(notice)]);
                        self.tell_notice(line, &text);
                    }
                    Incoming::Answer(Answer::CopyIn) => self.lines[line].refuse_copy_in().await,
                    Incoming::Answer(Answer::Command(_) | Answer::Empty) => last = None,
                    Incoming::Answer(_) => {}
                    Incoming::Ready(_) => {
                        if let Some(error) = error {
                            return Ok(Ended::Failed(error));
                        }
                        if let Some(rows) = last {
                            self.output.push_str(&table(&rows));
                        }
                        return Ok(Ended::Done);
                    }
                    Incoming::Closed(closing) => {
                        let error = error.unwrap_or_else(|| Failure {
                            text: format!("{closing}\n"),
                            position: None,
                        });
                        return Ok(Ended::Failed(error));
                    }
                }
            }
            if self.arrives_within(pause).await {
                continue;
            }
            pause = (pause * 2).min(LOOKS_APART);
            if began.elapsed() > LOOKS_APART && self.is_stuck().await? {
                return Err(Halt::Stuck(part));
            }
            if began.elapsed() > self.limit {
                return Err(Halt::TimeLimit(part));
            }
        }
    }
}

/// Whether SQL only begins a transaction or changes settings.
pub(super) fn begins_only(sql: &Spanned<String>) -> bool {
    split(&sql.value).is_ok_and(|statements| {
        statements.iter().all(|statement| {
            ["BEGIN", "START", "SET"].iter().any(|word| {
                statement
                    .beginning()
                    .is_some_and(|beginning| beginning.eq_ignore_ascii_case(word))
            })
        })
    })
}
