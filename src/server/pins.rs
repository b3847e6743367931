//! The table of pinned releases, and where their server programs come from.

use std::sync::LazyLock;

use serde::Deserialize;

use super::release::Release;

/// The table that is compiled in: `pins.yaml`.
static BUILT_IN: LazyLock<Pins> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("pins.yaml")).expect("the compiled-in table is well formed")
});

/// The pinned releases.
///
/// # Examples
///
/// ```
/// use lockstep::server::Pins;
///
/// let pin = Pins::built_in().major(18).expect("18 is pinned");
/// assert_eq!(pin.release.to_string(), "18.6");
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    releases: Vec<Pin>,
}

/// One pinned release.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The exact version.
    pub release: Release,
    /// The package that holds its programs.
    pub package: Package,
    /// The image of a container, where it is not `postgres:<release>`.
    #[serde(default)]
    pub image: Option<String>,
}

impl Pin {
    /// The image of a container: `postgres:18.6`, unless the table names another.
    #[must_use]
    pub fn image(&self) -> String {
        self.image
            .clone()
            .unwrap_or_else(|| format!("postgres:{}", self.release))
    }
}

/// A package of server programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Whose package client downloads it.
    pub client: Client,
    /// Its name in that client's registry.
    pub name: String,
    /// Its exact version, which is not the release's.
    pub version: String,
    /// The folder in the package that holds `bin`, `lib` and `share`.
    pub root: String,
    /// Its files, one a platform.
    pub files: Vec<PackageFile>,
}

/// A package client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Python's pip.
    Pip,
}

/// A package's file for one platform.
#[derive(Debug, Clone, Deserialize)]
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

impl Package {
    /// The file for the platform this program was built for.
    #[must_use]
    pub fn file_for_this_platform(&self) -> Option<&PackageFile> {
        let platform = this_platform();
        self.files.iter().find(|file| file.platform == platform)
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
    fn every_pin_has_whole_checksums_and_one_file_a_platform() {
        for pin in Pins::built_in().iter() {
            let mut platforms = Vec::new();
            for file in &pin.package.files {
                assert_eq!(file.sha256.len(), 64, "{}", file.file);
                assert!(
                    file.sha256
                        .bytes()
                        .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
                    "{}",
                    file.file
                );
                assert!(file.file.contains(&pin.package.version), "{}", file.file);
                assert!(!platforms.contains(&&file.platform), "{}", file.platform);
                platforms.push(&file.platform);
            }
        }
    }
}
