//! One statement of a longer text.

use std::ops::Range;

use super::prepare::significant;

/// One statement, as psql would send it. The default is no text at all: what runs a statement that
/// the server has kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// What is sent. It is not always a piece of the text it was cut from: like psql, it leaves
    /// out empty lines that are not within quotes or comments.
    pub text: String,
    /// Where it stands in the text it was cut from, in bytes.
    pub range: Range<usize>,
    /// Pairs of an offset in `text` and the offset it came from, ascending; between two pairs both
    /// sides advance together.
    origins: Vec<(usize, usize)>,
}

impl Statement {
    /// Cuts `range` out of `sql`, without the newlines that stand at `dropped`.
    pub(super) fn cut(sql: &str, range: Range<usize>, dropped: &[usize]) -> Self {
        let mut statement = Self {
            text: String::with_capacity(range.len()),
            range: range.clone(),
            origins: Vec::new(),
        };
        let mut from = range.start;
        for newline in dropped.iter().filter(|at| range.contains(at)) {
            statement.append(sql, from..*newline);
            from = newline + 1;
        }
        statement.append(sql, from..range.end);
        statement
    }

    fn append(&mut self, sql: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.origins.push((self.text.len(), range.start));
            self.text.push_str(&sql[range]);
        }
    }

    /// What it begins with, behind comments: mostly a word.
    pub(crate) fn beginning(&self) -> Option<&str> {
        let first = significant(&self.text).next()?;
        Some(&self.text[first.range])
    }

    /// The offset, in the text the statement was cut from, of the byte at `offset` of
    /// [`text`](Self::text). An offset at or behind the end gives the end.
    #[must_use]
    pub fn origin(&self, offset: usize) -> usize {
        if offset >= self.text.len() {
            return self.range.end;
        }
        let at = self.origins.partition_point(|(text, _)| *text <= offset);
        let (text, source) = self.origins[at - 1];
        source + (offset - text)
    }
}
