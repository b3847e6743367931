//! The line of a statement where an error is, with a caret below it.

use std::ops::Range;

use super::width;

/// A longer line is cut to this many columns.
const DISPLAY_COLUMNS: usize = 60;

/// How many columns are kept to the right of the caret in a line that is cut, if there are.
const RIGHT_COLUMNS: usize = 10;

/// The two lines `LINE n: …` and the caret for a position, which counts characters from 1; `None`
/// if the position is not in the query, or just behind it.
pub(super) fn render(query: &str, position: u32) -> Option<String> {
    let query = Query::new(query);
    let caret = usize::try_from(position).ok()?.checked_sub(1)?;
    if caret > query.characters.len() {
        return None;
    }
    let line = query.line_at(caret);
    let number = query.line_number(line.start);
    let shown = query.cut(line.clone(), caret);

    let mut text = format!("LINE {number}: ");
    if line.start < shown.start {
        text.push_str("...");
    }
    let indent = text.len() + query.columns[caret] - query.columns[shown.start];
    text.extend(query.characters[shown.clone()].iter().map(|&character| {
        // Its width on a screen depends on where it stands, so a tab is shown as one space.
        if character == '\t' { ' ' } else { character }
    }));
    if shown.end < line.end {
        text.push_str("...");
    }
    Some(format!("{text}\n{:indent$}^\n", ""))
}

/// The characters of a query, and where each begins when all are set in one row.
struct Query {
    characters: Vec<char>,
    /// One more than there are characters: the last is where the text ends.
    columns: Vec<usize>,
}

impl Query {
    fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut columns = Vec::with_capacity(characters.len() + 1);
        let mut column = 0;
        columns.push(column);
        for &character in &characters {
            column += width::in_excerpt(character);
            columns.push(column);
        }
        Self {
            characters,
            columns,
        }
    }

    /// The line a position is in, without its end.
    fn line_at(&self, position: usize) -> Range<usize> {
        let start = self.characters[..position]
            .iter()
            .rposition(|&character| is_line_end(character))
            .map_or(0, |end| end + 1);
        let end = self.characters[position..]
            .iter()
            .position(|&character| is_line_end(character))
            .map_or(self.characters.len(), |length| position + length);
        start..end
    }

    /// The number of the line that begins at `start`; a carriage return and a newline end one line
    /// when they stand together.
    fn line_number(&self, start: usize) -> usize {
        let before = &self.characters[..start];
        let ends = before.iter().filter(|&&c| is_line_end(c)).count();
        let pairs = before
            .windows(2)
            .filter(|&pair| pair == ['\r', '\n'])
            .count();
        1 + ends - pairs
    }

    /// The part of a line that is shown: first the right end of a long line is given up, as long as
    /// the caret keeps its distance from the cut, and then the left end.
    fn cut(&self, line: Range<usize>, caret: usize) -> Range<usize> {
        let Range { mut start, mut end } = line;
        let columns = &self.columns;
        let is_too_long =
            |start: usize, end: usize| columns[end] - columns[start] > DISPLAY_COLUMNS;
        if !is_too_long(start, end) {
            return start..end;
        }
        if columns[start] + DISPLAY_COLUMNS >= columns[caret] + RIGHT_COLUMNS {
            while is_too_long(start, end) {
                end -= 1;
            }
        } else {
            while columns[caret] + RIGHT_COLUMNS < columns[end] {
                end -= 1;
            }
            while is_too_long(start, end) {
                start += 1;
            }
        }
        start..end
    }
}

const fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn the_caret_may_stand_just_behind_the_text_and_no_further() {
        assert_eq!(
            render("ab", 3).as_deref(),
            Some("LINE 1: ab\n          ^\n")
        );
        assert_eq!(render("ab", 4), None);
        assert_eq!(render("ab", 0), None);
    }

    #[test]
    fn lines_are_counted_by_their_ends() {
        assert_eq!(
            render("a\r\nb\rc\n\td", 9).as_deref(),
            Some("LINE 4:  d\n         ^\n")
        );
    }

    #[test]
    fn a_long_line_is_cut_at_both_ends() {
        let query = format!("{}x{}", "a".repeat(100), "b".repeat(100));
        let expected = format!(
            "LINE 1: ...{}x{}...\n{}^\n",
            "a".repeat(50),
            "b".repeat(9),
            " ".repeat(61)
        );
        assert_eq!(render(&query, 101), Some(expected));
    }
}
