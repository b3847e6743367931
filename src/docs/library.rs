//! What generated parts are made of: scenarios, and what is accepted of them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::scenario::Scenario;
use crate::server::Release;

/// The scenarios that directives name.
#[derive(Debug, Clone)]
pub struct Library {
    /// The folder that relative paths are taken from.
    pub(super) directory: PathBuf,
    named: HashMap<String, Result<Vec<Entry>, String>>,
}

/// A scenario file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// Its cases, at least one.
    pub cases: Vec<Case>,
}

/// A case, and what is accepted of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The scenario with the values of the case.
    pub scenario: Scenario,
    /// The accepted texts, each by the releases it holds for, out of those that are pinned and on
    /// which the scenario is meaningful. The first are those of the case itself; the others have
    /// other outcomes than the first ones.
    pub texts: Vec<BTreeMap<Release, String>>,
}

impl Library {
    /// A library without scenarios, for files whose relative paths are as from this folder.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
            named: HashMap::new(),
        }
    }

    /// Takes up the scenarios of a path as a directive names it, or why there are none.
    pub fn add(&mut self, path: &str, found: Result<Vec<Entry>, String>) {
        self.named.insert(path.to_owned(), found);
    }

    /// Whether a path was taken up.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.named.contains_key(path)
    }

    /// The scenarios of a path, or why there are none.
    pub(super) fn entries(&self, path: &str) -> Result<&[Entry], &str> {
        match self.named.get(path) {
            Some(Ok(entries)) => Ok(entries),
            Some(Err(why)) => Err(why),
            None => Err("nobody has looked for it"),
        }
    }
}

impl Entry {
    /// What all the cases have in common.
    pub(super) fn scenario(&self) -> &Scenario {
        &self.cases[0].scenario
    }
}

impl Case {
    /// The releases of which something is accepted, oldest first.
    pub(super) fn releases(&self) -> impl Iterator<Item = Release> {
        self.texts
            .first()
            .into_iter()
            .flatten()
            .map(|(release, _)| *release)
    }

    /// The newest release of which something is accepted, and what that is.
    pub(super) fn newest(&self) -> Option<(Release, &str)> {
        let (release, text) = self.texts.first()?.last_key_value()?;
        Some((*release, text))
    }
}
