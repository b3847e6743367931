//! Display width of characters, as psql computes it.

use super::width_table::{WIDE, ZERO};

/// How many columns psql counts for a character; `None` for a control character.
pub(super) fn of_char(character: char) -> Option<usize> {
    let code = u32::from(character);
    match code {
        0x20..0x7f => Some(1),
        0..0x20 | 0x7f..0xa0 => None,
        _ if is_in(ZERO, code) => Some(0),
        _ if is_in(WIDE, code) => Some(2),
        _ => Some(1),
    }
}

/// How many columns psql counts for a text of one line without control characters.
pub(crate) fn of_text(text: &str) -> usize {
    text.chars().filter_map(of_char).sum()
}

/// How many columns psql counts for a character when it places the caret of an error: every
/// character takes at least one there, also one that is drawn over its neighbour.
pub(super) fn in_excerpt(character: char) -> usize {
    of_char(character).unwrap_or(0).max(1)
}

/// Whether a code point is in one of the ranges whose bounds are listed: the first code point in
/// the range and the first after it, by turns.
fn is_in(bounds: &[u32], code: u32) -> bool {
    bounds.partition_point(|&bound| bound <= code) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::{in_excerpt, of_char};

    #[test]
    fn ranges_include_their_first_and_last_characters() {
        for (character, width) in [
            ('\u{2ff}', 1),
            ('\u{300}', 0),
            ('\u{36f}', 0),
            ('\u{370}', 1),
            ('\u{10ff}', 1),
            ('\u{1100}', 2),
            ('\u{115f}', 2),
            ('\u{1160}', 1),
            ('\u{200d}', 0),
            ('\u{10fffd}', 1),
        ] {
            assert_eq!(of_char(character), Some(width), "{character:?}");
        }
    }

    #[test]
    fn control_characters_have_no_width() {
        for character in ['\0', '\t', '\u{1f}', '\u{7f}', '\u{80}', '\u{9f}'] {
            assert_eq!(of_char(character), None, "{character:?}");
        }
    }

    #[test]
    fn an_excerpt_gives_every_character_a_column() {
        assert_eq!(in_excerpt('\u{301}'), 1);
        assert_eq!(in_excerpt('\u{7f}'), 1);
        assert_eq!(in_excerpt('界'), 2);
    }
}
