//! Which backend plays which session.

use super::blocking::SeenBlocker;
use crate::scenario::Blocker;
use crate::scenario::SessionIndex;

/// The backends of one case: a process id for each session that has connected.
#[derive(Debug, Clone)]
pub(crate) struct Cast {
    pids: Vec<Option<i32>>,
}

impl Cast {
    /// A cast of so many sessions, none of them connected yet.
    pub(crate) fn of(sessions: usize) -> Self {
        Self {
            pids: vec![None; sessions],
        }
    }

    /// Notes the backend of a session.
    pub(crate) fn enter(&mut self, session: SessionIndex, pid: i32) {
        self.pids[session.0] = Some(pid);
    }

    /// The process id of a session's backend.
    pub(crate) fn pid(&self, session: SessionIndex) -> Option<i32> {
        self.pids[session.0]
    }

    /// The session whose backend has a process id.
    pub(crate) fn session(&self, pid: i32) -> Option<SessionIndex> {
        self.pids
            .iter()
            .position(|entry| *entry == Some(pid))
            .map(SessionIndex)
    }

    /// What a process id stands for among the blockers that the server names; it names 0 for a
    /// prepared transaction.
    pub(crate) fn blocker(&self, pid: i32) -> SeenBlocker {
        match self.session(pid) {
            Some(session) => SeenBlocker::Known(Blocker::Session(session)),
            None if pid == 0 => SeenBlocker::Known(Blocker::PreparedTransaction),
            None => SeenBlocker::Stranger(pid),
        }
    }
}
