//! The folder that a package is unpacked into.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use super::super::error::{ServerError, ServerErrorKind, in_cache};

/// The folder that an archive is unpacked into. Everybody may read all of it and run its programs,
/// whatever the umask, since another account may run the server.
pub(super) struct Target<'a> {
    folder: &'a Path,
    /// The archive's name, for messages.
    archive: &'a str,
}

impl<'a> Target<'a> {
    /// Makes the folder.
    pub(super) fn make(folder: &'a Path, archive: &'a str) -> Result<Self, ServerError> {
        make_folder(folder).map_err(in_cache(folder))?;
        Ok(Self { folder, archive })
    }

    /// What is wrong with the archive.
    pub(super) fn bad(&self, why: impl ToString) -> ServerError {
        ServerErrorKind::BadPackage {
            file: self.archive.to_owned(),
            why: why.to_string(),
        }
        .into()
    }

    /// Makes a folder inside.
    pub(super) fn folder(&self, inside: &Path) -> Result<(), ServerError> {
        let path = self.path(inside)?;
        make_folder(&path).map_err(in_cache(&path))
    }

    /// Writes a file.
    pub(super) fn file(
        &self,
        inside: &Path,
        runs: bool,
        content: &mut impl Read,
    ) -> Result<(), ServerError> {
        let path = self.path(inside)?;
        self.parent(&path)?;
        let mut to = File::create_new(&path).map_err(in_cache(&path))?;
        io::copy(content, &mut to).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof => self.bad(error),
            _ => in_cache(&path)(error),
        })?;
        let mode = if runs { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(in_cache(&path))
    }

    /// Makes a symbolic link to another path inside, unless something is there.
    pub(super) fn link(&self, inside: &Path, to: &Path) -> Result<(), ServerError> {
        let (path, goal) = (self.path(inside)?, self.path(to)?);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(());
        }
        self.parent(&path)?;
        // From the link up to the folder, and down again: the whole may be moved.
        let up = inside.components().count().saturating_sub(1);
        let mut way: PathBuf = std::iter::repeat_n("..", up).collect();
        if goal.parent() == path.parent() {
            way = PathBuf::from(to.file_name().unwrap_or_default());
        } else {
            way.push(to);
        }
        symlink(&way, &path).map_err(in_cache(&path))
    }

    fn parent(&self, path: &Path) -> Result<(), ServerError> {
        let parent = path.parent().unwrap_or(self.folder);
        make_folder(parent).map_err(in_cache(parent))
    }

    /// The path of something inside, which must not lead out.
    fn path(&self, inside: &Path) -> Result<PathBuf, ServerError> {
        let stays = inside
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if stays && inside.components().next().is_some() {
            Ok(self.folder.join(inside))
        } else {
            Err(self.bad(format_args!("`{}` leads out of it", inside.display())))
        }
    }
}

/// Makes a folder, and those above it, with a mode that does not depend on the umask.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folder(parent)?;
    }
    fs::create_dir(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}
