//! Patterns in which `*` stands for any text.

/// Whether the whole text is what the pattern says.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut rest) = text.strip_prefix(head) else {
        return false;
    };
    let mut pieces: Vec<&str> = tail.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        // The earliest place leaves the most text to the pieces behind.
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "any\ntext"),
            (
                "could not obtain lock*",
                "could not obtain lock on row in relation \"jobs\"",
            ),
            ("*deadlock*", "a deadlock!"),
            ("a*b*c", "abbc"),
            ("a*a", "aa"),
            ("*ab", "aab"),
            ("ä*ö", "äüö"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "x"),
            ("a*a", "a"),
            ("a*b*b", "ab"),
            ("lock*", "a lock"),
            ("*lock", "locks"),
            ("a.c", "abc"),
            ("Deadlock", "deadlock"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
