//! Reads the text of a scenario file, or says why it is none.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::super::source::SourceFile;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// A file that could not be read as text.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}: {kind}", path.display())]
pub struct ReadError {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// What went wrong.
    #[source]
    pub kind: ReadErrorKind,
}

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadErrorKind {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// It is a folder.
    #[error("it is a folder, not a scenario file")]
    IsFolder,
    /// It is too large to be a scenario.
    #[error("the file is larger than {} MiB, which no scenario needs", LARGEST >> 20)]
    TooLarge,
    /// It holds NUL bytes or the like: a program, a picture, an archive.
    #[error("it is a binary file, not a scenario")]
    Binary,
    /// It is text in UTF-16 or UTF-32.
    #[error("the file is encoded as UTF-16 or UTF-32; save it as UTF-8")]
    Utf16,
    /// It is text in some other encoding than UTF-8.
    #[error(
        "line {line}, column {column}: the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
    )]
    NotUtf8 {
        /// The line of the first wrong byte, counted from 1.
        line: usize,
        /// Its column in characters, counted from 1.
        column: usize,
        /// The byte.
        byte: u8,
    },
}

/// Reads a file. A byte order mark at its beginning is left out of the text.
///
/// # Errors
///
/// Fails if the file cannot be read, is larger than 1 MiB, or is not UTF-8 text.
pub fn read(path: &Path) -> Result<SourceFile, ReadError> {
    let fail = |kind| ReadError {
        path: path.to_owned(),
        kind,
    };
    let bytes = bytes(path).map_err(fail)?;
    let text = text(bytes).map_err(fail)?;
    Ok(SourceFile {
        path: path.to_owned(),
        text: text.into(),
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, ReadErrorKind> {
    let file = File::open(path).map_err(ReadErrorKind::Io)?;
    let metadata = file.metadata().map_err(ReadErrorKind::Io)?;
    if metadata.is_dir() {
        return Err(ReadErrorKind::IsFolder);
    }
    if metadata.len() > LARGEST {
        return Err(ReadErrorKind::TooLarge);
    }
    let mut bytes = Vec::new();
    // What is no regular file has no length to look at first.
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(ReadErrorKind::Io)?;
    if bytes.len() as u64 > LARGEST {
        return Err(ReadErrorKind::TooLarge);
    }
    Ok(bytes)
}

fn text(mut bytes: Vec<u8>) -> Result<String, ReadErrorKind> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(ReadErrorKind::Utf16);
    }
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(.."\u{feff}".len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        // A NUL apart, other encodings of text use no control characters.
        if bytes.contains(&0) {
            return ReadErrorKind::Binary;
        }
        let before = String::from_utf8_lossy(&bytes[..valid]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        ReadErrorKind::NotUtf8 {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            byte: bytes[valid],
        }
    })
}
