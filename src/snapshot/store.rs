//! The store of accepted transcripts: compare, propose, accept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::{SnapshotError, SnapshotErrorKind};
use super::files::{CaseFiles, read, shown};
use super::format::Snapshot;
use super::header::Header;
use super::layout::{Layout, resolve};
use super::outcomes;
use super::plan::{Knowledge, Known, Shelf};
use super::walk;
use crate::server::{Pins, Release};

/// Whether the store may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Pending snapshots are written beside the accepted ones.
    Propose,
    /// Nothing is written or removed while cases run: for CI.
    ReadOnly,
}

/// Which snapshot is meant.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotKey<'a> {
    /// The path of the scenario.
    pub scenario: &'a Path,
    /// The name of the case.
    pub case: &'a str,
    /// Of each step that may end in several ways the number, counted from 1, of the outcome that
    /// came.
    pub outcomes: &'a [usize],
    /// The release it ran on.
    pub release: Release,
}

impl SnapshotKey<'_> {
    /// Whether each outcome was the first of those that are allowed.
    #[must_use]
    pub fn is_of_first_outcomes(&self) -> bool {
        outcomes::are_first(self.outcomes)
    }
}

/// How an observed text compares with the accepted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same to the byte.
    Same,
    /// They differ.
    Differs {
        /// The accepted text.
        accepted: String,
    },
    /// There is no accepted text.
    Missing,
}

/// What a release gave.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The release.
    pub release: Release,
    /// The text.
    pub text: &'a str,
    /// What was replaced in it.
    pub redacted: &'a [String],
}

/// A file that accepting has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The accepted file.
    pub path: PathBuf,
    /// How it has changed.
    pub change: Change,
}

/// How an accepted file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// There was none before.
    New,
    /// It has another text.
    Text,
    /// It has the text it had, and holds for other releases.
    Releases,
    /// It stood under another name, for other releases.
    Renamed {
        /// The old path.
        from: PathBuf,
    },
    /// It is gone: its releases behave as another file says.
    Removed,
}

/// The store of accepted transcripts. See [`Layout`] for where they stand.
///
/// ```
/// use std::path::Path;
/// use lockstep::server::Release;
/// use lockstep::snapshot::{Comparison, Mode, Observed, SnapshotKey, Store};
///
/// let project = tempfile::tempdir()?;
/// let scenario = Path::new("scenarios/two-workers.yaml");
/// let store = Store::new(project.path(), Mode::Propose);
/// let release = Release { major: 18, minor: 6 };
/// let key = SnapshotKey { scenario, case: "default", outcomes: &[], release };
///
/// assert_eq!(store.compare(key, "COMMIT\n")?, Comparison::Missing);
/// let seen = Observed { release, text: "COMMIT\n", redacted: &[] };
/// store.propose(scenario, "default", &[], &[seen])?;
/// store.accept(&[scenario])?;
/// assert_eq!(store.compare(key, "COMMIT\n")?, Comparison::Same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
    mode: Mode,
    default: u32,
}

impl Store {
    /// A store that takes relative paths as from `directory`, which should be the absolute path of
    /// the current directory: only then are the snapshots found also from inside `scenarios/`.
    /// Paths it gives back are as from `directory`, unless they lie far from it.
    #[must_use]
    pub fn new(directory: &Path, mode: Mode) -> Self {
        let newest = Pins::built_in().iter().map(|pin| pin.release.major).max();
        Self {
            directory: resolve(directory),
            mode,
            default: newest.unwrap_or(u32::MAX),
        }
    }

    /// The same with another default release, by its major version. The base of a case is what this
    /// one does; without a word the newest that Lockstep pins is meant.
    #[must_use]
    pub fn with_default(self, major: u32) -> Self {
        Self {
            default: major,
            ..self
        }
    }

    /// The layout of a scenario's snapshots.
    #[must_use]
    pub fn layout(&self, scenario: &Path) -> Layout {
        Layout::of(&self.directory.join(scenario))
    }

    /// Compares an observed text with the snapshot that holds for the release: the variant that
    /// names its major version (of several, the one that names the fewest), or else the base.
    ///
    /// # Errors
    ///
    /// When the snapshot cannot be read, or two variants hold for the release.
    pub fn compare(&self, key: SnapshotKey<'_>, text: &str) -> Result<Comparison, SnapshotError> {
        let major = key.release.major;
        let shelf = self
            .case(key.scenario, key.case, key.outcomes)?
            .read_for(major)?;
        Ok(match shelf.text_of(major) {
            None => Comparison::Missing,
            Some(accepted) if accepted == text => Comparison::Same,
            Some(accepted) => Comparison::Differs {
                accepted: accepted.to_owned(),
            },
        })
    }

    /// Makes the pending files of a case that had these outcomes fit what releases gave, and returns their paths. What is
    /// pending for releases that were not observed stays; what is for those that were, and now
    /// behave as accepted, goes. Nothing happens in [`Mode::ReadOnly`].
    ///
    /// There is a pending file for each text that is not accepted yet, beside the file that it is
    /// for. Each is whole or not there: a failure leaves an earlier one as it was.
    ///
    /// # Errors
    ///
    /// When an accepted file cannot be read, or the folder or a file cannot be written.
    pub fn propose(
        &self,
        scenario: &Path,
        case: &str,
        outcomes: &[usize],
        observed: &[Observed<'_>],
    ) -> Result<Vec<PathBuf>, SnapshotError> {
        if self.mode == Mode::ReadOnly {
            return Ok(Vec::new());
        }
        let files = self.case(scenario, case, outcomes)?;
        let mut seen = files.read_pending_as_far_as_possible();
        seen.extend(known(observed));
        let proposals = files.read_accepted(&seen)?.proposals(&seen, self.default);
        let of = self.header(scenario, case, outcomes);
        let written = files.replace_pending(&proposals, &of)?;
        Ok(written.iter().map(|path| self.shown(path)).collect())
    }

    /// Has the headers of the accepted snapshots of a case that had these outcomes list releases
    /// that were seen to behave as they say. Releases that behave otherwise are passed over: what
    /// they gave is to be proposed and accepted.
    ///
    /// # Errors
    ///
    /// When an accepted file cannot be read or written.
    pub fn confirm(
        &self,
        scenario: &Path,
        case: &str,
        outcomes: &[usize],
        observed: &[Observed<'_>],
    ) -> Result<Vec<Accepted>, SnapshotError> {
        let files = self.case(scenario, case, outcomes)?;
        let mut seen = known(observed);
        let shelf = files.read_accepted(&seen)?;
        seen.retain(|major, known| shelf.text_of(*major) == Some(&known.text));
        let mut confirmed = Vec::new();
        if !seen.is_empty() {
            let of = self.header(scenario, case, outcomes);
            self.take(&files, &shelf, &seen, &of, &mut confirmed)?;
        }
        Ok(confirmed)
    }

    fn header(&self, scenario: &Path, case: &str, outcomes: &[usize]) -> Header {
        let layout = self.layout(scenario);
        Header {
            source: layout.source,
            scenario: layout.name,
            case: case.to_owned() + &outcomes::suffix(outcomes),
            ..Header::default()
        }
    }

    /// Accepts the pending snapshots of these scenarios, and says what has changed. Variants are
    /// split, joined and removed so that a file stands only where behaviour differs. The mode does
    /// not matter: accepting is always asked for.
    ///
    /// # Errors
    ///
    /// When a folder cannot be listed, a pending file is corrupt (nothing of its case is accepted),
    /// or an accepted one cannot be written; those accepted before stay accepted.
    pub fn accept(&self, scenarios: &[&Path]) -> Result<Vec<Accepted>, SnapshotError> {
        let mut pending = Vec::new();
        for scenario in scenarios {
            let folder = self.layout(scenario).folder;
            let files = walk::files(&folder)
                .map_err(|source| self.error(&folder, SnapshotErrorKind::Read(source)))?;
            pending.extend(files);
        }
        self.accept_files(&pending)
    }

    /// Accepts every pending snapshot in a folder and below it, also of scenarios that are no more.
    /// Pending snapshots of Rust tests, which insta writes, are left alone.
    ///
    /// # Errors
    ///
    /// As [`Store::accept`].
    pub fn accept_under(&self, root: &Path) -> Result<Vec<Accepted>, SnapshotError> {
        self.accept_files(&self.ours_under(root)?)
    }

    /// Accepts the pending ones among these files.
    fn accept_files(&self, files: &[PathBuf]) -> Result<Vec<Accepted>, SnapshotError> {
        let cases: BTreeSet<(&Path, String)> = files
            .iter()
            .filter(|file| walk::is_pending(file))
            .filter_map(|file| Some((file.parent()?, walk::case_stem(file)?.to_owned())))
            .collect();
        let mut accepted = Vec::new();
        for (folder, stem) in cases {
            let files = CaseFiles::find(&self.directory, folder, stem)?;
            self.accept_case(&files, &mut accepted)?;
        }
        Ok(accepted)
    }

    fn accept_case(
        &self,
        files: &CaseFiles<'_>,
        done: &mut Vec<Accepted>,
    ) -> Result<(), SnapshotError> {
        let (seen, Some(of)) = files.read_pending()? else {
            return Ok(());
        };
        let shelf = files.read_accepted(&seen)?;
        self.take(files, &shelf, &seen, &of, done)?;
        for path in &files.pending {
            files.remove_ours(path)?;
        }
        Ok(())
    }

    /// Makes the accepted files of a case say what was seen.
    fn take(
        &self,
        files: &CaseFiles<'_>,
        shelf: &Shelf,
        seen: &Knowledge,
        of: &Header,
        done: &mut Vec<Accepted>,
    ) -> Result<(), SnapshotError> {
        let mut before = files.texts(shelf);
        let mut changes = Vec::new();
        for planned in &shelf.plan(seen, self.default) {
            let path = files.accepted(planned.majors.as_ref());
            let old = before.remove(&path);
            let new = match &old {
                // A base of which nothing is known.
                Some(old) if planned.known.is_empty() => old.clone(),
                _ => planned.snapshot(of),
            };
            if old.as_ref() == Some(&new) {
                continue;
            }
            files.write(&path, &new)?;
            match old {
                None => changes.push((path, new, Change::New)),
                Some(old) if old.text != new.text => changes.push((path, new, Change::Text)),
                Some(_) => changes.push((path, new, Change::Releases)),
            }
        }
        for (path, old) in before {
            files.remove(&path)?;
            let new_place = changes
                .iter_mut()
                .find(|(_, new, change)| *change == Change::New && new.text == old.text);
            match new_place {
                Some((_, _, change)) => {
                    *change = Change::Renamed {
                        from: self.shown(&path),
                    };
                }
                None => changes.push((path, old, Change::Removed)),
            }
        }
        done.extend(changes.into_iter().map(|(path, _, change)| Accepted {
            path: self.shown(&path),
            change,
        }));
        Ok(())
    }

    fn case(
        &self,
        scenario: &Path,
        case: &str,
        outcomes: &[usize],
    ) -> Result<CaseFiles<'_>, SnapshotError> {
        let folder = self.layout(scenario).folder;
        CaseFiles::find(&self.directory, &folder, outcomes::stem(case, outcomes))
    }

    /// Lockstep's snapshots in a folder and below it, accepted and pending, in order.
    pub(super) fn ours_under(&self, root: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
        let root = self.resolve(root);
        let files = walk::snapshots_under(&root)
            .map_err(|(path, source)| self.error(&path, SnapshotErrorKind::Read(source)))?;
        let mut ours = Vec::new();
        for file in files {
            match read(&self.directory, &file) {
                Ok(Some(Snapshot { header, .. })) if header.is_ours() => ours.push(file),
                Ok(_) => {}
                // What has no header of this form is a snapshot of some other program.
                Err(error) if matches!(error.kind, SnapshotErrorKind::NoHeader) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ours)
    }

    /// The folder that relative paths are taken from.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path as the system takes it.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        resolve(&self.directory.join(path))
    }

    /// The path as it is shown.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        shown(&self.directory, path)
    }

    pub(super) fn error(&self, path: &Path, kind: SnapshotErrorKind) -> SnapshotError {
        SnapshotError {
            path: self.shown(path),
            kind,
        }
    }
}

/// What was observed, by major; of several minors of a major the newest stands for it.
fn known(observed: &[Observed<'_>]) -> Knowledge {
    let mut observed = observed.to_vec();
    observed.sort_by_key(|one| one.release);
    let known = observed.into_iter().map(|one| {
        let known = Known {
            release: Some(one.release),
            text: one.text.to_owned(),
            redacted: one.redacted.to_vec(),
        };
        (one.release.major, known)
    });
    known.collect()
}
