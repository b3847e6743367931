//! What a start is busy with, and what it decided.

use std::fmt;

use super::embedded;

/// Something to tell while a server is being had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The embedded provider is at something that takes time.
    Embedded(embedded::Progress),
    /// The container engine pulls an image.
    Pulling(String),
    /// `auto` has chosen; see [`Choice`].
    Chosen(Choice),
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(progress) => progress.fmt(f),
            Self::Pulling(image) => write!(f, "pulling {image} (once)"),
            Self::Chosen(choice) => choice.fmt(f),
        }
    }
}

/// Which provider `auto` has chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `container` or `embedded`.
    pub provider: &'static str,
    /// Why, as a fragment.
    pub why: String,
    /// Whether the user would have expected another.
    pub is_surprising: bool,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.provider, self.why)
    }
}
