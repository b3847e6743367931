//! Where specs are played: a database, and connections to it.

use super::play::{Connections, Played};
use super::spec::Spec;
use crate::scenario::leaves_no_trace;
use crate::server::CaseDatabase;

/// After how many schedules a database is given up: the catalogs swell, and each set-up costs more.
const WORN_AFTER: usize = 100;

/// A database, and connections to it.
#[derive(Debug)]
pub(super) struct Stage {
    pub database: CaseDatabase,
    pub connections: Connections,
    /// How many schedules have been played here.
    played: usize,
}

impl Stage {
    pub(super) fn new(database: CaseDatabase) -> Self {
        Self {
            database,
            connections: Connections::default(),
            played: 0,
        }
    }

    /// Whether a spec can be played where another one was, and another one where it was, as far as
    /// its text tells. What its tear-downs forget is found by [`Stage::clear`].
    pub(super) fn suits(spec: &Spec) -> bool {
        spec.all_sql().all(|sql| leaves_no_trace(&sql.value))
    }

    /// Whether the connections still stand; they have the names of a spec's sessions then.
    pub(super) async fn is_ready_for(&mut self, spec: &Spec) -> bool {
        self.connections.rename(spec).await
    }

    /// Makes it as new after a spec that it suits; whether that is possible and worth it.
    pub(super) async fn clear(&mut self, after: &Played) -> bool {
        self.played += after.figures.schedules;
        after.trouble.is_none() && self.played < WORN_AFTER && self.connections.clear().await
    }
}
