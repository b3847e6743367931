//! What happens in a run, for those who show it.

use std::sync::Arc;

use super::outcome::CaseResult;
use crate::scenario::Scenario;
use crate::server::Release;

/// Which case.
#[derive(Debug, Clone)]
pub struct CaseId {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The case's name within the scenario.
    pub case: String,
    /// The release it runs on.
    pub release: Release,
}

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// So many replays are to come, each run of a repeated case counted.
    Planned(usize),
    /// A replay begins.
    Started(CaseId),
    /// A replay is over and judged.
    Finished(Box<CaseResult>),
}
