//! Tokens, as far as they matter to where a statement ends: PostgreSQL's lexical rules with
//! `standard_conforming_strings` on.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// White space.
    Space,
    /// `-- …`, without the newline.
    LineComment,
    /// `/* … */`, with those nested in it.
    BlockComment,
    /// `'…'`, with the letters that may stand before the quote.
    String,
    /// `"…"`, with the `U&` that may stand before the quote.
    QuotedIdentifier,
    /// `$tag$…$tag$`.
    DollarQuote,
    /// A key word or an identifier.
    Word,
    /// `;`
    Semicolon,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `\`
    Backslash,
    /// A number, a parameter, (a piece of) an operator, anything else.
    Other,
}

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
    /// Whether what was opened is closed, too; a token that is not reaches to the end.
    pub(super) terminated: bool,
}

impl Token {
    /// Where the text within `$tag$…$tag$` stands, if this is such a quote and ends.
    pub(super) fn within_dollars(&self, sql: &str) -> Option<Range<usize>> {
        if self.kind != TokenKind::DollarQuote || !self.terminated {
            return None;
        }
        let tag = sql[self.range.clone()][1..].find('$')? + 2;
        let inside = self.range.start + tag..self.range.end - tag;
        (inside.start <= inside.end).then_some(inside)
    }
}

/// Gives one token after another. Together they are the whole text.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(sql: &'a str) -> Self {
        Self {
            bytes: sql.as_bytes(),
            at: 0,
        }
    }

    /// Passes over the rest of the line, and gives the end of what was passed over.
    pub(super) fn skip_line(&mut self) -> usize {
        self.take_while(|byte| byte != b'\n');
        self.at
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn follows(&self, text: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(text)
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Takes the token that begins here; says what it is, and whether it is terminated.
    fn token(&mut self, first: u8) -> (TokenKind, bool) {
        if let Some(quoted) = self.quoted() {
            return quoted;
        }
        if is_space(first) {
            self.take_while(is_space);
            return (TokenKind::Space, true);
        }
        if self.follows(b"--") {
            self.take_while(|byte| byte != b'\n' && byte != b'\r');
            return (TokenKind::LineComment, true);
        }
        if is_word_start(first) {
            let start = self.at;
            self.take_while(is_word);
            // psql does not count the u of what might have become U&"…" as a word.
            let bare_u = self.at == start + 1 && first.eq_ignore_ascii_case(&b'u');
            if bare_u && self.peek(0) == Some(b'&') {
                return (TokenKind::Other, true);
            }
            return (TokenKind::Word, true);
        }
        if first.is_ascii_digit() {
            self.number();
            return (TokenKind::Other, true);
        }
        self.at += 1;
        let kind = match first {
            b';' => TokenKind::Semicolon,
            b'(' => TokenKind::Open,
            b')' => TokenKind::Close,
            b'\\' => TokenKind::Backslash,
            b'$' if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) => {
                self.at = self.digits().max(self.at);
                TokenKind::Other
            }
            b':' if self.peek(0) == Some(b':') => {
                self.at += 1;
                TokenKind::Other
            }
            b':' => {
                // A psql variable; it is left alone, but it is no key word either.
                self.take_while(is_tag);
                TokenKind::Other
            }
            _ => TokenKind::Other,
        };
        (kind, true)
    }

    /// Takes what is quoted in whatever way, if that is what begins here.
    fn quoted(&mut self) -> Option<(TokenKind, bool)> {
        if self.follows(b"/*") {
            return Some((TokenKind::BlockComment, self.block_comment()));
        }
        if let Some(tag) = self.dollar_tag() {
            return Some((TokenKind::DollarQuote, self.dollar_quote(tag)));
        }
        let (prefix, quote) = match (self.peek(0)?, self.peek(1), self.peek(2)) {
            (quote @ (b'\'' | b'"'), _, _) => (0, quote),
            (b'e' | b'E' | b'b' | b'B' | b'x' | b'X' | b'n' | b'N', Some(b'\''), _) => (1, b'\''),
            (b'u' | b'U', Some(b'&'), Some(quote @ (b'\'' | b'"'))) => (2, quote),
            _ => return None,
        };
        let escapes = prefix == 1 && self.bytes[self.at].eq_ignore_ascii_case(&b'e');
        self.at += prefix + 1;
        let kind = if quote == b'"' {
            TokenKind::QuotedIdentifier
        } else {
            TokenKind::String
        };
        Some((kind, self.through_quote(quote, escapes)))
    }

    /// Takes everything up to a quote that is not doubled (nor, where there are escapes, escaped).
    fn through_quote(&mut self, quote: u8, escapes: bool) -> bool {
        while let Some(byte) = self.peek(0) {
            let doubled = byte == quote && self.peek(1) == Some(quote);
            let escaped = escapes && byte == b'\\' && self.peek(1).is_some();
            self.at += if doubled || escaped { 2 } else { 1 };
            if byte == quote && !doubled {
                return true;
            }
        }
        false
    }

    fn block_comment(&mut self) -> bool {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            if self.follows(b"/*") {
                depth += 1;
                self.at += 2;
            } else if self.follows(b"*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return true;
                }
            } else {
                self.at += 1;
            }
        }
        false
    }

    /// The tag, with both its dollars, if one stands here.
    fn dollar_tag(&self) -> Option<&'a [u8]> {
        let rest = self.bytes[self.at..].strip_prefix(b"$")?;
        let length = rest.iter().position(|byte| !is_tag(*byte))?;
        let starts_well = length == 0 || is_word_start(rest[0]);
        (rest[length] == b'$' && starts_well).then(|| &self.bytes[self.at..=self.at + length + 1])
    }

    fn dollar_quote(&mut self, tag: &[u8]) -> bool {
        self.at += tag.len();
        while self.at < self.bytes.len() {
            if self.follows(tag) {
                self.at += tag.len();
                return true;
            }
            self.at += 1;
        }
        false
    }

    /// Takes a number, and what is glued to it: letters, which make it an error, and dollars
    /// behind letters, which therefore begin no dollar quote. The longest reading wins.
    fn number(&mut self) {
        let mut longest = self.digits();
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            longest = longest.max(self.digits());
        }
        if matches!(
            (self.peek(0), self.peek(1)),
            (Some(b'e' | b'E'), Some(b'+' | b'-'))
        ) {
            // The sign is the number's even where digits are missing: `1e--` begins no comment.
            self.at += 2;
            if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                longest = longest.max(self.digits());
            }
        }
        self.at = self.at.max(longest);
    }

    /// Takes digits, also those behind an underscore, and gives the end of the word that is glued
    /// to the digits before the first underscore.
    fn digits(&mut self) -> usize {
        self.take_while(|byte| byte.is_ascii_digit());
        let glued = &self.bytes[self.at..];
        let junk = match glued.first() {
            Some(first) if is_word_start(*first) => {
                glued.iter().take_while(|byte| is_word(**byte)).count()
            }
            _ => 0,
        };
        let end = self.at + junk;
        while self.peek(0) == Some(b'_') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            self.take_while(|byte| byte.is_ascii_digit());
        }
        end
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let (kind, terminated) = self.token(self.peek(0)?);
        Some(Token {
            kind,
            range: start..self.at,
            terminated,
        })
    }
}

/// The bytes of the token that begins at a byte of the text; empty at the end.
pub(crate) fn token_at(sql: &str, at: usize) -> Range<usize> {
    match Lexer::new(&sql[at..]).next() {
        Some(token) => at..at + token.range.end,
        None => at..at,
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

const fn is_tag(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

const fn is_word(byte: u8) -> bool {
    is_tag(byte) || byte == b'$'
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use squawk_lexer::{LiteralKind, TokenKind as Theirs};

    use super::*;

    /// What must be cut alike by whoever reads PostgreSQL's SQL.
    fn kind_of(theirs: Theirs) -> Option<TokenKind> {
        match theirs {
            Theirs::LineComment => Some(TokenKind::LineComment),
            Theirs::BlockComment { .. } => Some(TokenKind::BlockComment),
            Theirs::QuotedIdent { .. } => Some(TokenKind::QuotedIdentifier),
            Theirs::Literal { kind } => match kind {
                LiteralKind::Int { .. } | LiteralKind::Numeric { .. } => None,
                LiteralKind::DollarQuotedString { .. } => Some(TokenKind::DollarQuote),
                _ => Some(TokenKind::String),
            },
            _ => None,
        }
    }

    #[test]
    fn quotes_and_comments_are_where_another_lexer_sees_them() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/split");
        let mut compared = 0;
        for entry in fs::read_dir(folder).expect("the folder of the cases") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "sql") {
                continue;
            }
            // The other lexer reads on where PostgreSQL sees a number with junk glued to it.
            if path
                .file_stem()
                .is_some_and(|name| name == "malformed_numbers")
            {
                continue;
            }
            let sql = fs::read_to_string(&path).expect("the SQL");
            let mut at = 0;
            let theirs: Vec<(TokenKind, &str, usize)> = squawk_lexer::tokenize(&sql)
                .filter_map(|token| {
                    let start = at;
                    at += token.len as usize;
                    kind_of(token.kind).map(|kind| (kind, &sql[start..at], start))
                })
                .collect();
            let ours: Vec<(TokenKind, &str, usize)> = Lexer::new(&sql)
                .filter(|token| {
                    matches!(
                        token.kind,
                        TokenKind::LineComment
                            | TokenKind::BlockComment
                            | TokenKind::QuotedIdentifier
                            | TokenKind::String
                            | TokenKind::DollarQuote
                    )
                })
                .map(|token| (token.kind, &sql[token.range.clone()], token.range.start))
                .collect();
            assert_eq!(ours, theirs, "{}", path.display());
            compared += ours.len();
        }
        assert!(compared > 50, "only {compared} tokens were compared");
    }

    #[test]
    fn tokens_are_the_whole_text() {
        let sql = "SELECT 'a', $$b$$ -- c\n/* d */ FROM e$1 WHERE \"f\" <= .5;\\g 'open";
        let pieces: String = Lexer::new(sql).map(|token| &sql[token.range]).collect();
        assert_eq!(pieces, sql);
    }
}
