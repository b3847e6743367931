//! Text of a scenario file, and where each piece of it stands.

use std::ops::Range;
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
    /// between two pairs both sides advance together. Two pairs with one offset in `text` begin a
    /// value of the matrix: all of it stands between the two places in the file, where its
    /// `${name}` is written.
    pub origins: Vec<(usize, usize)>,
}

impl SqlText {
    /// The offset in the file of the byte at `offset` of the text. An offset at or behind the end
    /// gives the place where the next byte would stand.
    #[must_use]
    pub fn origin(&self, offset: usize) -> usize {
        let at = self.origins.partition_point(|(text, _)| *text <= offset);
        match &self.origins[..at] {
            [.., (other, start), (text, _)] if other == text => *start,
            [.., (text, file)] => file + (offset - text),
            [] => self.span.start,
        }
    }

    /// The place in the file of a piece of the text. A piece of a value of the matrix stands where
    /// its `${name}` is written; an empty piece is taken for one byte.
    #[must_use]
    pub fn place(&self, piece: Range<usize>) -> Span {
        let last = piece.end.max(piece.start + 1) - 1;
        let at = self.origins.partition_point(|(text, _)| *text <= last);
        let end = match &self.origins[..at] {
            [.., (other, _), (text, end)] if other == text => *end,
            _ => self.origin(last) + 1,
        };
        Span {
            start: self.origin(piece.start),
            end,
        }
    }
}
