//! A build of PostgreSQL that the user names by its folder.

use std::path::{Path, PathBuf};

use super::release::{Release, version_word};
use super::version::ask_version;

/// A build of PostgreSQL somewhere on the machine, released or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    programs: PathBuf,
    release: Release,
    version: String,
}

/// Why a folder that was named cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum LocalError {
    #[error("neither {} nor the folder `bin` in it holds `postgres` and `initdb`", .0.display())]
    NoPrograms(PathBuf),
    #[error("{} does not tell its version: {said}", program.display())]
    NoVersion { program: PathBuf, said: String },
    #[error("{} holds PostgreSQL {found}, not {wanted}", folder.display())]
    OtherRelease {
        folder: PathBuf,
        found: String,
        wanted: String,
    },
}

impl LocalError {
    /// What to do about it; a sentence.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoPrograms(_) => "Name the folder that `make install` or a package has put the \
                                    programs into, such as /usr/lib/postgresql/18/bin."
                .to_owned(),
            Self::NoVersion { program, .. } => {
                format!("See what `{} --version` says.", program.display())
            }
            Self::OtherRelease { .. } => {
                "Leave out `--pg`: the release is that of the folder.".to_owned()
            }
        })
    }
}

impl Local {
    /// Looks at a folder of programs, or the folder above it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use lockstep::server::Local;
    ///
    /// # async fn example() -> Result<(), lockstep::server::LocalError> {
    /// let local = Local::find("/usr/lib/postgresql/15".as_ref()).await?;
    /// assert_eq!(local.release().major, 15);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are no such programs, or they cannot be run.
    pub async fn find(directory: &Path) -> Result<Self, LocalError> {
        let name = |program: &str| format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let (postgres, initdb) = (name("postgres"), name("initdb"));
        let program = [directory.to_owned(), directory.join("bin")]
            .into_iter()
            // Links lead to the folder that has what belongs to the programs beside it.
            .filter_map(|folder| folder.join(&postgres).canonicalize().ok())
            .find(|program| program.with_file_name(&initdb).is_file())
            .ok_or_else(|| LocalError::NoPrograms(directory.to_owned()))?;
        let no_version = |said| LocalError::NoVersion {
            program: program.clone(),
            said,
        };
        let line = ask_version(&program).await.map_err(no_version)?;
        let release = Release::of_any_build(&line).ok_or_else(|| no_version(line.clone()))?;
        Ok(Self {
            programs: program.parent().unwrap_or(directory).to_owned(),
            release,
            version: version_word(&line).unwrap_or_default().to_owned(),
        })
    }

    /// The folder of the programs.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The release; what a development version counts as.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The version as the build tells it: `18.6`, `19devel`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it is what the user asks for besides: a major version, an exact release, or the
    /// build's own word for its version.
    ///
    /// # Errors
    ///
    /// It is another.
    pub fn must_be_named(&self, wanted: &str) -> Result<(), LocalError> {
        let own = [
            self.release.major.to_string(),
            self.release.to_string(),
            self.version.clone(),
        ];
        if own.iter().any(|own| own == wanted) {
            Ok(())
        } else {
            Err(self.other(wanted.to_owned()))
        }
    }

    /// Whether it is exactly a release.
    ///
    /// # Errors
    ///
    /// It is another.
    pub fn must_be(&self, wanted: Release) -> Result<(), LocalError> {
        if self.release == wanted {
            Ok(())
        } else {
            Err(self.other(wanted.to_string()))
        }
    }

    fn other(&self, wanted: String) -> LocalError {
        LocalError::OtherRelease {
            folder: self.programs.clone(),
            found: self.version.clone(),
            wanted,
        }
    }
}
