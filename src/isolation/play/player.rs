//! What is known while a spec is played.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::halt::{Halt, Part};
use super::line::Line;
use super::spec::Figures;
use crate::isolation::print::{error_line, table};
use crate::isolation::spec::{Spec, SpecStep};
use crate::runner::{Backend, Cast, Observer, Standing};
use crate::scenario::{SessionIndex, Spanned};
use crate::schedule::{Marker, Progress, StepPlace};
use crate::transcript::{Answer, psql};
use crate::wire::{Closing, Incoming};

/// What libpq says when a server goes away in the middle of an answer.
const SERVER_CLOSED: &str = "server closed the connection unexpectedly\n\
     \tThis probably means the server terminated abnormally\n\
     \tbefore or while processing the request.\n\n";

/// A step that a session is at: begun, and its end not reported.
#[derive(Debug)]
pub(super) struct Current {
    pub step: StepPlace,
    pub markers: Vec<Marker>,
    /// For each marker, the notices of its session when the step began.
    pub notices_before: Vec<u32>,
    /// When it began.
    pub since: Instant,
    /// What its report will say below the line of the step.
    pub answers: String,
    /// Whether the server has done it.
    pub is_over: bool,
}

/// A spec that is played. The sessions' connections come first, the control connection is last.
pub(super) struct Player<'a> {
    pub spec: &'a Spec,
    pub observer: &'a Observer,
    pub limit: Duration,
    pub lines: &'a mut [Line],
    pub cast: Cast,
    /// The step that each session is at.
    pub current: Vec<Option<Current>>,
    /// Sessions whose step was reported to wait, in the order in which the steps began.
    pub waiting: Vec<usize>,
    /// Whether a notice was told since this was last reset.
    pub has_new_notice: bool,
    /// What the latest look proved; empty once anything has happened since.
    pub standings: BTreeMap<Backend, Standing>,
    /// Who was proven to wait while nothing happened since.
    pub proven: BTreeSet<Backend>,
    /// Whether a backend may have been signalled that has not heeded it.
    pub is_signalled: bool,
    /// Whether any step may signal a backend, as functions of the set-ups do.
    pub any_may_signal: bool,
    /// Whether waits may end by one of the server's timeouts.
    pub waits_may_end: bool,
    /// What stands in for the tear-down and the set-up between two schedules.
    pub refill: Option<Spanned<String>>,
    /// Whether that has been done for the schedule that comes next.
    pub is_refilled: bool,
    /// For each session, whether its set-up only begins a transaction.
    pub begins_only: Vec<bool>,
    /// What isolationtester would print.
    pub output: String,
    pub figures: Figures,
}

impl Progress for Player<'_> {
    fn current(&self, session: usize) -> Option<StepPlace> {
        self.current[session].as_ref().map(|current| current.step)
    }

    fn notices(&self, session: usize) -> u32 {
        self.lines[session].notices
    }
}

impl Player<'_> {
    /// The place of the control connection.
    pub(super) fn control(&self) -> usize {
        self.spec.sessions.len()
    }

    /// The step that a session is at.
    pub(super) fn step_of(&self, session: usize) -> Option<&SpecStep> {
        let current = self.current[session].as_ref()?;
        Some(self.spec.step(current.step))
    }

    /// The SQL of a part of the spec.
    pub(super) fn sql_of(&self, part: Part) -> &Spanned<String> {
        let spec = self.spec;
        let sql = match part {
            Part::Setup(at) => spec.setups.get(at),
            Part::SessionSetup(at) => spec.sessions[at].setup.as_ref(),
            Part::Step(session) => self.step_of(session).map(|step| &step.sql),
            Part::SessionTeardown(at) => spec.sessions[at].teardown.as_ref(),
            Part::Teardown => spec.teardown.as_ref(),
        };
        sql.expect("only parts that are there are played")
    }

    /// Connections on which the server has something to do.
    pub(super) fn in_flight(&self) -> Vec<SessionIndex> {
        let lines = self.lines.iter().enumerate();
        lines
            .filter(|(_, line)| line.in_flight())
            .map(|(at, _)| SessionIndex(at))
            .collect()
    }

    /// What looks have proven holds until something happens.
    pub(super) fn something_happens(&mut self) {
        self.standings.clear();
        self.proven.clear();
    }

    /// Whether anything arrives for a connection in flight within a time.
    pub(super) async fn arrives_within(&mut self, pause: Duration) -> bool {
        let has_come = if pause.is_zero() {
            let mut arrival = std::pin::pin!(arrival(self.lines));
            poll_fn(|context| Poll::Ready(arrival.as_mut().poll(context).is_ready())).await
        } else {
            tokio::select! {
                biased;
                () = arrival(self.lines) => true,
                // At the next whole millisecond: a thread that sleeps for less would cost each step more
                // than all waits together gain by it.
                () = tokio::time::sleep(pause) => false,
            }
        };
        if has_come {
            self.something_happens();
        }
        has_come
    }

    /// Takes in what has arrived for a session that is at a step.
    pub(super) async fn take_in(&mut self, session: usize) -> Result<(), Halt> {
        while let Some(incoming) = self.lines[session].take() {
            let answer = match incoming {
                Incoming::Answer(answer) => answer,
                Incoming::Ready(_) => {
                    if let Some(current) = &mut self.current[session] {
                        current.is_over = true;
                    }
                    continue;
                }
                Incoming::Closed(Closing::Server | Closing::Client | Closing::Io(_)) => {
                    if let Some(current) = &mut self.current[session] {
                        current.is_over = true;
                        current.answers.push_str(SERVER_CLOSED);
                    }
                    continue;
                }
                Incoming::Closed(closing) => {
                    return Err(Halt::Answer(Part::Step(session), closing));
                }
            };
            let sql = self.step_of(session).map(|step| step.sql.value.as_str());
            let text = match answer {
                Answer::Rows(result) => table(&result),
                Answer::Error(error) => error_line(&error),
                Answer::CopyOut(data) => String::from_utf8_lossy(&data).into_owned(),
                Answer::CopyIn => {
                    self.lines[session].refuse_copy_in().await;
                    continue;
                }
                Answer::Notice(notice) => {
                    let sql = sql.unwrap_or_default();
                    let text = psql::render(sql, &[Answer::Notice(notice)]);
                    self.tell_notice(session, &text);
                    continue;
                }
                _ => continue,
            };
            if let Some(current) = &mut self.current[session] {
                current.answers.push_str(&text);
            }
        }
        Ok(())
    }

    /// Tells a notice of a session; those of the control connection are not told.
    pub(super) fn tell_notice(&mut self, line: usize, text: &str) {
        self.lines[line].notices += 1;
        self.has_new_notice = true;
        if let Some(session) = self.spec.sessions.get(line) {
            let _ = write!(self.output, "{}: {text}", session.name.value);
        }
    }

    /// Reports a step as waiting.
    pub(super) fn report_waiting(&mut self, session: usize) {
        let Some(step) = self.step_of(session) else {
            return;
        };
        let (name, sql) = (&step.name.value, &step.sql.value);
        let line = format!("step {name}: {sql} <waiting ...>\n");
        self.output.push_str(&line);
    }

    /// Reports the end of a step, with the notifications of its session.
    pub(super) async fn report_end(
        &mut self,
        session: usize,
        has_waited: bool,
    ) -> Result<(), Halt> {
        // What has arrived until now belongs to this report.
        let line = &mut self.lines[session];
        poll_fn(|context| {
            let _ = line.poll_arrival(context);
            Poll::Ready(())
        })
        .await;
        let Some(step) = self.step_of(session) else {
            return Ok(());
        };
        let name = &step.name.value;
        let line = if has_waited {
            format!("step {name}: <... completed>\n")
        } else {
            format!("step {name}: {}\n", step.sql.value)
        };
        self.output.push_str(&line);
        if let Some(current) = &self.current[session] {
            self.output.push_str(&current.answers);
        }
        self.take_in(session).await?;
        for notification in std::mem::take(&mut self.lines[session].notifications) {
            let pid = notification.pid;
            let sender = match self.cast.backend(pid).map(Backend::session) {
                Some(SessionIndex(at)) if at < self.control() => {
                    self.spec.sessions[at].name.value.clone()
                }
                _ => format!("PID {pid}"),
            };
            let _ = writeln!(
                self.output,
                "{}: NOTIFY \"{}\" with payload \"{}\" from {sender}",
                self.spec.sessions[session].name.value, notification.channel, notification.payload
            );
        }
        self.current[session] = None;
        Ok(())
    }
}

/// Ready when something has arrived for a connection in flight.
pub(super) async fn arrival(lines: &mut [Line]) {
    poll_fn(|context| {
        let mut has_come = false;
        for line in lines.iter_mut().filter(|line| line.in_flight()) {
            has_come |= line.poll_arrival(context).is_ready();
        }
        if has_come {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
