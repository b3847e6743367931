//! Which backend plays which session.

use super::blocking::SeenBlocker;
use crate::scenario::SessionIndex;

/// A backend of the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Backend {
    /// The one that serves a session.
    Of(SessionIndex),
    /// One that served a session until the connection was lost; its process id. It may not have
    /// noticed yet.
    Lost(SessionIndex, i32),
}

impl Backend {
    /// The session that it serves, or has served.
    pub(crate) const fn session(self) -> SessionIndex {
        match self {
            Self::Of(session) | Self::Lost(session, _) => session,
        }
    }
}

/// The backends of one case: a process id for each session that has connected, and those that
/// connections which were lost have left behind.
#[derive(Debug, Clone)]
pub(crate) struct Cast {
    pids: Vec<Option<i32>>,
    lost: Vec<(SessionIndex, i32)>,
}

impl Cast {
    /// A cast of so many sessions, none of them connected yet.
    pub(crate) fn of(sessions: usize) -> Self {
        Self {
            pids: vec![None; sessions],
            lost: Vec::new(),
        }
    }

    /// Notes the backend of a session.
    pub(crate) fn enter(&mut self, session: SessionIndex, pid: i32) {
        self.pids[session.0] = Some(pid);
    }

    /// Notes that a session has lost its connection, and that its backend is still there.
    pub(crate) fn lose(&mut self, session: SessionIndex) {
        if let Some(pid) = self.pids[session.0].take() {
            self.lost.push((session, pid));
        }
    }

    /// Notes that the backend of a lost connection has ended.
    pub(crate) fn forget(&mut self, backend: Backend) {
        self.lost
            .retain(|(session, pid)| Backend::Lost(*session, *pid) != backend);
    }

    /// The backends that lost connections have left behind.
    pub(crate) fn lost(&self) -> impl Iterator<Item = Backend> {
        self.lost
            .iter()
            .map(|(session, pid)| Backend::Lost(*session, *pid))
    }

    /// The process id of a session's backend.
    pub(crate) fn pid(&self, session: SessionIndex) -> Option<i32> {
        self.pids[session.0]
    }

    /// The process id of a backend.
    pub(crate) fn pid_of(&self, backend: Backend) -> Option<i32> {
        match backend {
            Backend::Of(session) => self.pid(session),
            Backend::Lost(_, pid) => Some(pid),
        }
    }

    /// The backend that has a process id.
    pub(crate) fn backend(&self, pid: i32) -> Option<Backend> {
        let serving = self.pids.iter().position(|entry| *entry == Some(pid));
        serving
            .map(|at| Backend::Of(SessionIndex(at)))
            .or_else(|| self.lost().find(|lost| self.pid_of(*lost) == Some(pid)))
    }

    /// What a process id stands for among the blockers that the server names; it names 0 for a
    /// prepared transaction.
    pub(crate) fn blocker(&self, pid: i32) -> SeenBlocker {
        match self.backend(pid) {
            Some(backend) => SeenBlocker::Backend(backend),
            None if pid == 0 => SeenBlocker::PreparedTransaction,
            None => SeenBlocker::Stranger(pid),
        }
    }
}
