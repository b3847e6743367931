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
    #[must_use]
    pub fn from_version_line(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("(PostgreSQL) ")?;
        rest.split_whitespace().next()?.parse().ok()
    }
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
}
