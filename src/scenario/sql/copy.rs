//! COPY from the client.

use std::ops::Range;

use super::lexer::{Lexer, TokenKind};

/// The place of `FROM STDIN` in a COPY that asks the client for data.
pub(crate) fn copy_from_stdin(statement: &str) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    let mut is_first = true;
    let mut from: Option<Range<usize>> = None;
    for token in Lexer::new(statement) {
        let text = &statement[token.range.clone()];
        match token.kind {
            TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment => continue,
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if std::mem::replace(&mut is_first, false) && !text.eq_ignore_ascii_case("copy") {
            return None;
        }
        if let Some(from) = &from
            && text.eq_ignore_ascii_case("stdin")
        {
            return Some(from.start..token.range.end);
        }
        let is_from = depth == 0 && text.eq_ignore_ascii_case("from");
        from = is_from.then_some(token.range);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::copy_from_stdin;

    #[test]
    fn only_a_copy_from_the_client_is_found() {
        let found = |sql: &'static str| copy_from_stdin(sql).map(|range| &sql[range]);
        assert_eq!(found("COPY t FROM STDIN;"), Some("FROM STDIN"));
        assert_eq!(
            found("/* in */ copy t (a, b) from -- the client\n stdin with (format csv)"),
            Some("from -- the client\n stdin")
        );
        assert_eq!(found("COPY t TO STDOUT"), None);
        assert_eq!(found("COPY (SELECT 1 FROM stdin) TO STDOUT"), None);
        assert_eq!(found("SELECT 'COPY' FROM stdin"), None);
        assert_eq!(found("COPY t FROM 'stdin'"), None);
    }
}
