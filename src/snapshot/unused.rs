//! Snapshots that nothing needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::error::{SnapshotError, SnapshotErrorKind};
use super::files::CaseFiles;
use super::layout::{SNAPSHOTS, file_name};
use super::outcomes::own_stem;
use super::plan::{Knowledge, Shelf};
use super::store::Store;
use super::walk;

/// A case that has snapshots.
#[derive(Clone, Copy)]
pub struct UsedCase<'a> {
    /// The path of the scenario.
    pub scenario: &'a Path,
    /// The name of the case.
    pub case: &'a str,
    /// Of each step that may end in several ways how many outcomes are allowed.
    pub outcomes: &'a [usize],
    /// Whether it is meaningful on some release of a major version.
    pub runs_on: &'a dyn Fn(u32) -> bool,
}

/// A snapshot that nothing needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unused {
    /// Its file.
    pub path: PathBuf,
    /// Why nothing needs it.
    pub why: WhyUnused,
}

/// Why nothing needs a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyUnused {
    /// There is no such case.
    NoCase,
    /// It is a variant for releases on which the scenario is not meaningful.
    NoRelease,
    /// It is a variant that says what would hold without it.
    Redundant,
}

impl Store {
    /// The snapshots, accepted and pending, in these folders and below them that nothing needs:
    /// those of other cases than the `used` ones, and variants without which the same would hold.
    /// Name the folder of a project, or of one scenario's snapshots ([`super::Layout::folder`]),
    /// only when all its cases are in `used`.
    ///
    /// # Errors
    ///
    /// When a folder or a snapshot cannot be read.
    pub fn unused(
        &self,
        roots: &[&Path],
        used: &[UsedCase<'_>],
    ) -> Result<Vec<Unused>, SnapshotError> {
        let used: BTreeMap<(PathBuf, String), &UsedCase<'_>> = used
            .iter()
            .map(|one| {
                let place = (self.layout(one.scenario).folder, file_name(one.case));
                (place, one)
            })
            .collect();
        let mut unused = BTreeSet::new();
        let mut with_variants = BTreeMap::new();
        for root in roots {
            for file in self.ours_under(root)? {
                let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
                let stem = walk::case_stem(&file).unwrap_or_default().to_owned();
                let place = (folder, stem);
                let Some(case) = case_of(&used, &place) else {
                    unused.insert((file, WhyUnused::NoCase));
                    continue;
                };
                if walk::stem(&file).is_some_and(|stem| stem.contains('@')) {
                    with_variants.insert(place, case);
                }
            }
        }
        for ((folder, stem), case) in with_variants {
            unused.extend(self.unused_variants(&folder, stem, case)?);
        }
        Ok(unused
            .into_iter()
            .map(|(path, why)| Unused {
                path: self.shown(&path),
                why,
            })
            .collect())
    }

    fn unused_variants(
        &self,
        folder: &Path,
        stem: String,
        case: &UsedCase<'_>,
    ) -> Result<Vec<(PathBuf, WhyUnused)>, SnapshotError> {
        let files = CaseFiles::find(self.directory(), folder, stem)?;
        let mut shelf: Shelf = files.read_accepted(&Knowledge::new())?;
        let mut unused = Vec::new();
        shelf.variants.retain(|variant| {
            let is_meant = variant.majors.iter().any(case.runs_on);
            if !is_meant {
                unused.push((variant.path.clone(), WhyUnused::NoRelease));
            }
            is_meant
        });
        let redundant = shelf.redundant().into_iter();
        unused.extend(redundant.map(|path| (path, WhyUnused::Redundant)));
        Ok(unused)
    }

    /// Removes files that [`Store::unused`] named, and the folders that are empty then, up to but
    /// without `snapshots`.
    ///
    /// # Errors
    ///
    /// When a file cannot be removed.
    pub fn remove(&self, unused: &[Unused]) -> Result<(), SnapshotError> {
        for Unused { path, .. } in unused {
            let path = self.resolve(path);
            fs::remove_file(&path)
                .map_err(|source| self.error(&path, SnapshotErrorKind::Remove(source)))?;
            let mut folder = path.parent();
            while let Some(empty) = folder.filter(|folder| !folder.ends_with(SNAPSHOTS)) {
                // A folder that is not empty stays.
                if fs::remove_dir(empty).is_err() {
                    break;
                }
                folder = empty.parent();
            }
        }
        Ok(())
    }
}

/// The case that files of a folder belong to, by the first part of their names: to one that had the
/// first outcomes, or others that are allowed.
fn case_of<'u, 'a>(
    used: &BTreeMap<(PathBuf, String), &'u UsedCase<'a>>,
    place: &(PathBuf, String),
) -> Option<&'u UsedCase<'a>> {
    used.get(place).copied().or_else(|| {
        let (folder, stem) = place;
        let in_folder = used.iter().filter(|((of, _), _)| of == folder);
        let mut owners = in_folder
            .filter(|((_, own), case)| own_stem(stem, case.outcomes) == Some(own.as_str()));
        owners.next().map(|(_, case)| *case)
    })
}
