//! What is accepted of a case, release by release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::{SnapshotError, SnapshotErrorKind};
use super::files::CaseFiles;
use super::layout::file_name;
use super::outcomes::own_stem;
use super::store::Store;
use super::walk;
use crate::server::Release;

impl Store {
    /// The accepted texts of a case on some releases, each by the releases it holds for. The first
    /// are those of the first outcomes; behind them are those of other outcomes that are `allowed`
    /// (of each step that may end in several ways how many), as far as there are snapshots.
    ///
    /// # Errors
    ///
    /// When the folder or a snapshot cannot be read, or two variants hold for one release.
    pub fn texts(
        &self,
        scenario: &Path,
        case: &str,
        allowed: &[usize],
        releases: &[Release],
    ) -> Result<Vec<BTreeMap<Release, String>>, SnapshotError> {
        let folder = self.layout(scenario).folder;
        let files = walk::files(&folder)
            .map_err(|source| self.error(&folder, SnapshotErrorKind::Read(source)))?;
        let own = file_name(case);
        let stems = files.iter().filter_map(|file| walk::case_stem(file));
        let others: BTreeSet<&str> = stems
            .filter(|stem| own_stem(stem, allowed) == Some(&own))
            .collect();
        let mut all = Vec::new();
        for stem in [own.as_str()].into_iter().chain(others) {
            let files = CaseFiles::find(self.directory(), &folder, stem.to_owned())?;
            let mut texts = BTreeMap::new();
            for release in releases {
                let shelf = files.read_for(release.major)?;
                let text = shelf.text_of(release.major).map(str::to_owned);
                texts.extend(text.map(|text| (*release, text)));
            }
            all.push(texts);
        }
        Ok(all)
    }
}
