//! Python's packages: zip files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;

use super::super::error::{ServerError, in_cache};
use super::target::Target;

/// Unpacks an archive into a folder, which is made. `name` is the archive's, for messages.
pub(in super::super) fn unpack_wheel(
    archive: &Path,
    folder: &Path,
    name: &str,
) -> Result<(), ServerError> {
    let file = File::open(archive).map_err(in_cache(archive))?;
    let target = Target::make(folder, name)?;
    let mut entries = ZipArchive::new(BufReader::new(file)).map_err(|error| target.bad(error))?;
    for index in 0..entries.len() {
        let mut entry = entries.by_index(index).map_err(|error| target.bad(error))?;
        let shown = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let inside = entry
            .enclosed_name()
            .ok_or_else(|| target.bad(format_args!("`{shown}` leads out of it")))?;
        if entry.is_symlink() {
            return Err(target.bad(format_args!("`{shown}` is a link")));
        }
        if entry.is_dir() {
            target.folder(&inside)?;
        } else {
            let runs = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
            target.file(&inside, runs, &mut entry)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

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
        let result = unpack_wheel(&archive, &folder.path().join("to"), "archive");
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
        let error = unpack_wheel(&archive, &folder.path().join("to"), "the file").unwrap_err();
        assert!(error.to_string().contains("the file"), "{error}");
    }
}
