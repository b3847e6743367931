//! What can be wrong with a snapshot file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A snapshot could not be read or written. The message names the file and, where it helps, what
/// to do about it.
#[derive(Debug, Error)]
#[error("snapshot `{}` {kind}", path.display())]
pub struct SnapshotError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: SnapshotErrorKind,
}

/// What is wrong with a snapshot; each message goes on after the name of the file.
#[derive(Debug, Error)]
pub enum SnapshotErrorKind {
    /// The file or folder cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The file cannot be written; what was there before is whole.
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The file cannot be removed.
    #[error("cannot be removed: {0}")]
    Remove(#[source] io::Error),
    /// The file is not UTF-8.
    #[error(
        "is not UTF-8 (byte {offset}); restore it from version control, or remove it and run again"
    )]
    NotUtf8 {
        /// Offset of the first byte that is wrong.
        offset: usize,
    },
    /// The file has no header.
    #[error(
        "has no header: its first line must be `---`, and a second `---` must end the header; \
         restore it from version control, or remove it and run again"
    )]
    NoHeader,
    /// The header is not the YAML it should be.
    #[error("has a header that cannot be read: {message}")]
    Header {
        /// What the YAML reader says.
        message: String,
    },
    /// The file holds the marks of a merge that nobody has resolved.
    #[error(
        "holds an unresolved merge conflict (line {line}); resolve it, or remove the file, \
         run again and accept the new one"
    )]
    MergeConflict {
        /// The line of the first mark, counted from 1.
        line: usize,
    },
    /// The text is escaped, and an escape in it is none.
    #[error(
        "says that its text is escaped, but {what} on line {line}; \
         restore it from version control, or remove it and run again"
    )]
    Escape {
        /// What is wrong.
        what: &'static str,
        /// The line in the file, counted from 1.
        line: usize,
    },
    /// The part of the file's name behind `@` does not name releases.
    #[error(
        "is named for releases `{spec}`, which must be majors such as `13`, `13-14` or `13,15`"
    )]
    Variant {
        /// What stands behind the `@`.
        spec: String,
    },
    /// Two variants hold for the same release, and neither for fewer.
    #[error("and `{}` both hold for release {major}; remove one, or rename it", other.display())]
    Overlap {
        /// The other variant.
        other: PathBuf,
        /// The major version that both name.
        major: u32,
    },
    /// The header of a pending snapshot lists no release, so that nobody knows what it is for.
    #[error("lists no release that it was seen on; remove it and run again")]
    NoRelease,
}
