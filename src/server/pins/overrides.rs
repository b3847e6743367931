//! A file of the user's that puts other pins in the place of those that are compiled in.

use std::io;
use std::path::{Path, PathBuf};

use super::table::Pins;

/// The name of the file that is looked for beside the user's scenarios, in the folder that Lockstep
/// was started in.
pub const PINS_FILE: &str = "lockstep-pins.yaml";

/// A file of pins cannot be used. The message reads well after "failed to read the pins: ".
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct PinsError {
    /// The file.
    pub path: PathBuf,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error("{0}")]
    Malformed(Box<serde_saphyr::Error>),
    #[error("release {release}: {what}")]
    Unusable { release: String, what: String },
    #[error("major version {0} is there twice")]
    Twice(u32),
}

impl Pins {
    /// This table, in which the pins of a file stand in the place of those of the same major
    /// version. The file has the form of the table; what a pin in it leaves out is not taken from
    /// the pin it replaces.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use lockstep::server::{PINS_FILE, Pins};
    ///
    /// let pins = Pins::built_in().overridden_by(PINS_FILE.as_ref())?;
    /// # Ok::<(), lockstep::server::PinsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a pin in it cannot be used.
    pub fn overridden_by(&self, path: &Path) -> Result<Self, PinsError> {
        self.overridden(path).map_err(|why| PinsError {
            path: path.to_owned(),
            why,
        })
    }

    fn overridden(&self, path: &Path) -> Result<Self, Why> {
        let theirs: Self = serde_saphyr::from_str(&std::fs::read_to_string(path)?)
            .map_err(|error| Why::Malformed(Box::new(error)))?;
        for (at, pin) in theirs.releases.iter().enumerate() {
            pin.check().map_err(|what| Why::Unusable {
                release: pin.release.to_string(),
                what,
            })?;
            let major = pin.release.major;
            let earlier = &theirs.releases[..at];
            if earlier.iter().any(|other| other.release.major == major) {
                return Err(Why::Twice(major));
            }
        }
        let kept = self
            .releases
            .iter()
            .filter(|pin| theirs.major(pin.release.major).is_none());
        let mut releases: Vec<_> = kept
            .cloned()
            .chain(theirs.releases.iter().cloned())
            .collect();
        releases.sort_by_key(|pin| pin.release);
        Ok(Self { releases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overridden(text: &str) -> Result<Pins, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PINS_FILE);
        std::fs::write(&file, text).unwrap();
        Pins::built_in()
            .overridden_by(&file)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_pin_replaces_that_of_its_major_and_the_others_stay() {
        let pins = overridden("releases:\n  - release: '15.17'\n  - release: '19.0'\n").unwrap();
        let releases: Vec<String> = pins.iter().map(|pin| pin.release.to_string()).collect();
        assert_eq!(
            releases,
            ["13.23", "14.23", "15.17", "16.14", "17.10", "18.6", "19.0"]
        );
        let fifteen = pins.major(15).unwrap();
        assert_eq!(fifteen.package, None);
        assert_eq!(fifteen.image().to_string(), "postgres:15.17");
        assert_eq!(pins.major(18), Pins::built_in().major(18));
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_file() {
        let package = |name: &str, root: &str, file: &str, sha256: &str| {
            format!(
                "releases:\n  - release: '18.5'\n    package:\n      client: npm\n      \
                 name: '{name}'\n      version: '1'\n      root: '{root}'\n      files:\n        \
                 - {{ platform: linux-x86_64, tag: x, file: '{file}', megabytes: 1, \
                 sha256: '{sha256}' }}\n"
            )
        };
        let sum = "0".repeat(64);
        assert!(overridden(&package("@a", "b/c", "f.tgz", &sum)).is_ok());
        for (text, part) in [
            ("releases: [{ release: '18' }]".to_owned(), "18"),
            (
                "releases: [{ release: '18.5', imag: x }]".to_owned(),
                "imag",
            ),
            (
                "releases: [{ release: '18.5' }, { release: '18.4' }]".to_owned(),
                "18 is there twice",
            ),
            (
                "releases: [{ release: '18.5', image: { name: 'p', digest: 'md5:1' } }]".to_owned(),
                "md5:1",
            ),
            (package("--index-url", "b", "f", &sum), "--index-url"),
            (package("a", "../b", "f", &sum), "../b"),
            (package("a", "/b", "f", &sum), "/b"),
            (package("a", "b", "c/f", &sum), "c/f"),
            (package("a", "b", "..", &sum), ".."),
            (package("a", "b", "f", "12"), "sha256"),
        ] {
            let error = overridden(&text).expect_err(&text);
            assert!(error.contains(PINS_FILE), "{error}");
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
