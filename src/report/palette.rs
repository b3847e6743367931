//! The colours of the terminal report.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// A style for each thing that has one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Palette {
    /// What went well, and what only the observed text has.
    pub(super) good: Style,
    /// What did not, and what only the accepted text has.
    pub(super) bad: Style,
    /// What somebody must decide.
    pub(super) open: Style,
    /// Where something is in a text.
    pub(super) place: Style,
    /// What stands back.
    pub(super) faint: Style,
    /// What stands out.
    pub(super) strong: Style,
}

impl Palette {
    /// With colours, or without any escape sequence.
    pub(super) fn new(color: bool) -> Self {
        if !color {
            return Self::default();
        }
        let of = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        Self {
            good: of(AnsiColor::Green),
            bad: of(AnsiColor::Red),
            open: of(AnsiColor::Yellow),
            place: of(AnsiColor::Cyan),
            faint: Style::new().dimmed(),
            strong: Style::new().bold(),
        }
    }
}

/// The text in a style.
pub(super) fn paint(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
