//! The table of pinned releases, and where their server programs come from.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::server::Release;

/// The table that is compiled in: `pins.yaml`.
static BUILT_IN: LazyLock<Pins> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("pins.yaml")).expect("the compiled-in table is well formed")
});

/// The pinned releases, one a major version.
///
/// # Examples
///
/// ```
/// use lockstep::server::Pins;
///
/// let pin = Pins::built_in().major(18).expect("18 is pinned");
/// assert_eq!(pin.release.to_string(), "18.6");
/// assert_eq!(pin.image().to_string(), "postgres:18.6");
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    pub(super) releases: Vec<Pin>,
}

/// One pinned release.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The exact version.
    pub release: Release,
    /// The container image, where it is not `postgres:<release>`; see [`Pin::image`].
    pub(super) image: Option<Image>,
    /// The package that holds its programs. Without one, the embedded provider takes the release
    /// only from an installation on the machine.
    pub package: Option<Package>,
}

/// A container image.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Its name and tag.
    pub name: String,
    /// What is in it: `sha256:` and 64 hexadecimal digits. The tag says nothing then.
    pub digest: Option<String>,
}

/// A package of server programs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Whose package client downloads it.
    pub client: Client,
    /// Its name in that client's registry; for npm, the scope that has a package for each platform.
    pub name: String,
    /// Its exact version, which is not the release's.
    pub version: String,
    /// The folder in the package that holds `bin`, `lib` and `share`.
    pub root: String,
    /// Its files, one a platform.
    pub files: Vec<PackageFile>,
}

/// A package client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Python's pip.
    Pip,
    /// Node.js's npm.
    Npm,
}

/// A package's file for one platform.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageFile {
    /// The operating system and the processor, as Rust names them: `linux-x86_64`.
    pub platform: String,
    /// The platform as the package client names it.
    pub tag: String,
    /// The file's name.
    pub file: String,
    /// Its size, rounded, in megabytes.
    pub megabytes: u32,
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: String,
}

impl Pins {
    /// The table that is compiled in.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// All pins, oldest release first.
    pub fn iter(&self) -> impl Iterator<Item = &Pin> {
        self.releases.iter()
    }

    /// The pin of an exact release.
    #[must_use]
    pub fn exact(&self, release: Release) -> Option<&Pin> {
        self.releases.iter().find(|pin| pin.release == release)
    }

    /// The pin that stands for a major version.
    #[must_use]
    pub fn major(&self, major: u32) -> Option<&Pin> {
        self.releases.iter().find(|pin| pin.release.major == major)
    }
}

impl Pin {
    /// A release of which nothing is known but its version.
    #[must_use]
    pub fn of(release: Release) -> Self {
        Self {
            release,
            image: None,
            package: None,
        }
    }

    /// The container image.
    #[must_use]
    pub fn image(&self) -> Image {
        self.image.clone().unwrap_or_else(|| Image {
            name: format!("postgres:{}", self.release),
            digest: None,
        })
    }
}

impl fmt::Display for Image {
    /// As container engines take it: `postgres:18.6`, or with `@sha256:…` behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl Package {
    /// The file for the platform this program was built for.
    #[must_use]
    pub fn file_for_this_platform(&self) -> Option<&PackageFile> {
        let platform = this_platform();
        self.files.iter().find(|file| file.platform == platform)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pip => "pip",
            Self::Npm => "npm",
        })
    }
}

/// The platform this program was built for, as the table names it.
#[must_use]
pub fn this_platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_supported_majors_are_pinned_each_with_image_and_package() {
        let pins = Pins::built_in();
        let majors: Vec<u32> = pins.iter().map(|pin| pin.release.major).collect();
        assert_eq!(majors, [13, 14, 15, 16, 17, 18]);
        for pin in pins.iter() {
            assert_eq!(pin.check(), Ok(()), "{}", pin.release);
            assert_eq!(pin.image().name, format!("postgres:{}", pin.release));
            let package = pin.package.as_ref().expect("it has a package");
            for file in &package.files {
                assert!(file.file.contains(&package.version), "{}", file.file);
            }
            let release = pin.release.to_string();
            assert!(package.version.starts_with(&release), "{release}");
        }
    }

    #[test]
    fn a_digest_is_part_of_what_is_pulled() {
        let image = Image {
            name: "postgres:18.6".to_owned(),
            digest: Some("sha256:12".to_owned()),
        };
        assert_eq!(image.to_string(), "postgres:18.6@sha256:12");
    }
}
