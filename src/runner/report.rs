//! What has come is put into the transcript, in an order that does not depend on who was faster.

use super::cast::Backend;
use super::replay::Replay;
use super::settle::Settled;
use crate::scenario::{Blocker, SessionIndex};
use crate::transcript::EventKind;

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
        for (_, _, session) in order {
            let blockers = settled
                .iter()
                .find(|(who, _)| *who == Backend::Of(session))
                .map(|(_, whom)| whom.clone());
            self.report_session(session, blockers);
        }
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
        if blockers.is_some() {
            self.waits_begun += 1;
            turn.waiting_since = Some(self.waits_begun);
        }
        if turn.is_over() {
            live.turn = None;
        }
        if waited && !ended.is_empty() {
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
            self.push(step, EventKind::Waits { session, blockers });
        }
        Some(())
    }
}
