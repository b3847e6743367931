//! SQL as words and brackets, as far as a clause must be found in it.

use std::ops::Range;

use squawk_lexer::{LiteralKind, TokenKind};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Open,
    Close,
    Comma,
    Semicolon,
    /// `$1`
    Parameter,
    Other,
}

/// A token that is no white space and no comment.
#[derive(Debug, Clone)]
pub struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
    /// How many brackets are open around it; a bracket counts as outside of itself.
    pub depth: usize,
}

/// SQL and its tokens.
pub struct Tokens<'a> {
    pub sql: &'a str,
    pub all: Vec<Token>,
    /// Where the bodies of dollar quotes stand.
    pub bodies: Vec<Range<usize>>,
}

impl<'a> Tokens<'a> {
    /// Cuts SQL into tokens.
    pub fn of(sql: &'a str) -> Self {
        let (mut all, mut bodies) = (Vec::new(), Vec::new());
        let (mut at, mut depth) = (0, 0_usize);
        for token in squawk_lexer::tokenize(sql) {
            let range = at..at + token.len as usize;
            at = range.end;
            let kind = match token.kind {
                TokenKind::Whitespace
                | TokenKind::LineComment
                | TokenKind::BlockComment { .. }
                | TokenKind::Eof => continue,
                TokenKind::Ident => Kind::Word,
                TokenKind::OpenParen => Kind::Open,
                TokenKind::CloseParen => Kind::Close,
                TokenKind::Comma => Kind::Comma,
                TokenKind::Semi => Kind::Semicolon,
                TokenKind::PositionalParam { .. } => Kind::Parameter,
                TokenKind::Literal {
                    kind: LiteralKind::DollarQuotedString { .. },
                } => {
                    bodies.extend(body(sql, &range));
                    Kind::Other
                }
                _ => Kind::Other,
            };
            if kind == Kind::Close {
                depth = depth.saturating_sub(1);
            }
            all.push(Token { kind, range, depth });
            if kind == Kind::Open {
                depth += 1;
            }
        }
        Self { sql, all, bodies }
    }

    /// Whether the words from a token on are these, whatever their case.
    pub fn follow(&self, at: usize, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(ahead, word)| self.is(at + ahead, word))
    }

    /// Whether a token is this word.
    pub fn is(&self, at: usize, word: &str) -> bool {
        self.word(at)
            .is_some_and(|text| text.eq_ignore_ascii_case(word))
    }

    /// Whether a token is one of these words.
    pub fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    /// A token's text, if it is a word.
    pub fn word(&self, at: usize) -> Option<&'a str> {
        let token = self.all.get(at)?;
        (token.kind == Kind::Word).then(|| &self.sql[token.range.clone()])
    }

    /// What a token is.
    pub fn kind(&self, at: usize) -> Option<Kind> {
        self.all.get(at).map(|token| token.kind)
    }

    /// The text from one token to another, both included.
    pub fn range(&self, first: usize, last: usize) -> Range<usize> {
        self.all[first].range.start..self.all[last].range.end
    }

    /// The bracket that closes the one at a token.
    pub fn closing(&self, open: usize) -> Option<usize> {
        let depth = self.all[open].depth;
        (open + 1..self.all.len()).find(|&at| {
            let token = &self.all[at];
            token.kind == Kind::Close && token.depth == depth
        })
    }

    /// The first token of the statement that a token belongs to.
    pub fn statement_of(&self, at: usize) -> usize {
        (0..=at)
            .rev()
            .find(|&at| self.begins_statement(at))
            .unwrap_or(0)
    }

    /// Whether a statement begins at a token.
    pub fn begins_statement(&self, at: usize) -> bool {
        at == 0 || self.kind(at - 1) == Some(Kind::Semicolon) || self.is_any(at - 1, &["BEGIN"])
    }
}

/// What stands between the tags of a dollar quote.
fn body(sql: &str, quote: &Range<usize>) -> Option<Range<usize>> {
    let tag = sql[quote.clone()].get(1..)?.find('$')? + 2;
    (quote.len() >= 2 * tag).then(|| quote.start + tag..quote.end - tag)
}
