//! Exact PostgreSQL versions.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// One exact PostgreSQL version, such as 18.6.
///
/// # Examples
///
/// ```
/// use lockstep::server::Release;
///
/// let release: Release = "18.6".parse()?;
/// assert_eq!((release.major, release.minor), (18, 6));
/// # Ok::<(), lockstep::server::ParseReleaseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Release {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A text that is no exact version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an exact release such as 18.6")]
pub struct ParseReleaseError(String);

impl FromStr for Release {
    type Err = ParseReleaseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once('.')
            .and_then(|(major, minor)| {
                Some(Self {
                    major: major.parse().ok()?,
                    minor: minor.parse().ok()?,
                })
            })
            .ok_or_else(|| ParseReleaseError(text.to_owned()))
    }
}

impl TryFrom<String> for Release {
    type Error = ParseReleaseError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl Release {
    /// Reads what `postgres --version` prints: `postgres (PostgreSQL) 18.6 (Debian 18.6-1)`.
    /// A development version, a beta or a release candidate is no release.
    #[must_use]
    pub fn from_version_line(line: &str) -> Option<Self> {
        version_word(line)?.parse().ok()
    }

    /// Reads the same line of any build. A development version, a beta or a release candidate
    /// counts as the first release of its major version, as PostgreSQL's own `server_version_num`
    /// has it: `19devel` as 19.0.
    #[must_use]
    pub fn of_any_build(line: &str) -> Option<Self> {
        let word = version_word(line)?;
        word.parse().ok().or_else(|| {
            let stage = word.trim_start_matches(|c: char| c.is_ascii_digit());
            let known = ["devel", "alpha", "beta", "rc"];
            let is_early = known.iter().any(|name| stage.starts_with(name));
            let major = word[..word.len() - stage.len()].parse().ok()?;
            is_early.then_some(Self { major, minor: 0 })
        })
    }
}

/// The version in what `postgres --version` prints.
pub(super) fn version_word(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("(PostgreSQL) ")?;
    rest.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_line_of_plain_and_packaged_builds() {
        let release = Some(Release {
            major: 18,
            minor: 6,
        });
        for line in [
            "postgres (PostgreSQL) 18.6\n",
            "postgres (PostgreSQL) 18.6 (Debian 18.6-1.pgdg12+1)\n",
        ] {
            assert_eq!(Release::from_version_line(line), release);
        }
        assert_eq!(
            Release::from_version_line("postgres (PostgreSQL) 19devel"),
            None
        );
        assert_eq!(Release::from_version_line("initdb: no"), None);
    }

    #[test]
    fn a_development_version_counts_as_the_first_release_of_its_major() {
        for (version, counts_as) in [
            ("19devel", Some("19.0")),
            ("18beta1", Some("18.0")),
            ("18rc2", Some("18.0")),
            ("18.6", Some("18.6")),
            ("18things", None),
            ("devel", None),
        ] {
            let line = format!("postgres (PostgreSQL) {version}\n");
            let found = Release::of_any_build(&line).map(|release| release.to_string());
            assert_eq!(found.as_deref(), counts_as, "{version}");
        }
    }
}
