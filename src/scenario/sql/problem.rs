//! What keeps a text from being cut into statements.

use std::fmt;
use std::ops::Range;

/// A mistake in SQL that shows without asking a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitProblem {
    /// The bytes of the text that are wrong: the opening quote, the parenthesis, the command.
    pub range: Range<usize>,
    /// What is wrong.
    pub kind: SplitProblemKind,
}

/// What is wrong with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitProblemKind {
    /// A backslash outside quotes: psql would take it for a command of its own.
    BackslashCommand,
    /// A string without its closing quote.
    UnterminatedString,
    /// A quoted identifier without its closing quote.
    UnterminatedIdentifier,
    /// A dollar-quoted string without its closing tag.
    UnterminatedDollarQuote,
    /// A `/*` without its `*/`.
    UnterminatedComment,
    /// A parenthesis without its other half; a `;` does not end a statement within parentheses.
    UnclosedParenthesis,
    /// A `BEGIN` (or a `CASE` after it) in CREATE FUNCTION or CREATE PROCEDURE without its `END`;
    /// a `;` does not end a statement between the two.
    UnclosedBegin,
}

impl fmt::Display for SplitProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BackslashCommand => "psql's backslash commands are not SQL",
            Self::UnterminatedString => "this string has no end",
            Self::UnterminatedIdentifier => "this quoted identifier has no end",
            Self::UnterminatedDollarQuote => "this dollar-quoted string has no end",
            Self::UnterminatedComment => "this comment has no end",
            Self::UnclosedParenthesis => "this parenthesis is not closed",
            Self::UnclosedBegin => "this block has no END",
        })
    }
}
