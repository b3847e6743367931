//! Steps that have begun, until their end is reported.

use std::time::{Duration, Instant};

use super::halt::{Halt, Part};
use super::look::View;
use super::player::Player;
use crate::runner::{FIRST_LOOK, LOOKS_APART};
use crate::schedule::{is_held_back, is_reported_waiting_first};

/// Whether a step is looked at for the first time, and whether it may be left waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It has just begun, and may be left waiting.
    First,
    /// It was reported to wait, and may be left so.
    Again,
    /// It was reported to wait, and its end is waited for.
    ToTheEnd,
}

impl Player<'_> {
    /// Waits until the step of a session has ended or is seen to wait, and reports that. Whether
    /// its end was reported.
    pub(super) async fn try_complete(&mut self, session: usize, how: How) -> Result<bool, Halt> {
        let is_held = |player: &Self| {
            player.current[session].as_ref().is_some_and(|current| {
                is_held_back(&current.markers, &current.notices_before, player)
            })
        };
        if how == How::First
            && let Some(current) = &self.current[session]
            && is_reported_waiting_first(&current.markers)
        {
            self.report_waiting(session);
            return Ok(false);
        }
        if self.is_left_waiting(session, how).await? || is_held(self) {
            if how == How::First {
                self.report_waiting(session);
            }
            return Ok(false);
        }
        self.report_end(session, how != How::First).await?;
        Ok(true)
    }

    /// Waits until the step of a session has ended, or is seen to wait where it may; whether it
    /// waits.
    async fn is_left_waiting(&mut self, session: usize, how: How) -> Result<bool, Halt> {
        let began = Instant::now();
        let mut is_cancelled = false;
        let mut pause = match how {
            How::First => FIRST_LOOK,
            // What has waited so far probably waits still.
            How::Again => Duration::ZERO,
            How::ToTheEnd => FIRST_LOOK,
        };
        loop {
            self.take_in(session).await?;
            if self.current[session].as_ref().is_none_or(|c| c.is_over) {
                return Ok(false);
            }
            if self.arrives_within(pause).await {
                pause = FIRST_LOOK;
                continue;
            }
            pause = (pause * 2).clamp(FIRST_LOOK, LOOKS_APART);
            if how == How::ToTheEnd {
                if self.is_stuck().await? {
                    return Err(Halt::Stuck(Part::Step(session)));
                }
            } else {
                match self.look_at(session, began).await? {
                    View::Waits => {
                        self.take_in(session).await?;
                        let current = self.current[session].as_ref();
                        let Some(current) = current.filter(|current| !current.is_over) else {
                            return Ok(false);
                        };
                        if how == How::First {
                            self.figures.waits.push(current.since.elapsed());
                        }
                        return Ok(true);
                    }
                    View::Closer => pause = Duration::ZERO,
                    View::Open => {}
                }
            }
            let elapsed = began.elapsed();
            if elapsed > self.limit && !is_cancelled {
                is_cancelled = true;
                self.cancel(session).await;
            } else if elapsed > self.limit * 2 {
                return Err(Halt::TimeLimit(Part::Step(session)));
            }
        }
    }

    /// Asks the server to give up the step of a session.
    async fn cancel(&mut self, session: usize) {
        let name = self.step_of(session).map(|step| step.name.value.clone());
        let seconds = self.limit.as_secs();
        let cancelled = self.lines[session].cancel_token().cancel().await;
        if cancelled.is_ok() {
            let name = name.unwrap_or_default();
            self.output.push_str(&format!(
                "isolationtester: canceling step {name} after {seconds} seconds\n"
            ));
        }
        self.figures.cancelled.push(session);
    }

    /// Looks at all steps that wait, in the order in which they began, until nothing changes any
    /// more.
    pub(super) async fn try_complete_all(&mut self, how: How) -> Result<(), Halt> {
        loop {
            self.has_new_notice = false;
            let before = self.waiting.len();
            let mut are_marked = false;
            let mut at = 0;
            while let Some(session) = self.waiting.get(at).copied() {
                if self.try_complete(session, how).await? {
                    self.waiting.remove(at);
                } else {
                    let current = self.current[session].as_ref();
                    are_marked |= current.is_some_and(|current| !current.markers.is_empty());
                    at += 1;
                }
            }
            // A step that was looked at later may have been what a marker waits for.
            if !are_marked || (self.waiting.len() == before && !self.has_new_notice) {
                return Ok(());
            }
        }
    }

    /// Waits until a session's step is reported to have ended.
    pub(super) async fn finish(&mut self, session: usize) -> Result<(), Halt> {
        let began = Instant::now();
        let mut pause = FIRST_LOOK;
        while self.current[session].is_some() {
            if self.try_complete(session, How::ToTheEnd).await? {
                self.waiting.retain(|waiting| *waiting != session);
            }
            let before = self.waiting.len();
            self.try_complete_all(How::Again).await?;
            if self.current[session].is_none() || self.waiting.len() < before {
                continue;
            }
            // Its marker waits for what somebody else does.
            if self.in_flight().is_empty() || self.is_stuck().await? {
                return Err(Halt::HeldBack(session));
            }
            if began.elapsed() > self.limit * 2 {
                return Err(Halt::TimeLimit(Part::Step(session)));
            }
            if self.arrives_within(pause).await {
                pause = FIRST_LOOK;
            } else {
                pause = (pause * 2).min(LOOKS_APART);
            }
        }
        Ok(())
    }
}
