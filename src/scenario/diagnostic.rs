//! A mistake, and the place in a scenario file where it is.

use super::source::{SourceFile, Span};

/// Something that is wrong at a place in a scenario file: found when the file was read, or when
/// the server or an expectation did not agree with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub source: SourceFile,
    /// What is wrong: a lower-case fragment.
    pub message: String,
    /// The place that is underlined.
    pub span: Span,
    /// What stands beside the underline; may be empty.
    pub label: String,
    /// Other places that matter, with what to say of each.
    pub related: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
}
