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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// Unpacks an archive of empty files with these names and modes.
    fn unpacked(entries: &[(&str, u32)]) -> (tempfile::TempDir, Result<(), ServerError>) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let mut writer = ZipWriter::new(File::create(&archive).unwrap());
        for (name, mode) in entries {
            let options = SimpleFileOptions::default().unix_permissions(*mode);
            writer.start_file(*name, options).unwrap();
            writer.write_all(b"text").unwrap();
        }
        writer.finish().unwrap();
        let result = unpack(&archive, &folder.path().join("to"), "archive");
        (folder, result)
    }

    #[test]
    fn programs_can_be_run_by_everybody_and_changed_by_nobody_else() {
        let (folder, result) = unpacked(&[("bin/run", 0o700), ("share/text", 0o666)]);
        result.unwrap();
        let mode = |path: &str| {
            let path = folder.path().join("to").join(path);
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        };
        assert_eq!(mode("bin"), 0o755);
        assert_eq!(mode("bin/run"), 0o755);
        assert_eq!(mode("share/text"), 0o644);
    }

    #[test]
    fn nothing_is_written_outside_the_folder() {
        for name in ["../out", "a/../../out", "/tmp/lockstep-out"] {
            let (folder, result) = unpacked(&[(name, 0o644)]);
            assert!(result.is_err() || name.starts_with('/'), "{name}");
            assert!(!folder.path().join("out").exists(), "{name}");
            assert!(!Path::new("/tmp/lockstep-out").exists(), "{name}");
        }
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        fs::write(&archive, "PK but nothing else").unwrap();
        let error = unpack(&archive, &folder.path().join("to"), "the file").unwrap_err();
        assert!(error.to_string().contains("the file"), "{error}");
    }
}
