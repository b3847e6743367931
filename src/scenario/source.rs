//! Text of a scenario file, and where each piece of it stands.

use std::path::PathBuf;
use std::sync::Arc;

/// A scenario file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user named it; shown in messages, with `/` between its parts.
    pub path: PathBuf,
    /// The whole text.
    pub text: Arc<str>,
}

/// A range of bytes in a [`SourceFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// SQL out of a scenario file, with the way back from each of its bytes to the file, so that an
/// error position which the server reports can be shown in the YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlText {
    /// The SQL, after YAML's folding, indentation and escapes are undone.
    pub text: String,
    /// The whole scalar in the file.
    pub span: Span,
    /// Pairs of an offset in `text` and the offset in the file where that byte stands, ascending;
    /// between two pairs both sides advance together.
    pub origins: Vec<(usize, usize)>,
}

impl SqlText {
    /// The offset in the file of the byte at `offset` of the text. An offset at or behind the end
    /// gives the place where the next byte would stand.
    #[must_use]
    pub fn origin(&self, offset: usize) -> usize {
        let at = self.origins.partition_point(|(text, _)| *text <= offset);
        match at.checked_sub(1).map(|i| self.origins[i]) {
            Some((text, file)) => file + (offset - text),
            None => self.span.start,
        }
    }
}
