//! The store of accepted transcripts: compare, propose, accept, sweep.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::{SnapshotError, SnapshotErrorKind};
use super::format::Snapshot;
use super::header::Header;
use super::layout::{ACCEPTED, Layout, SNAPSHOTS, file_name, pending_of, relative, resolve};
use super::variant::Majors;
use super::walk;
use crate::server::Release;

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
    /// The release it ran on.
    pub release: Release,
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

/// A pending snapshot that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The accepted file.
    pub path: PathBuf,
    /// Whether there was none before.
    pub is_new: bool,
}

/// The store of accepted transcripts. See [`Layout`] for where they stand.
///
/// ```
/// use std::path::Path;
/// use lockstep::server::Release;
/// use lockstep::snapshot::{Comparison, Mode, SnapshotKey, Store};
///
/// let project = tempfile::tempdir()?;
/// let scenario = Path::new("scenarios/two-workers.yaml");
/// let store = Store::new(project.path(), Mode::Propose);
/// let key = SnapshotKey { scenario, case: "default", release: Release { major: 18, minor: 6 } };
///
/// assert_eq!(store.compare(key, "COMMIT\n")?, Comparison::Missing);
/// store.propose(key, "COMMIT\n", &[])?;
/// store.accept(&[scenario])?;
/// assert_eq!(store.compare(key, "COMMIT\n")?, Comparison::Same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
    mode: Mode,
}

impl Store {
    /// A store that takes relative paths as from `directory`, which should be the absolute path of
    /// the current directory: only then are the snapshots found also from inside `scenarios/`.
    /// Paths it gives back are as from `directory`, unless they lie far from it.
    #[must_use]
    pub fn new(directory: &Path, mode: Mode) -> Self {
        Self {
            directory: resolve(directory),
            mode,
        }
    }

    /// The layout of a scenario's snapshots.
    #[must_use]
    pub fn layout(&self, scenario: &Path) -> Layout {
        Layout::of(&self.directory.join(scenario))
    }

    /// Compares an observed text with the snapshot that holds for the release: a variant that names
    /// its major version, or else the base.
    ///
    /// # Errors
    ///
    /// When the snapshot cannot be read, or two variants hold for the release.
    pub fn compare(&self, key: SnapshotKey<'_>, text: &str) -> Result<Comparison, SnapshotError> {
        let path = self.accepted_path(key)?;
        Ok(match self.read(&path)? {
            None => Comparison::Missing,
            Some(snapshot) if snapshot.text == text => Comparison::Same,
            Some(snapshot) => Comparison::Differs {
                accepted: snapshot.text,
            },
        })
    }

    /// Writes a pending snapshot beside the accepted one and returns its path; `None` in
    /// [`Mode::ReadOnly`]. `redacted` lists what was replaced in the text. The file is whole or not
    /// there: a failure leaves an earlier one as it was.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be written.
    pub fn propose(
        &self,
        key: SnapshotKey<'_>,
        text: &str,
        redacted: &[String],
    ) -> Result<Option<PathBuf>, SnapshotError> {
        if self.mode == Mode::ReadOnly {
            return Ok(None);
        }
        let layout = self.layout(key.scenario);
        let path = pending_of(&self.accepted_path(key)?);
        let snapshot = Snapshot {
            header: Header {
                source: layout.source,
                scenario: layout.name,
                case: key.case.to_owned(),
                releases: vec![key.release.to_string()],
                redacted: redacted.to_vec(),
            },
            text: text.to_owned(),
        };
        write_whole(&path, snapshot.to_file().as_bytes())
            .map_err(|source| self.error(&path, SnapshotErrorKind::Write(source)))?;
        Ok(Some(self.shown(&path)))
    }

    /// The path of a case's pending snapshot, whether there is one or not.
    ///
    /// # Errors
    ///
    /// When two variants hold for the release.
    pub fn pending(&self, key: SnapshotKey<'_>) -> Result<PathBuf, SnapshotError> {
        Ok(self.shown(&pending_of(&self.accepted_path(key)?)))
    }

    /// Removes the pending snapshot of a case that passes (again), and says whether there was one.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn withdraw(&self, key: SnapshotKey<'_>) -> Result<bool, SnapshotError> {
        if self.mode == Mode::ReadOnly {
            return Ok(false);
        }
        let path = pending_of(&self.accepted_path(key)?);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(self.error(&path, SnapshotErrorKind::Remove(source))),
        }
    }

    /// Accepts the pending snapshots of these scenarios, and says which. The mode does not matter:
    /// accepting is always asked for.
    ///
    /// # Errors
    ///
    /// When a folder cannot be listed, a pending file is corrupt (it is not accepted), or an
    /// accepted one cannot be written; those accepted before stay accepted.
    pub fn accept(&self, scenarios: &[&Path]) -> Result<Vec<Accepted>, SnapshotError> {
        let mut accepted = Vec::new();
        for scenario in scenarios {
            for file in self.list(&self.layout(scenario).folder)? {
                self.accept_file(&file, &mut accepted)?;
            }
        }
        Ok(accepted)
    }

    /// Accepts every pending snapshot in a folder and below it, also of scenarios that are no more.
    /// Pending snapshots of Rust tests, which insta writes, are left alone.
    ///
    /// # Errors
    ///
    /// As [`Store::accept`].
    pub fn accept_under(&self, root: &Path) -> Result<Vec<Accepted>, SnapshotError> {
        let mut accepted = Vec::new();
        for file in self.ours_under(root)? {
            self.accept_file(&file, &mut accepted)?;
        }
        Ok(accepted)
    }

    /// The snapshots, accepted and pending, in these folders and below them that belong to none of
    /// the `used` cases (a scenario's path and the name of a case). Name the folder of a project, or
    /// of one scenario's snapshots ([`Layout::folder`]), only when all its cases are in `used`.
    ///
    /// # Errors
    ///
    /// When a folder or a snapshot cannot be read.
    pub fn unused(
        &self,
        roots: &[&Path],
        used: &[(&Path, &str)],
    ) -> Result<Vec<PathBuf>, SnapshotError> {
        let used: std::collections::HashSet<(PathBuf, String)> = used
            .iter()
            .map(|(scenario, case)| (self.layout(scenario).folder, file_name(case)))
            .collect();
        let mut unused = Vec::new();
        for root in roots {
            for file in self.ours_under(root)? {
                let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
                let belongs = walk::stem(&file)
                    .map(|stem| stem.split('@').next().unwrap_or(stem).to_owned())
                    .is_some_and(|case| used.contains(&(folder, case)));
                if !belongs {
                    unused.push(self.shown(&file));
                }
            }
        }
        unused.sort();
        unused.dedup();
        Ok(unused)
    }

    /// Removes files that [`Store::unused`] named, and the folders that are empty then, up to but
    /// without `snapshots`.
    ///
    /// # Errors
    ///
    /// When a file cannot be removed.
    pub fn remove(&self, paths: &[PathBuf]) -> Result<(), SnapshotError> {
        for path in paths {
            let path = resolve(&self.directory.join(path));
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

    /// The accepted file that holds for a release: the variant, or else the base, there or not.
    fn accepted_path(&self, key: SnapshotKey<'_>) -> Result<PathBuf, SnapshotError> {
        let layout = self.layout(key.scenario);
        let prefix = format!("{}@", file_name(key.case));
        let mut found: Option<PathBuf> = None;
        for file in self.list(&layout.folder)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let Some(spec) = name
                .strip_prefix(&prefix)
                .and_then(|rest| rest.strip_suffix(ACCEPTED))
            else {
                continue;
            };
            let Some(majors) = Majors::parse(spec) else {
                let spec = spec.to_owned();
                return Err(self.error(&file, SnapshotErrorKind::Variant { spec }));
            };
            if !majors.contains(key.release.major) {
                continue;
            }
            if let Some(other) = found {
                return Err(self.error(
                    &other,
                    SnapshotErrorKind::Overlap {
                        other: self.shown(&file),
                        major: key.release.major,
                    },
                ));
            }
            found = Some(file);
        }
        Ok(found.unwrap_or_else(|| layout.base(key.case)))
    }

    /// Makes a pending snapshot the accepted one; any other file is left alone.
    fn accept_file(&self, file: &Path, done: &mut Vec<Accepted>) -> Result<(), SnapshotError> {
        let Some(target) = walk::accepted_of(file) else {
            return Ok(());
        };
        match self.read(file)? {
            Some(snapshot) if snapshot.header.is_ours() => {}
            // Somebody else's, or gone in the meantime.
            _ => return Ok(()),
        }
        let is_new = !target.exists();
        fs::rename(file, &target)
            .map_err(|source| self.error(&target, SnapshotErrorKind::Write(source)))?;
        done.push(Accepted {
            path: self.shown(&target),
            is_new,
        });
        Ok(())
    }

    /// Reads a snapshot; `None` if there is none.
    fn read(&self, path: &Path) -> Result<Option<Snapshot>, SnapshotError> {
        match fs::read(path) {
            Ok(bytes) => Snapshot::from_file(&self.shown(path), &bytes).map(Some),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.error(path, SnapshotErrorKind::Read(source))),
        }
    }

    /// The files of a folder, in order of name; none if there is no such folder.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
        walk::files(folder).map_err(|source| self.error(folder, SnapshotErrorKind::Read(source)))
    }

    /// Lockstep's snapshots in a folder and below it, accepted and pending, in order.
    fn ours_under(&self, root: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
        let root = resolve(&self.directory.join(root));
        let files = walk::snapshots_under(&root)
            .map_err(|(path, source)| self.error(&path, SnapshotErrorKind::Read(source)))?;
        let mut ours = Vec::new();
        for file in files {
            match self.read(&file) {
                Ok(Some(snapshot)) if snapshot.header.is_ours() => ours.push(file),
                Ok(_) => {}
                // What has no header of this form is a snapshot of some other program.
                Err(error) if matches!(error.kind, SnapshotErrorKind::NoHeader) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ours)
    }

    /// The path as it is shown.
    fn shown(&self, path: &Path) -> PathBuf {
        relative(path, &self.directory).unwrap_or_else(|| path.to_path_buf())
    }

    fn error(&self, path: &Path, kind: SnapshotErrorKind) -> SnapshotError {
        SnapshotError {
            path: self.shown(path),
            kind,
        }
    }
}

/// Writes a file so that it is there whole or not at all: into a temporary file of the same folder,
/// which then takes the name.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lockstep-").suffix(".tmp");
    #[cfg(unix)]
    {
        // What any new file gets; the user's mask is taken off it.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
