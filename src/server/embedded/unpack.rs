//! Unpacking a package of server programs.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use zip::ZipArchive;

use super::error::{ServerError, ServerErrorKind, in_cache};

/// Unpacks an archive into a folder, which is made. Everybody may read all of it and run its
/// programs, whatever the umask, since another account may run the server.
pub(super) fn unpack(archive: &Path, folder: &Path, name: &str) -> Result<(), ServerError> {
    let bad = |why: String| ServerErrorKind::BadPackage {
        file: name.to_owned(),
        why,
    };
    let file = File::open(archive).map_err(in_cache(archive))?;
    let mut entries =
        ZipArchive::new(BufReader::new(file)).map_err(|error| bad(error.to_string()))?;
    make_folder(folder).map_err(in_cache(folder))?;
    for index in 0..entries.len() {
        let mut entry = entries
            .by_index(index)
            .map_err(|error| bad(error.to_string()))?;
        let shown = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let inside = entry
            .enclosed_name()
            .ok_or_else(|| bad(format!("`{shown}` leads out of it")))?;
        if entry.is_symlink() {
            return Err(bad(format!("`{shown}` is a link")).into());
        }
        let path = folder.join(inside);
        if entry.is_dir() {
            make_folder(&path).map_err(in_cache(&path))?;
            continue;
        }
        if let Some(parent) = path.parent() {
            make_folder(parent).map_err(in_cache(parent))?;
        }
        let mut to = File::create_new(&path).map_err(in_cache(&path))?;
        io::copy(&mut entry, &mut to).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                bad(error.to_string()).into()
            }
            _ => in_cache(&path)(error),
        })?;
        let runs = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        let mode = if runs { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(in_cache(&path))?;
    }
    Ok(())
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
