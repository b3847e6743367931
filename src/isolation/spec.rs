//! What a spec says.

use crate::scenario::{SourceFile, Spanned};
use crate::schedule::{Schedules, StepPlace};

/// A spec that has been read and holds no mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The file.
    pub source: SourceFile,
    /// SQL that the control connection runs before each schedule, each block as one message.
    pub setups: Vec<Spanned<String>>,
    /// SQL that the control connection runs after each schedule.
    pub teardown: Option<Spanned<String>>,
    /// The sessions.
    pub sessions: Vec<SpecSession>,
    /// The schedules: those listed, or all interleavings.
    pub schedules: Schedules,
    /// Steps that no listed schedule uses, in the order of their names.
    pub unused: Vec<Spanned<String>>,
}

/// A session of a [`Spec`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecSession {
    /// Its name.
    pub name: Spanned<String>,
    /// SQL that it runs before each schedule.
    pub setup: Option<Spanned<String>>,
    /// Its steps.
    pub steps: Vec<SpecStep>,
    /// SQL that it runs after each schedule.
    pub teardown: Option<Spanned<String>>,
}

/// A step of a [`SpecSession`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecStep {
    /// Its name; no other step of the spec has it.
    pub name: Spanned<String>,
    /// What it sends, as one message; it may be empty.
    pub sql: Spanned<String>,
}

impl Spec {
    /// The name that isolationtester's environment gives to a spec: that of its file.
    #[must_use]
    pub fn name(&self) -> String {
        let stem = self.source.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// The step at a place.
    #[must_use]
    pub fn step(&self, at: StepPlace) -> &SpecStep {
        &self.sessions[at.session].steps[at.step]
    }

    /// All SQL there is, in the order of the file.
    pub fn all_sql(&self) -> impl Iterator<Item = &Spanned<String>> {
        let sessions = self.sessions.iter().flat_map(|session| {
            let steps = session.steps.iter().map(|step| &step.sql);
            session.setup.iter().chain(steps).chain(&session.teardown)
        });
        self.setups.iter().chain(&self.teardown).chain(sessions)
    }
}
