//! Long texts of a report, of which some lines are shown.

use anstyle::Style;

use super::console::Verbosity;
use super::palette::{Palette, paint};
use crate::snapshot::{Diff, Side};

/// Lines shown of a diff, or of a transcript, where not everything is asked for.
const LINES: usize = 60;

/// Which part of a long text is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What comes first.
    Beginning,
    /// What comes last.
    End,
}

/// The lines of a diff, under the names of its two sides.
pub(super) fn diff_lines(
    palette: &Palette,
    accepted: &str,
    observed: &str,
    diff: &Diff,
) -> Vec<String> {
    let mut lines = vec![
        paint(palette.bad, format_args!("--- {accepted}")),
        paint(palette.good, format_args!("+++ {observed}")),
    ];
    for hunk in &diff.hunks {
        lines.push(paint(palette.place, &hunk.header));
        for line in &hunk.lines {
            let style = match line.side {
                Side::Both => Style::new(),
                Side::Accepted => palette.bad,
                Side::Observed => palette.good,
                Side::Remark => palette.faint,
            };
            let text = format!("{}{}", line.side.sign(), line.text);
            lines.push(paint(style, text));
        }
    }
    lines
}

/// Adds lines, or as many as fit.
pub(super) fn push_some(
    shown: &mut String,
    lines: &[String],
    part: Part,
    verbosity: Verbosity,
    palette: &Palette,
) {
    let all = verbosity == Verbosity::Verbose || lines.len() <= LINES;
    let number = if all { lines.len() } else { LINES };
    let left = lines.len() - number;
    let left = paint(palette.faint, format!("… {left} more lines"));
    let some = match part {
        Part::Beginning => &lines[..number],
        Part::End => &lines[lines.len() - number..],
    };
    if !all && part == Part::End {
        push_lines(shown, &left);
    }
    for line in some {
        push_lines(shown, line);
    }
    if !all && part == Part::Beginning {
        push_lines(shown, &left);
    }
}

/// Adds text, and ends its last line.
pub(super) fn push_lines(shown: &mut String, text: &str) {
    shown.push_str(text);
    if !text.ends_with('\n') {
        shown.push('\n');
    }
}
