//! How an observed text differs from the accepted one, so that it can be seen.

use std::fmt;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// How long to look for the shortest description of a difference; then any will do.
const PATIENCE: Duration = Duration::from_secs(1);

/// The difference between an accepted and an observed text, as a unified diff.
///
/// What cannot be seen on a screen is made visible where it matters: in lines that differ only in
/// white space or invisible characters. Control characters are never shown raw.
///
/// ```
/// use lockstep::snapshot::Diff;
///
/// let diff = Diff::between("A> COMMIT;\nCOMMIT\n", "A> COMMIT;\nROLLBACK\n").expect("different");
/// assert_eq!(diff.first_line, 1);
/// assert_eq!(diff.to_string(), "@@ -1,2 +1,2 @@\n A> COMMIT;\n-COMMIT\n+ROLLBACK\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The first line of the observed text, counted from 0, that is not as accepted. One past its
    /// last line if it only ends too early.
    pub first_line: usize,
    /// The changes, each with the lines around it.
    pub hunks: Vec<Hunk>,
    /// What is hard to see in them.
    pub notes: Vec<String>,
}

/// Changes that stand close together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Where it is: `@@ -1,4 +1,5 @@`.
    pub header: String,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a [`Hunk`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// In which of the texts it is.
    pub side: Side,
    /// The line without its line feed, fit to be shown.
    pub text: String,
}

/// In which text a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In both.
    Both,
    /// In the accepted one only.
    Accepted,
    /// In the observed one only.
    Observed,
    /// In neither: a remark on the line before.
    Remark,
}

impl Side {
    /// The sign at the beginning of the line.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Both => ' ',
            Self::Accepted => '-',
            Self::Observed => '+',
            Self::Remark => '\\',
        }
    }
}

impl Diff {
    /// Compares two texts; `None` if they are the same.
    #[must_use]
    pub fn between(accepted: &str, observed: &str) -> Option<Self> {
        if accepted == observed {
            return None;
        }
        let old: Vec<&str> = accepted.split_inclusive('\n').collect();
        let new: Vec<&str> = observed.split_inclusive('\n').collect();
        let deadline = Instant::now().checked_add(PATIENCE);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        let mut unseen = Unseen::default();
        let hunks = group_diff_ops(ops, CONTEXT)
            .iter()
            .map(|ops| hunk(ops, &old, &new, &mut unseen))
            .collect();
        Some(Self {
            first_line: first_line(&old, &new),
            hunks,
            notes: unseen.notes(),
        })
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hunk in &self.hunks {
            writeln!(f, "{}", hunk.header)?;
            for line in &hunk.lines {
                writeln!(f, "{}{}", line.side.sign(), line.text)?;
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// The first line of `new` that is not as in `old`.
fn first_line(old: &[&str], new: &[&str]) -> usize {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    // Where the accepted text ends and the observed one goes on, the empty line between the two
    // blocks is not yet what is different.
    let goes_on = same == old.len() && new.get(same) == Some(&"\n") && same + 1 < new.len();
    same + usize::from(goes_on)
}

fn hunk(ops: &[DiffOp], old: &[&str], new: &[&str], unseen: &mut Unseen) -> Hunk {
    let mut lines = Vec::new();
    for op in ops {
        let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
        if matches!(op, DiffOp::Equal { .. }) {
            for line in new {
                push_line(&mut lines, Side::Both, line, false);
            }
            continue;
        }
        let kinds: Vec<Option<Kind>> = old
            .iter()
            .zip(new)
            .map(|(old, new)| Kind::of(old, new))
            .collect();
        unseen.count(&kinds, old, new);
        for (side, side_lines) in [(Side::Accepted, old), (Side::Observed, new)] {
            for (at, line) in side_lines.iter().enumerate() {
                let is_unseen = kinds.get(at).is_some_and(Option::is_some);
                push_line(&mut lines, side, line, is_unseen);
            }
        }
    }
    Hunk {
        header: header(ops),
        lines,
    }
}

fn header(ops: &[DiffOp]) -> String {
    let range = |start: usize, end: usize| match end - start {
        // An empty range is named by the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    };
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
        return String::new();
    };
    let old = range(first.old_range().start, last.old_range().end);
    let new = range(first.new_range().start, last.new_range().end);
    format!("@@ -{old} +{new} @@")
}

fn push_line(lines: &mut Vec<DiffLine>, side: Side, line: &str, reveal: bool) {
    let content = line.strip_suffix('\n');
    lines.push(DiffLine {
        side,
        text: visible(content.unwrap_or(line), reveal),
    });
    if content.is_none() {
        lines.push(DiffLine {
            side: Side::Remark,
            text: " no line feed at the end".to_owned(),
        });
    }
}

/// The line with what cannot be seen made visible: always control characters, which could play
/// tricks on a terminal, and all the rest if `reveal` asks for it.
pub(crate) fn visible(line: &str, reveal: bool) -> String {
    let end = line.trim_end_matches(' ').len();
    let mut shown = String::with_capacity(line.len());
    for (at, character) in line.char_indices() {
        match character {
            ' ' if reveal && at >= end => shown.push('·'),
            '\t' if reveal => shown.push('→'),
            '\t' => shown.push('\t'),
            '\r' => shown.push('␍'),
            _ if character.is_control() || is_bidi(character) => push_code(&mut shown, character),
            ' '..='~' => shown.push(character),
            _ if reveal && is_unseen(character) => push_code(&mut shown, character),
            _ => shown.push(character),
        }
    }
    shown
}

fn push_code(shown: &mut String, character: char) {
    shown.push_str(&format!("<U+{:04X}>", u32::from(character)));
}

/// Characters that turn the order of what stands beside them.
fn is_bidi(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character takes no place on a screen, or looks like a space without being one.
fn is_unseen(character: char) -> bool {
    (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        )
}

/// In what two lines differ that cannot be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ending,
    CarriageReturns,
    Trailing,
    Invisible,
    Spacing,
}

impl Kind {
    /// `None` if the difference can be seen.
    fn of(old: &str, new: &str) -> Option<Self> {
        let content = |line: &str| line.strip_suffix('\n').unwrap_or(line).to_owned();
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = |line: &str| {
            line.chars()
                .filter(|character| character.is_whitespace() || !is_unseen(*character))
                .map(|character| {
                    if character.is_whitespace() {
                        ' '
                    } else {
                        character
                    }
                })
                .collect::<String>()
        };
        if content(old) == content(new) {
            Some(Self::Ending)
        } else if old.replace('\r', "") == new.replace('\r', "") {
            Some(Self::CarriageReturns)
        } else if old.trim_end() == new.trim_end() {
            Some(Self::Trailing)
        } else if plain(old) == plain(new) {
            Some(Self::Invisible)
        } else if squeezed(&plain(old)) == squeezed(&plain(new)) {
            Some(Self::Spacing)
        } else {
            None
        }
    }

    /// What the note says.
    const fn description(self) -> &'static str {
        match self {
            Self::Ending => "the line feed at the end of the text",
            Self::CarriageReturns => "carriage returns (shown as ␍)",
            Self::Trailing => "trailing spaces (shown as ·)",
            Self::Invisible => "characters that cannot be told apart (shown as <U+…> or →)",
            Self::Spacing => "the spaces between words",
        }
    }
}

/// Counts changed lines, for the notes.
#[derive(Default)]
struct Unseen {
    /// Kinds and their numbers of pairs of lines, in order of appearance.
    kinds: Vec<(Kind, usize)>,
    /// Changes that can be seen.
    seen: usize,
    /// Lines added or gone that are empty.
    empty: usize,
}

impl Unseen {
    fn count(&mut self, kinds: &[Option<Kind>], old: &[&str], new: &[&str]) {
        for kind in kinds {
            match kind {
                None => self.seen += 1,
                Some(kind) => match self.kinds.iter_mut().find(|(known, _)| known == kind) {
                    Some((_, number)) => *number += 1,
                    None => self.kinds.push((*kind, 1)),
                },
            }
        }
        let pairs = kinds.len();
        let alone = old[pairs..].iter().chain(&new[pairs..]);
        for line in alone {
            if line.trim().is_empty() {
                self.empty += 1;
            } else {
                self.seen += 1;
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let all = self.seen == 0;
        if self.kinds.is_empty() {
            return if all && self.empty > 0 {
                vec!["the texts differ only in empty lines".to_owned()]
            } else {
                Vec::new()
            };
        }
        self.kinds
            .iter()
            .map(|(kind, number)| {
                let what = kind.description();
                match number {
                    _ if all && self.empty == 0 && self.kinds.len() == 1 => {
                        format!("the lines differ only in {what}")
                    }
                    1 => format!("one line differs only in {what}"),
                    number => format!("{number} lines differ only in {what}"),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_no_difference() {
        assert_eq!(Diff::between("a\n", "a\n"), None);
    }

    #[test]
    fn the_first_line_is_where_it_begins() {
        for (accepted, observed, line) in [
            ("a\n\nb\n", "a\n\nc\n", 2),
            ("a\n\nb\n", "x\n\nb\n", 0),
            ("a\n\nb\n", "a\n", 1),
            // A step more: its own line, not the empty one before it.
            ("a\n", "a\n\nb\n", 2),
            ("", "a\n", 0),
            ("a\n", "", 0),
        ] {
            let diff = Diff::between(accepted, observed).expect("different");
            assert_eq!(diff.first_line, line, "{accepted:?} {observed:?}");
        }
    }

    #[test]
    fn differences_can_be_seen() {
        let long: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let pairs = [
            (
                "two places",
                long.clone(),
                long.replace("line 2\n", "line two\n")
                    .replace("line 15\n", ""),
            ),
            (
                "trailing spaces",
                " id | task  \n----\n".into(),
                " id | task\n----\n".into(),
            ),
            ("a tab", "a\tb\n".into(), "a b\n".into()),
            ("a carriage return", "a\r\nb\n".into(), "a\nb\n".into()),
            ("a no-break space", "a\u{a0}b\n".into(), "a b\n".into()),
            ("a zero-width space", "ab\n".into(), "a\u{200b}b\n".into()),
            ("spacing", "a    b\n".into(), "a b\n".into()),
            ("the end", "a\nb".into(), "a\nb\n".into()),
            ("empty lines", "a\n\nb\n".into(), "a\n\n\nb\n".into()),
            (
                "seen and unseen",
                "a \nb\nc\nd \n".into(),
                "a\nb\nx\nd\n".into(),
            ),
            (
                "escape sequences",
                "\u{1b}[31ma\n".into(),
                "b\u{202e}\n".into(),
            ),
            ("nothing accepted", String::new(), "a\n".into()),
        ];
        let shown: Vec<String> = pairs
            .iter()
            .map(|(name, accepted, observed)| {
                let diff = Diff::between(accepted, observed).expect("different");
                format!("== {name}\n{diff}")
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn long_texts_that_have_nothing_in_common_are_compared_in_time() {
        let text =
            |word: &str| -> String { (0..30_000).map(|line| format!("{word} {line}\n")).collect() };
        let began = Instant::now();
        assert!(Diff::between(&text("a"), &text("b")).is_some());
        assert!(began.elapsed() < 10 * PATIENCE);
    }
}
