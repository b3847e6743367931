//! Text → tokens.

use crate::scenario::{Mistake, Mistakes, Span};

/// A token of a spec, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// One of the words that structure a spec.
    Keyword(Keyword),
    /// A name, bare or quoted.
    Name(String),
    /// A whole number.
    Number(String),
    /// SQL in braces, without the blanks (not the line breaks) at both ends.
    Sql(String),
    /// `*`, `(`, `)` or `,`.
    Mark(char),
    /// Characters that begin nothing.
    Stray(String),
}

/// The words that structure a spec. As names they must be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Setup,
    Teardown,
    Session,
    Step,
    Permutation,
    Notices,
}

impl Keyword {
    pub(super) const ALL: [Self; 6] = [
        Self::Setup,
        Self::Teardown,
        Self::Session,
        Self::Step,
        Self::Permutation,
        Self::Notices,
    ];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
            Self::Session => "session",
            Self::Step => "step",
            Self::Permutation => "permutation",
            Self::Notices => "notices",
        }
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c' | b'\x0b')
}

const fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

const fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit() || byte == b'$'
}

/// Whether a byte ends a row of those that mean nothing.
const fn begins_token(byte: u8) -> bool {
    is_blank(byte)
        || begins_name(byte)
        || byte.is_ascii_digit()
        || matches!(byte, b'\n' | b'#' | b'*' | b'(' | b')' | b',' | b'"' | b'{')
}

/// Cuts a spec into tokens; what is none is a mistake, behind which it goes on.
pub(super) fn tokens(text: &str, mistakes: &mut Mistakes) -> Vec<Token> {
    let bytes = text.as_bytes();
    let while_ = |from: usize, holds: fn(u8) -> bool| {
        let run = bytes[from..].iter().take_while(|byte| holds(**byte));
        from + run.count()
    };
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b'\n' => {
                at += 1;
                continue;
            }
            byte if is_blank(*byte) => {
                at += 1;
                continue;
            }
            b'#' => {
                at = while_(at, |byte| byte != b'\n');
                continue;
            }
            b'*' | b'(' | b')' | b',' => {
                at += 1;
                TokenKind::Mark(char::from(*byte))
            }
            b'0'..=b'9' => {
                at = while_(at, |byte| byte.is_ascii_digit());
                TokenKind::Number(text[start..at].to_owned())
            }
            b'"' => match quoted(text, at) {
                Ok((name, end)) => {
                    at = end;
                    TokenKind::Name(name)
                }
                Err(end) => {
                    at = end;
                    mistakes.report(
                        Mistake::new(
                            Span { start, end },
                            "a quoted name does not end on its line",
                        )
                        .label("begins here")
                        .help("close it with `\"`; a `\"` within is written twice"),
                    );
                    continue;
                }
            },
            b'{' => {
                let Some(length) = text[at..].find('}') else {
                    let brace = Span {
                        start,
                        end: start + 1,
                    };
                    mistakes.report(
                        Mistake::new(brace, "a block of SQL does not end")
                            .label("begins here")
                            .help("close it with `}`"),
                    );
                    return tokens;
                };
                let sql = text[at + 1..at + length]
                    .trim_start_matches(|c: char| c.is_ascii() && is_blank(c as u8))
                    .trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
                at += length + 1;
                TokenKind::Sql(sql.to_owned())
            }
            byte if begins_name(*byte) => {
                at = while_(at, continues_name);
                let word = &text[start..at];
                let keyword = Keyword::ALL.into_iter().find(|k| k.as_str() == word);
                keyword.map_or_else(|| TokenKind::Name(word.to_owned()), TokenKind::Keyword)
            }
            _ => {
                at = while_(at, |byte| !begins_token(byte));
                TokenKind::Stray(text[start..at].to_owned())
            }
        };
        tokens.push(Token {
            kind,
            span: Span { start, end: at },
        });
    }
    tokens
}

/// The name in quotes and the end behind it; or where the line ends that it should end on.
fn quoted(text: &str, start: usize) -> Result<(String, usize), usize> {
    let mut name = String::new();
    let mut characters = text[start + 1..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        let at = start + 1 + offset;
        match character {
            '"' if characters.next_if(|(_, next)| *next == '"').is_some() => name.push('"'),
            '"' => return Ok((name, at + 1)),
            '\n' => return Err(at),
            other => name.push(other),
        }
    }
    Err(text.len())
}
