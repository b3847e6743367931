//! Parameters of a statement.

use std::ops::Range;

use super::lexer::{Lexer, TokenKind};

/// The highest parameter of a statement, and where it stands first: 2 for `$1 + $2`. Strings, which
/// the bodies of functions are, have parameters of their own.
pub(crate) fn highest_parameter(statement: &str) -> Option<(usize, Range<usize>)> {
    let mut highest: Option<(usize, Range<usize>)> = None;
    for token in Lexer::new(statement).filter(|token| token.kind == TokenKind::Other) {
        let number = statement[token.range.clone()].strip_prefix('$');
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        if highest.as_ref().is_none_or(|(other, _)| number > *other) {
            highest = Some((number, token.range));
        }
    }
    highest
}

#[cfg(test)]
mod tests {
    use super::highest_parameter;

    #[test]
    fn parameters_are_told_from_what_looks_like_them() {
        let number = |sql| highest_parameter(sql).map(|(number, _)| number);
        assert_eq!(number("SELECT $2 + $1, $2"), Some(2));
        assert_eq!(number("SELECT $12::int"), Some(12));
        assert_eq!(number("SELECT '$1', \"$2\", $$ $3 $$, a$4 -- $5"), None);
        assert_eq!(number("SELECT 1"), None);
    }
}
