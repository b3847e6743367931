//! What a pin must satisfy beyond its form: parts of it become arguments, file names and paths.

use std::path::{Component, Path};

use super::table::{Package, Pin};

impl Pin {
    /// Whether it can be used; else what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(image) = &self.image {
            plain("image", &image.name)?;
            if let Some(digest) = &image.digest {
                let digits = digest.strip_prefix("sha256:");
                if !digits.is_some_and(is_sha256) {
                    return Err(format!(
                        "the digest `{digest}` is not `sha256:` and 64 lower-case hexadecimal digits"
                    ));
                }
            }
        }
        self.package.as_ref().map_or(Ok(()), Package::check)
    }
}

impl Package {
    fn check(&self) -> Result<(), String> {
        plain("name", &self.name)?;
        plain("version", &self.version)?;
        let inside = Path::new(&self.root)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if self.root.is_empty() || !inside {
            return Err(format!("`{}` is no folder in the package", self.root));
        }
        for (at, file) in self.files.iter().enumerate() {
            plain("tag", &file.tag)?;
            plain("file", &file.file)?;
            if file.file.contains(['/', '\\']) {
                return Err(format!("`{}` is no plain file name", file.file));
            }
            if !is_sha256(&file.sha256) {
                return Err(format!(
                    "the sha256 of {} is not 64 lower-case hexadecimal digits",
                    file.file
                ));
            }
            let earlier = &self.files[..at];
            if earlier.iter().any(|other| other.platform == file.platform) {
                return Err(format!("{} has two files", file.platform));
            }
        }
        Ok(())
    }
}

/// Refuses a text that a package client or a container engine could take for an option, or that
/// leads to another folder where it becomes part of a path.
fn plain(what: &str, text: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "@._-+:/".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    if starts_well && text.chars().all(allowed) && !text.contains("..") {
        Ok(())
    } else {
        Err(format!("the {what} `{text}` cannot be used"))
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
