//! npm's packages: tar files, compressed by gzip.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::super::error::{ServerError, in_cache};
use super::links::{LIST, Link};
use super::target::Target;

/// Unpacks an archive into a folder, which is made. `name` is the archive's, for messages.
pub(in super::super) fn unpack_tarball(
    archive: &Path,
    folder: &Path,
    name: &str,
) -> Result<(), ServerError> {
    let file = File::open(archive).map_err(in_cache(archive))?;
    let target = Target::make(folder, name)?;
    let mut entries = Archive::new(GzDecoder::new(BufReader::new(file)));
    let entries = entries.entries().map_err(|error| target.bad(error))?;
    let mut links: Vec<Link> = Vec::new();
    for entry in entries {
        let mut entry = entry.map_err(|error| target.bad(error))?;
        let inside = entry
            .path()
            .map_err(|error| target.bad(error))?
            .into_owned();
        match entry.header().entry_type() {
            EntryType::Directory => target.folder(&inside)?,
            EntryType::Regular if inside == Path::new(LIST) => {
                let mut list = String::new();
                entry
                    .read_to_string(&mut list)
                    .map_err(|error| target.bad(error))?;
                links = serde_json::from_str(&list).map_err(|error| target.bad(error))?;
            }
            EntryType::Regular => {
                let mode = entry.header().mode().unwrap_or_default();
                target.file(&inside, mode & 0o100 != 0, &mut entry)?;
            }
            EntryType::XGlobalHeader => {}
            _ => {
                let shown = inside.display();
                return Err(target.bad(format_args!("`{shown}` is neither file nor folder")));
            }
        }
    }
    for link in links {
        target.link(&link.place(), &link.goal())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    /// Unpacks an archive of these entries: kind, name, mode, content.
    fn unpacked(
        entries: &[(EntryType, &str, u32, &str)],
    ) -> (tempfile::TempDir, Result<(), ServerError>) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        let file = File::create(&archive).unwrap();
        let mut builder = Builder::new(GzEncoder::new(file, Compression::fast()));
        for (kind, name, mode, content) in entries {
            let mut header = Header::new_gnu();
            // Not through `set_path`, which refuses names that lead out.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(*mode);
            header.set_size(content.len() as u64);
            if *kind == EntryType::Symlink {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap();
        let result = unpack_tarball(&archive, &folder.path().join("to"), "archive");
        (folder, result)
    }

    #[test]
    fn the_links_of_the_list_are_made_and_programs_can_be_run() {
        let list = r#"[
            {"source": "native/lib/libx.so.1.2", "target": "native/lib/libx.so.1"},
            {"source": "native/lib/libx.so.1.2", "target": "native/bin/libx.so"}
        ]"#;
        let (folder, result) = unpacked(&[
            (EntryType::Regular, LIST, 0o644, list),
            (
                EntryType::Regular,
                "package/native/lib/libx.so.1.2",
                0o600,
                "library",
            ),
            (
                EntryType::Regular,
                "package/native/bin/run",
                0o711,
                "program",
            ),
        ]);
        result.unwrap();
        let native = folder.path().join("to/package/native");
        for link in ["lib/libx.so.1", "bin/libx.so"] {
            let link = native.join(link);
            assert!(fs::read_link(&link).unwrap().is_relative());
            assert_eq!(fs::read_to_string(&link).unwrap(), "library");
        }
        let mode = |path: &str| {
            fs::metadata(native.join(path))
                .unwrap()
                .permissions()
                .mode()
        };
        assert_eq!(mode("bin/run") & 0o7777, 0o755);
        assert_eq!(mode("lib/libx.so.1.2") & 0o7777, 0o644);
    }

    #[test]
    fn nothing_is_written_or_linked_outside_the_folder() {
        let list = |source: &str, target: &str| {
            format!(r#"[{{"source": "{source}", "target": "{target}"}}]"#)
        };
        let out = list("native/lib/x", "../../out");
        let up = list("../../../etc/passwd", "native/lib/x");
        let root = list("/etc/passwd", "native/lib/x");
        for entry in [
            (EntryType::Regular, "../out", 0o644, "text"),
            (EntryType::Regular, "package/../../out", 0o644, "text"),
            (EntryType::Regular, "/tmp/lockstep-out", 0o644, "text"),
            (EntryType::Symlink, "package/link", 0o644, ""),
            (EntryType::Link, "package/link", 0o644, ""),
            (EntryType::Fifo, "package/fifo", 0o644, ""),
            (EntryType::Regular, LIST, 0o644, &out),
            (EntryType::Regular, LIST, 0o644, &up),
            (EntryType::Regular, LIST, 0o644, &root),
        ] {
            let (folder, result) = unpacked(&[entry]);
            let error = result.expect_err(entry.1).to_string();
            assert!(error.contains("archive"), "{error}");
            assert!(!folder.path().join("out").exists(), "{entry:?}");
            assert!(!Path::new("/tmp/lockstep-out").exists(), "{entry:?}");
        }
    }

    #[test]
    fn what_is_no_archive_or_half_of_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        fs::write(&archive, "PK and nothing else").unwrap();
        let error = unpack_tarball(&archive, &folder.path().join("to"), "the file").unwrap_err();
        assert!(error.to_string().contains("the file"), "{error}");
    }
}
