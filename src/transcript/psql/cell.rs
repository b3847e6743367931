//! The text of one cell or heading, broken into the lines that are shown.

use std::fmt::Write as _;

use super::width;

/// Tab stops are this many columns apart, counted from the left edge of the cell.
const TAB_STOP: usize = 8;

/// One line of a cell, with everything unprintable spelt out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The text as it is shown.
    pub(super) text: String,
    /// How many columns it takes.
    pub(super) width: usize,
}

/// The lines of a cell; always at least one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) lines: Vec<Line>,
}

impl Cell {
    /// Breaks a value at its newlines and spells out its control characters.
    pub(super) fn new(value: &str) -> Self {
        Self {
            lines: value.split('\n').map(Line::new).collect(),
        }
    }

    /// The width of the widest line.
    pub(super) fn width(&self) -> usize {
        self.lines.iter().map(|line| line.width).max().unwrap_or(0)
    }
}

impl Line {
    fn new(value: &str) -> Self {
        let mut line = Self {
            text: String::with_capacity(value.len()),
            width: 0,
        };
        for character in value.chars() {
            line.push(character);
        }
        line
    }

    fn push(&mut self, character: char) {
        if is_dropped(character) {
            return;
        }
        match (character, width::of_char(character)) {
            (_, Some(width)) => {
                self.text.push(character);
                self.width += width;
            }
            ('\t', None) => {
                let columns = TAB_STOP - self.width % TAB_STOP;
                self.push_escape(format_args!("{:columns$}", ""), columns);
            }
            ('\r', None) => self.push_escape(format_args!("\\r"), 2),
            (_, None) if character.is_ascii() => {
                self.push_escape(format_args!("\\x{:02X}", u32::from(character)), 4);
            }
            (_, None) => self.push_escape(format_args!("\\u{:04X}", u32::from(character)), 6),
        }
    }

    fn push_escape(&mut self, text: std::fmt::Arguments<'_>, width: usize) {
        self.text
            .write_fmt(text)
            .expect("writing to a string does not fail");
        self.width += width;
    }
}

/// Whether psql takes the character for broken UTF-8 and leaves it out: the last two code points
/// of each plane, except those of the first plane.
fn is_dropped(character: char) -> bool {
    let code = u32::from(character);
    code > 0xffff && code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::Cell;

    fn lines(value: &str) -> Vec<(String, usize)> {
        Cell::new(value)
            .lines
            .into_iter()
            .map(|line| (line.text, line.width))
            .collect()
    }

    #[test]
    fn a_newline_at_the_end_makes_an_empty_line() {
        assert_eq!(lines("a\n"), [("a".into(), 1), (String::new(), 0)]);
        assert_eq!(lines(""), [(String::new(), 0)]);
    }

    #[test]
    fn tabs_reach_to_the_next_stop() {
        assert_eq!(lines("\t"), [("        ".into(), 8)]);
        assert_eq!(lines("1234567\tx"), [("1234567 x".into(), 9)]);
        assert_eq!(lines("12345678\tx"), [("12345678        x".into(), 17)]);
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(lines("\u{1}\r\u{85}"), [("\\x01\\r\\u0085".into(), 12)]);
    }
}
