//! What has come is put into the transcript, in an order that does not depend on who was faster.

use super::cast::Backend;
use super::live::LiveSession;
use super::replay::Replay;
use super::settle::Settled;
use crate::scenario::{Blocker, Role, SessionIndex, Step};
use crate::schedule::{Marker, Progress, StepPlace, is_held_back, is_reported_waiting_first};
use crate::transcript::EventKind;

impl Progress for Replay<'_> {
    fn current(&self, session: usize) -> Option<StepPlace> {
        let turn = self.live[session].as_ref()?.turn.as_ref()?;
        match self.scenario.steps.get(turn.step?)?.role {
            Role::Owned { place, .. } => Some(place),
            Role::Ordered | Role::Invariant(_) => None,
        }
    }

    fn notices(&self, session: usize) -> u32 {
        self.live[session].as_ref().map_or(0, LiveSession::notices)
    }
}

impl Replay<'_> {
    /// Reports all news: first of the session whose step was just run, then of those that waited,
    /// in the order in which they began to. Of sessions that are left alone nothing is reported.
    pub(crate) fn report(&mut self, first: Option<SessionIndex>, settled: Settled) {
        let mut order: Vec<(bool, Option<usize>, SessionIndex)> = self
            .everybody()
            .filter(|session| !self.left_alone.contains(session))
            .filter_map(|session| {
                let turn = self.live[session.0].as_ref()?.turn.as_ref()?;
                Some((Some(session) != first, turn.waiting_since, session))
            })
            .collect();
        order.sort();
        let mut held_back = false;
        for (_, _, session) in order {
            let blockers = settled
                .iter()
                .find(|(who, _)| *who == Backend::Of(session))
                .map(|(_, whom)| whom.clone());
            if self.holds_back(session) {
                self.hold_back(session, blockers);
                held_back = true;
            } else {
                self.report_session(session, blockers);
            }
        }
        if held_back {
            self.report_let_go();
        }
    }

    /// Reports the ends that were held back for the sake of those that have been reported since.
    fn report_let_go(&mut self) {
        loop {
            let let_go = self.everybody().filter(|session| {
                self.has_ended(*session)
                    && self.waiting_since(*session).is_some()
                    && !self.left_alone.contains(session)
                    && !self.is_held_back(*session)
            });
            let first = let_go.min_by_key(|session| self.waiting_since(*session));
            let Some(session) = first else {
                return;
            };
            self.report_session(session, None);
        }
    }

    /// Whether a session's statement has ended, and its end is not reported because of a marker.
    pub(crate) fn is_held_back(&self, session: SessionIndex) -> bool {
        let Some(turn) = self.live[session.0]
            .as_ref()
            .and_then(|live| live.turn.as_ref())
        else {
            return false;
        };
        turn.is_over() && is_held_back(self.markers_of(turn.step), &turn.notices_before, self)
    }

    /// Whether a session's end may not be reported now: because of a marker, or because the step
    /// must be reported to wait first.
    fn holds_back(&self, session: SessionIndex) -> bool {
        let waits_first = self.has_ended(session)
            && self.waiting_since(session).is_none()
            && is_reported_waiting_first(self.markers_of(self.step_of(session)));
        waits_first || self.is_held_back(session)
    }

    /// Reports that the end of a session's step is reported later, unless that was told before.
    fn hold_back(&mut self, session: SessionIndex, blockers: Option<Vec<Blocker>>) {
        if self.waiting_since(session).is_some() {
            return;
        }
        let Some(step) = self.step_of(session) else {
            return;
        };
        self.begin_wait(session);
        self.push(
            step,
            match blockers {
                Some(blockers) => EventKind::Waits { session, blockers },
                None => EventKind::HeldBack { session },
            },
        );
    }

    fn report_session(
        &mut self,
        session: SessionIndex,
        blockers: Option<Vec<Blocker>>,
    ) -> Option<()> {
        let live = self.live[session.0].as_mut()?;
        let turn = live.turn.as_mut()?;
        // Set-up and tear-down are no part of the transcript.
        let step = turn.step?;
        let ended = std::mem::take(&mut turn.ended);
        let waited = turn.waiting_since.is_some();
        let blockers = blockers.filter(|_| !waited || !ended.is_empty());
        let is_over = turn.is_over();
        if is_over {
            live.turn = None;
        }
        // An empty message ends without an answer.
        if waited && (is_over || !ended.is_empty()) {
            self.push(step, EventKind::Continues { session });
        }
        let named = (session != self.outside()).then_some(session);
        for answered in ended {
            let kind = EventKind::Answered {
                session: named,
                part: answered.part,
                statement: answered.statement,
                answers: answered.answers,
                status: answered.status,
            };
            self.push(step, kind);
        }
        if let Some(blockers) = blockers {
            self.begin_wait(session);
            self.push(step, EventKind::Waits { session, blockers });
        }
        Some(())
    }

    fn begin_wait(&mut self, session: SessionIndex) {
        self.waits_begun += 1;
        if let Some(turn) = self.live[session.0]
            .as_mut()
            .and_then(|live| live.turn.as_mut())
        {
            turn.waiting_since = Some(self.waits_begun);
        }
    }

    fn has_ended(&self, session: SessionIndex) -> bool {
        let live = self.live[session.0].as_ref();
        live.and_then(|live| live.turn.as_ref())
            .is_some_and(|turn| turn.step.is_some() && turn.is_over())
    }

    fn waiting_since(&self, session: SessionIndex) -> Option<usize> {
        self.live[session.0].as_ref()?.turn.as_ref()?.waiting_since
    }

    fn step_of(&self, session: SessionIndex) -> Option<usize> {
        self.live[session.0].as_ref()?.turn.as_ref()?.step
    }

    /// What delays the report of a step.
    pub(crate) fn markers_of(&self, step: Option<usize>) -> &[Marker] {
        let role = step
            .and_then(|step| self.scenario.steps.get(step))
            .map(|step: &Step| &step.role);
        match role {
            Some(Role::Owned { markers, .. }) => markers,
            _ => &[],
        }
    }
}
