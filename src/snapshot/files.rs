//! The snapshot files of one case on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::{SnapshotError, SnapshotErrorKind};
use super::format::Snapshot;
use super::header::Header;
use super::layout::{ACCEPTED, PENDING, relative};
use super::plan::{Knowledge, Known, Planned, Shelf, Variant};
use super::variant::Majors;
use super::walk;

/// The files of one case, and the folder from which their paths are shown.
#[derive(Debug)]
pub(super) struct CaseFiles<'a> {
    directory: &'a Path,
    /// Their folder.
    folder: PathBuf,
    /// The part of their names before the extension, and before the `@`.
    stem: String,
    /// The accepted variants, in order of name.
    variants: Vec<(Majors, PathBuf)>,
    /// The pending files, in order of name.
    pub pending: Vec<PathBuf>,
}

impl<'a> CaseFiles<'a> {
    /// Looks for the files of a case, by the first part of their names. Their contents are not read.
    pub(super) fn find(
        directory: &'a Path,
        folder: &Path,
        stem: String,
    ) -> Result<Self, SnapshotError> {
        let mut files = Self {
            directory,
            folder: folder.to_path_buf(),
            stem,
            variants: Vec::new(),
            pending: Vec::new(),
        };
        let listed = walk::files(folder)
            .map_err(|source| files.error(folder, SnapshotErrorKind::Read(source)))?;
        for path in listed {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(rest) = name.strip_prefix(&files.stem) else {
                continue;
            };
            if !rest.starts_with(['@', '.']) {
                // A case whose name only begins alike.
                continue;
            }
            if rest.ends_with(PENDING) && (rest.starts_with('@') || rest == PENDING) {
                files.pending.push(path);
            } else if let Some(spec) = rest
                .strip_prefix('@')
                .and_then(|rest| rest.strip_suffix(ACCEPTED))
            {
                let Some(majors) = Majors::parse(spec) else {
                    let spec = spec.to_owned();
                    return Err(files.error(&path, SnapshotErrorKind::Variant { spec }));
                };
                files.variants.push((majors, path));
            }
        }
        Ok(files)
    }

    /// The accepted file for some majors, or the base.
    pub(super) fn accepted(&self, majors: Option<&Majors>) -> PathBuf {
        let name = match majors {
            None => format!("{}{ACCEPTED}", self.stem),
            Some(majors) => format!("{}@{majors}{ACCEPTED}", self.stem),
        };
        self.folder.join(name)
    }

    /// The pending file for some majors, or the base.
    pub(super) fn pending_for(&self, majors: Option<&Majors>) -> PathBuf {
        let mut path = self.accepted(majors).into_os_string();
        path.push(".new");
        PathBuf::from(path)
    }

    /// Reads what is accepted for a major, and nothing else.
    pub(super) fn read_for(&self, major: u32) -> Result<Shelf, SnapshotError> {
        let mut shelf = self.read_variants(|majors| majors.contains(major))?;
        self.check(&shelf, major)?;
        if shelf.variants.is_empty() {
            shelf.base = self.read(&self.accepted(None))?;
        }
        Ok(shelf)
    }

    /// Reads all that is accepted; where variants contradict each other about a release that was
    /// not `seen`, that is an error.
    pub(super) fn read_accepted(&self, seen: &Knowledge) -> Result<Shelf, SnapshotError> {
        let mut shelf = self.read_variants(|_| true)?;
        for (majors, _) in &self.variants {
            for major in majors.iter().filter(|major| !seen.contains_key(major)) {
                self.check(&shelf, major)?;
            }
        }
        shelf.base = self.read(&self.accepted(None))?;
        Ok(shelf)
    }

    /// Reads what is pending: what releases were seen to do since the snapshots were accepted, and
    /// a header of them. Files that are not Lockstep's are passed over.
    pub(super) fn read_pending(&self) -> Result<(Knowledge, Option<Header>), SnapshotError> {
        self.read_pending_with(Err)
    }

    /// The same, without the files that cannot be read.
    pub(super) fn read_pending_as_far_as_possible(&self) -> Knowledge {
        let read = self.read_pending_with(|_| Ok(()));
        read.map(|(seen, _)| seen).unwrap_or_default()
    }

    fn read_pending_with(
        &self,
        refuse: impl Fn(SnapshotError) -> Result<(), SnapshotError>,
    ) -> Result<(Knowledge, Option<Header>), SnapshotError> {
        let mut seen = Knowledge::new();
        let mut of = None;
        for path in &self.pending {
            let snapshot = match self.read(path) {
                Ok(Some(snapshot)) if snapshot.header.is_ours() => snapshot,
                Ok(_) => continue,
                Err(error) => {
                    refuse(error)?;
                    continue;
                }
            };
            let releases = snapshot.header.exact_releases();
            if releases.is_empty() {
                refuse(self.error(path, SnapshotErrorKind::NoRelease))?;
            }
            for release in releases {
                seen.insert(release.major, Known::of(&snapshot, Some(release)));
            }
            of = Some(snapshot.header);
        }
        Ok((seen, of))
    }

    /// The accepted files, each with its text.
    pub(super) fn texts(&self, shelf: &Shelf) -> BTreeMap<PathBuf, Snapshot> {
        let base = shelf.base.iter().map(|base| (self.accepted(None), base));
        let variants = shelf.variants.iter();
        let variants = variants.map(|one| (one.path.clone(), &one.snapshot));
        base.chain(variants)
            .map(|(path, snapshot)| (path, snapshot.clone()))
            .collect()
    }

    /// Writes what is pending for a case, and removes what was.
    pub(super) fn replace_pending(
        &self,
        proposals: &[Planned],
        of: &Header,
    ) -> Result<Vec<PathBuf>, SnapshotError> {
        let mut written = Vec::new();
        for proposal in proposals {
            let path = self.pending_for(proposal.majors.as_ref());
            self.write(&path, &proposal.snapshot(of))?;
            written.push(path);
        }
        for path in self.pending.iter().filter(|path| !written.contains(path)) {
            self.remove_ours(path)?;
        }
        Ok(written)
    }

    /// Removes a file, unless it is not Lockstep's or no longer looks like it.
    pub(super) fn remove_ours(&self, path: &Path) -> Result<(), SnapshotError> {
        match self.read(path) {
            Ok(Some(old)) if old.header.is_ours() => self.remove(path),
            _ => Ok(()),
        }
    }

    /// Writes a file, unless it is there like that.
    pub(super) fn write(&self, path: &Path, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let file = snapshot.to_file();
        if fs::read(path).is_ok_and(|there| there == file.as_bytes()) {
            return Ok(());
        }
        write_whole(path, file.as_bytes())
            .map_err(|source| self.error(path, SnapshotErrorKind::Write(source)))
    }

    /// Removes a file, which may be gone already.
    pub(super) fn remove(&self, path: &Path) -> Result<(), SnapshotError> {
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(self.error(path, SnapshotErrorKind::Remove(source)))
            }
            _ => Ok(()),
        }
    }

    /// Reads a snapshot; `None` if there is none.
    fn read(&self, path: &Path) -> Result<Option<Snapshot>, SnapshotError> {
        read(self.directory, path)
    }

    fn read_variants(&self, are_read: impl Fn(&Majors) -> bool) -> Result<Shelf, SnapshotError> {
        let mut shelf = Shelf::default();
        for (majors, path) in &self.variants {
            if !are_read(majors) {
                continue;
            }
            if let Some(snapshot) = self.read(path)? {
                shelf.variants.push(Variant {
                    majors: majors.clone(),
                    path: path.clone(),
                    snapshot,
                });
            }
        }
        Ok(shelf)
    }

    fn check(&self, shelf: &Shelf, major: u32) -> Result<(), SnapshotError> {
        match shelf.variant_of(major) {
            Ok(_) => Ok(()),
            Err(rivals) => {
                let [first, other] = rivals.map(|at| &shelf.variants[at].path);
                let other = shown(self.directory, other);
                Err(self.error(first, SnapshotErrorKind::Overlap { other, major }))
            }
        }
    }

    fn error(&self, path: &Path, kind: SnapshotErrorKind) -> SnapshotError {
        SnapshotError {
            path: shown(self.directory, path),
            kind,
        }
    }
}

/// Reads a snapshot; `None` if there is none.
pub(super) fn read(directory: &Path, path: &Path) -> Result<Option<Snapshot>, SnapshotError> {
    match fs::read(path) {
        Ok(bytes) => Snapshot::from_file(&shown(directory, path), &bytes).map(Some),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SnapshotError {
            path: shown(directory, path),
            kind: SnapshotErrorKind::Read(source),
        }),
    }
}

/// The path as it is shown.
pub(super) fn shown(directory: &Path, path: &Path) -> PathBuf {
    relative(path, directory).unwrap_or_else(|| path.to_path_buf())
}

/// Writes a file so that it is there whole or not at all: into a temporary file of the same folder,
/// which then takes the name.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    // Its errors name a file that nobody knows.
    let mut file = builder
        .tempfile_in(folder)
        .map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
