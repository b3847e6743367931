//! Files of expected output, with their alternates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::snapshot::Diff;

/// A file of expected output that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} {}: {source}", path.display())]
pub struct ExpectedError {
    action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The expected output of one spec: `name.out`, or any of `name_0.out` to `name_9.out`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The file that the output belongs in.
    pub path: PathBuf,
    texts: Vec<(PathBuf, String)>,
}

/// The folder `expected` beside the folder of a spec, as PostgreSQL lays them out, or else the one
/// in it.
#[must_use]
pub fn beside(spec: &Path) -> PathBuf {
    let folder = spec.parent().unwrap_or_else(|| Path::new(""));
    if folder.file_name().is_some_and(|name| name == "specs") {
        folder.with_file_name("expected")
    } else {
        folder.join("expected")
    }
}

impl Expected {
    /// Reads what is expected of a spec, by its name.
    ///
    /// # Errors
    ///
    /// A file is there and cannot be read.
    pub fn read(folder: &Path, name: &str) -> Result<Self, ExpectedError> {
        let path = folder.join(format!("{name}.out"));
        let alternates = (0..10).map(|number| folder.join(format!("{name}_{number}.out")));
        let mut texts = Vec::new();
        for path in std::iter::once(path.clone()).chain(alternates) {
            match fs::read(&path) {
                // What is no UTF-8 was none in the output either, and is replaced there, too.
                Ok(bytes) => texts.push((path, String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(ExpectedError {
                        action: "read",
                        path,
                        source,
                    });
                }
            }
        }
        Ok(Self { path, texts })
    }

    /// Whether nothing is known of the spec.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The outputs that are expected, first the main one if it is there.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(_, text)| text.as_str())
    }

    /// Whether an output is exactly one of those expected.
    #[must_use]
    pub fn holds(&self, output: &str) -> bool {
        self.texts.iter().any(|(_, text)| text == output)
    }

    /// Where an output differs from the one it is most like; that file, and the difference.
    #[must_use]
    pub fn nearest(&self, output: &str) -> Option<(&Path, Diff)> {
        let lines = |diff: &Diff| {
            diff.hunks
                .iter()
                .map(|hunk| hunk.lines.len())
                .sum::<usize>()
        };
        self.texts
            .iter()
            .filter_map(|(path, text)| Some((path.as_path(), Diff::between(text, output)?)))
            .min_by_key(|(_, diff)| lines(diff))
    }

    /// Takes an output as the one that is expected, in the place of the main one.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn accept(&self, output: &str) -> Result<(), ExpectedError> {
        let fail = |source| ExpectedError {
            action: "write",
            path: self.path.clone(),
            source,
        };
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        fs::write(&self.path, output).map_err(fail)
    }
}
