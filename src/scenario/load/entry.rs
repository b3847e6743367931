//! From paths to scenarios.

use std::path::{Path, PathBuf};

use super::super::diagnostic::Diagnostic;
use super::super::model::Scenario;
use super::super::source::{SourceFile, Span};
use super::document;
use super::mistakes::{Mistake, Mistakes};
use super::read::{self, ReadError};

/// Why a file gave no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It has mistakes; there is at least one, and they are in the order of their places.
    #[error("the scenario has {} {}", .0.len(), if .0.len() == 1 { "mistake" } else { "mistakes" })]
    Mistakes(Vec<Diagnostic>),
}

/// Reads a scenario file. It gives one scenario or, where it has a matrix, one for each combination
/// of the values.
///
/// # Errors
///
/// Fails if the file cannot be read as text, or with all the mistakes in it.
///
/// # Examples
///
/// ```no_run
/// use std::path::Path;
///
/// use lockstep::scenario::{self, LoadError, RenderStyle};
///
/// match scenario::load(Path::new("scenarios/queue.yaml")) {
///     Ok(scenarios) => println!("{} steps", scenarios[0].steps.len()),
///     Err(LoadError::Read(error)) => eprintln!("error: {error}"),
///     Err(LoadError::Mistakes(mistakes)) => {
///         eprint!("{}", scenario::render(&mistakes, RenderStyle::plain()));
///     }
/// }
/// ```
pub fn load(path: &Path) -> Result<Vec<Scenario>, LoadError> {
    let source = read::read(path)?;
    parse(&source).map_err(LoadError::Mistakes)
}

/// Reads the text of a scenario file, as [`load`] does.
///
/// # Errors
///
/// Fails with all the mistakes in it, in the order of their places.
///
/// # Examples
///
/// ```
/// use lockstep::scenario::{self, SourceFile};
///
/// let source = SourceFile {
///     path: "one.yaml".into(),
///     text: "title: One step\nsessions: [A]\nsteps:\n  - B: SELECT 1;\n".into(),
/// };
/// let mistakes = scenario::parse(&source).unwrap_err();
/// assert_eq!(mistakes[0].message, "no session is called `B`");
/// ```
pub fn parse(source: &SourceFile) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let mut mistakes = Mistakes::new(source.clone());
    refuse_control_characters(&mut mistakes);
    let scenarios = if mistakes.is_empty() {
        document::read(source, &mut mistakes)
    } else {
        Vec::new()
    };
    if mistakes.is_empty() {
        Ok(scenarios)
    } else {
        Err(mistakes.into_diagnostics())
    }
}

/// What many files came to.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The scenarios of the files that are right, in the order of the paths; a file with a matrix
    /// gives several.
    pub scenarios: Vec<Scenario>,
    /// The mistakes in the others, file by file.
    pub mistakes: Vec<Diagnostic>,
    /// The files that could not be read.
    pub unreadable: Vec<ReadError>,
}

impl Loaded {
    /// Whether every file gave a scenario.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.mistakes.is_empty() && self.unreadable.is_empty()
    }
}

/// Reads many scenario files; a mistake in one keeps nothing from the others.
#[must_use]
pub fn load_all(paths: &[PathBuf]) -> Loaded {
    let mut loaded = Loaded::default();
    for path in paths {
        match load(path) {
            Ok(scenarios) => loaded.scenarios.extend(scenarios),
            Err(LoadError::Read(error)) => loaded.unreadable.push(error),
            Err(LoadError::Mistakes(mistakes)) => loaded.mistakes.extend(mistakes),
        }
    }
    loaded
}

/// Characters that nobody sees and that YAML or the server would trip over.
fn refuse_control_characters(mistakes: &mut Mistakes) {
    const MOST: usize = 10;
    let mut carriage_return = false;
    let text = mistakes.source().text.clone();
    let found = text.char_indices().filter(|&(at, c)| match c {
        '\t' | '\n' => false,
        '\r' => !text[at..].starts_with("\r\n"),
        c => c.is_control(),
    });
    for (at, c) in found.take(MOST) {
        // Whoever ends lines so does it everywhere.
        if c == '\r' && std::mem::replace(&mut carriage_return, true) {
            continue;
        }
        let span = Span {
            start: at,
            end: at + c.len_utf8(),
        };
        mistakes.report(if c == '\r' {
            Mistake::new(span, "a carriage return without a line feed")
                .label("some programs see a line end here, others do not")
                .help("end lines with a line feed, or with carriage return and line feed")
        } else {
            Mistake::new(span, format!("a control character, U+{:04X}", u32::from(c)))
                .label("not visible, but here")
                .help("delete it; inside double quotes YAML has escapes such as `\\x1b`")
        });
    }
}
