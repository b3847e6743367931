//! Tokens → the parts of a spec, with names that are not looked up yet.

use super::super::spec::{SpecSession, SpecStep};
use super::token::{Keyword, Token, TokenKind};
use crate::scenario::{Mistake, Mistakes, Span, Spanned, closest};

/// What stands in a spec.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub setups: Vec<Spanned<String>>,
    pub teardown: Option<Spanned<String>>,
    pub sessions: Vec<SpecSession>,
    pub permutations: Vec<Vec<NamedStep>>,
}

/// A step of a permutation, as it is named.
#[derive(Debug)]
pub(super) struct NamedStep {
    pub name: Spanned<String>,
    pub markers: Vec<NamedMarker>,
}

/// A marker, as it is written.
#[derive(Debug)]
pub(super) enum NamedMarker {
    /// `*`
    WaitsFirst(Span),
    /// `other`
    After(Spanned<String>),
    /// `other notices 2`
    AfterNotices(Spanned<String>, Spanned<u32>),
}

/// Parses a spec of so many bytes. Behind a mistake it goes on with the next word that begins
/// something.
pub(super) fn parse(tokens: &[Token], length: usize, mistakes: &mut Mistakes) -> Parsed {
    let mut parser = Parser {
        tokens,
        at: 0,
        end: Span {
            start: length,
            end: length,
        },
        mistakes,
    };
    let mut parsed = Parsed::default();
    while let Some(token) = parser.next() {
        let keyword = match &token.kind {
            TokenKind::Keyword(keyword) => Some(*keyword),
            // Most likely the rest is right, and would otherwise make no sense.
            TokenKind::Name(name) => parser.misspelt(name, token.span),
            _ => None,
        };
        match keyword {
            Some(Keyword::Setup) => parser.setup(token.span, &mut parsed),
            Some(Keyword::Teardown) => parser.teardown(token.span, &mut parsed),
            Some(Keyword::Session) => parser.session(token.span, &mut parsed),
            Some(Keyword::Step) => parser.step(token.span, &mut parsed),
            Some(Keyword::Permutation) => parser.permutation(token.span, &mut parsed),
            Some(Keyword::Notices) | None => parser.stray(token),
        }
    }
    parsed
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    /// The end of the file.
    end: Span,
    mistakes: &'a mut Mistakes,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<&'a TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    /// Where the next token stands.
    fn here(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or(self.end, |token| token.span)
    }

    fn take_if(&mut self, kind: &TokenKind) -> bool {
        let is_there = self.peek() == Some(kind);
        self.at += usize::from(is_there);
        is_there
    }

    fn report(&mut self, mistake: Mistake) {
        self.mistakes.report(mistake);
    }

    /// Global set-ups stand first, the set-up of a session right behind its name.
    fn setup(&mut self, span: Span, parsed: &mut Parsed) {
        let Some(sql) = self.sql(span, "setup") else {
            return;
        };
        if !parsed.permutations.is_empty() {
            return self.after_permutations(span, "a set-up");
        }
        match parsed.sessions.last_mut() {
            None if parsed.teardown.is_none() => parsed.setups.push(sql),
            None => self.report(
                Mistake::new(span, "a set-up stands behind the tear-down")
                    .label("too late")
                    .help("write all `setup` blocks before `teardown`"),
            ),
            Some(session) if session.setup.is_some() => {
                let message = format!("session `{}` has two set-ups", session.name.value);
                self.report(
                    Mistake::new(span, message)
                        .label("the second")
                        .help("make them one block"),
                );
            }
            Some(session) if !session.steps.is_empty() || session.teardown.is_some() => {
                let message = format!(
                    "the set-up of session `{}` stands behind its steps",
                    session.name.value
                );
                self.report(
                    Mistake::new(span, message)
                        .label("too late")
                        .help("write it before the first `step`"),
                );
            }
            Some(session) => session.setup = Some(sql),
        }
    }

    /// The global tear-down stands before the sessions, that of a session behind its steps.
    fn teardown(&mut self, span: Span, parsed: &mut Parsed) {
        let Some(sql) = self.sql(span, "teardown") else {
            return;
        };
        if !parsed.permutations.is_empty() {
            return self.after_permutations(span, "a tear-down");
        }
        let (place, whose) = match parsed.sessions.last_mut() {
            Some(session) => {
                let whose = format!("session `{}` has", session.name.value);
                (&mut session.teardown, whose)
            }
            None => (&mut parsed.teardown, "there are".to_owned()),
        };
        if place.is_none() {
            *place = Some(sql);
        } else {
            self.report(
                Mistake::new(span, format!("{whose} two tear-downs"))
                    .label("the second")
                    .help("make them one block"),
            );
        }
    }

    fn session(&mut self, span: Span, parsed: &mut Parsed) {
        let name = self.name(span, "session");
        if !parsed.permutations.is_empty() {
            self.after_permutations(span, "a session");
        }
        let name = name.unwrap_or_else(|| Spanned {
            value: String::new(),
            span,
        });
        parsed.sessions.push(SpecSession {
            name,
            setup: None,
            steps: Vec::new(),
            teardown: None,
        });
    }

    fn step(&mut self, span: Span, parsed: &mut Parsed) {
        let name = self.name(span, "step");
        let sql = self.sql(span, "step");
        if !parsed.permutations.is_empty() {
            self.after_permutations(span, "a step");
        }
        let Some(session) = parsed.sessions.last_mut() else {
            self.report(
                Mistake::new(span, "a step stands in no session")
                    .label("belongs to nobody")
                    .help("write `session` and a name before it"),
            );
            return;
        };
        if session.teardown.is_some() {
            let message = format!(
                "a step stands behind the tear-down of session `{}`",
                session.name.value
            );
            self.report(
                Mistake::new(span, message)
                    .label("too late")
                    .help("write the tear-down behind the last step"),
            );
        }
        let Some(name) = name else { return };
        // So that its name is known, even if there is nothing to run.
        let sql = sql.unwrap_or_else(|| Spanned {
            value: String::new(),
            span,
        });
        session.steps.push(SpecStep { name, sql });
    }

    fn permutation(&mut self, span: Span, parsed: &mut Parsed) {
        let mut steps = Vec::new();
        while let Some(TokenKind::Name(name)) = self.peek() {
            let name = Spanned {
                value: name.clone(),
                span: self.here(),
            };
            self.at += 1;
            let markers = if self.take_if(&TokenKind::Mark('(')) {
                self.markers()
            } else {
                Vec::new()
            };
            steps.push(NamedStep { name, markers });
        }
        if steps.is_empty() {
            self.report(
                Mistake::new(span, "a permutation has no steps")
                    .label("nothing to run")
                    .help("name the steps behind it, in their order"),
            );
        }
        parsed.permutations.push(steps);
    }

    /// Markers, behind the `(`.
    fn markers(&mut self) -> Vec<NamedMarker> {
        let open = self.tokens[self.at - 1].span;
        let mut markers = Vec::new();
        loop {
            let here = self.here();
            match self.peek() {
                Some(TokenKind::Mark('*')) => {
                    self.at += 1;
                    markers.push(NamedMarker::WaitsFirst(here));
                }
                Some(TokenKind::Name(name)) => {
                    let name = Spanned {
                        value: name.clone(),
                        span: here,
                    };
                    self.at += 1;
                    markers.extend(self.after(name));
                }
                Some(TokenKind::Mark(')')) if markers.is_empty() => self.report(
                    Mistake::new(here, "there is no marker in the parentheses")
                        .label("one is missing here")
                        .help(
                            "write `*`, the name of a step of another session, or that name and \
                             `notices 2`",
                        ),
                ),
                _ => {
                    self.report(
                        Mistake::new(here, "a marker is missing")
                            .label("expected `*` or the name of a step")
                            .related(open, "in these markers"),
                    );
                    // What follows is no step of the permutation.
                    if matches!(
                        self.peek(),
                        Some(TokenKind::Number(_) | TokenKind::Mark(_) | TokenKind::Sql(_))
                    ) && self.peek() != Some(&TokenKind::Mark(')'))
                    {
                        self.at += 1;
                    }
                }
            }
            if self.take_if(&TokenKind::Mark(')')) {
                return markers;
            }
            if !self.take_if(&TokenKind::Mark(',')) {
                let here = self.here();
                self.report(
                    Mistake::new(here, "the markers of a step do not end")
                        .label("expected `,` or `)`")
                        .related(open, "they begin here"),
                );
                return markers;
            }
        }
    }

    /// What may follow the name of another step: `notices` and how many.
    fn after(&mut self, name: Spanned<String>) -> Option<NamedMarker> {
        if !self.take_if(&TokenKind::Keyword(Keyword::Notices)) {
            return Some(NamedMarker::After(name));
        }
        let here = self.here();
        let Some(TokenKind::Number(number)) = self.peek() else {
            self.report(
                Mistake::new(here, "it is not said how many notices")
                    .label("expected a number")
                    .help(format!("write `{} notices 1`", name.value)),
            );
            return None;
        };
        self.at += 1;
        match number.parse() {
            Ok(value) if value > 0 => Some(NamedMarker::AfterNotices(
                name,
                Spanned { value, span: here },
            )),
            _ => {
                self.report(
                    Mistake::new(here, format!("{number} notices cannot be waited for"))
                        .label("a number from 1 on"),
                );
                None
            }
        }
    }

    /// The block of SQL that a word asks for.
    fn sql(&mut self, span: Span, word: &str) -> Option<Spanned<String>> {
        while let Some(token) = self.tokens.get(self.at)
            && matches!(token.kind, TokenKind::Stray(_))
        {
            self.at += 1;
            let mistake = self.stray_characters(token);
            self.report(mistake);
        }
        if let Some(TokenKind::Sql(sql)) = self.peek() {
            let span = self.here();
            self.at += 1;
            return Some(Spanned {
                value: sql.clone(),
                span,
            });
        }
        let here = self.here();
        self.report(
            Mistake::new(here, format!("`{word}` has no SQL"))
                .label("expected `{`")
                .related(span, "asked for here")
                .help("write it in braces: `{ SELECT 1; }`"),
        );
        None
    }

    /// The name that a word asks for.
    fn name(&mut self, span: Span, word: &str) -> Option<Spanned<String>> {
        let here = self.here();
        match self.peek() {
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                Some(Spanned {
                    value: name.clone(),
                    span: here,
                })
            }
            Some(TokenKind::Keyword(keyword)) if self.is_name_of(word) => {
                self.at += 1;
                let keyword = keyword.as_str();
                self.report(
                    Mistake::new(here, format!("`{keyword}` is a word of the format"))
                        .label("not a name")
                        .help(format!("as a name it is quoted: `\"{keyword}\"`")),
                );
                None
            }
            _ => {
                self.report(
                    Mistake::new(here, format!("`{word}` has no name"))
                        .label("expected a name")
                        .related(span, "asked for here"),
                );
                None
            }
        }
    }

    /// Whether the keyword that comes next stands where the name of something is meant.
    fn is_name_of(&self, word: &str) -> bool {
        let behind = self.tokens.get(self.at + 1).map(|token| &token.kind);
        match self.peek() {
            Some(TokenKind::Keyword(Keyword::Setup | Keyword::Teardown)) if word == "session" => {
                // `session setup { … }` has lost its name, not quoted it badly.
                matches!(behind, Some(TokenKind::Keyword(_)))
            }
            _ => matches!(behind, Some(TokenKind::Sql(_) | TokenKind::Keyword(_))),
        }
    }

    /// Something that begins nothing; what goes with it is passed over.
    fn stray(&mut self, token: &Token) {
        let mistake = match &token.kind {
            TokenKind::Name(name) => Mistake::new(token.span, format!("`{name}` begins nothing"))
                .label("unknown word")
                .help("here may stand `setup`, `teardown`, `session`, `step` or `permutation`"),
            TokenKind::Stray(_) => self.stray_characters(token),
            TokenKind::Sql(_) => {
                let brace = Span {
                    start: token.span.start,
                    end: token.span.start + 1,
                };
                Mistake::new(brace, "a block of SQL belongs to nothing")
                    .label("begins here")
                    .help("write `setup`, `teardown` or `step` and a name before it")
            }
            TokenKind::Keyword(keyword) => {
                Mistake::new(token.span, format!("`{}` stands alone", keyword.as_str()))
                    .label("belongs into the parentheses behind a step")
            }
            TokenKind::Number(text) => {
                Mistake::new(token.span, format!("`{text}` begins nothing")).label("unexpected")
            }
            TokenKind::Mark(mark) => {
                Mistake::new(token.span, format!("`{mark}` begins nothing")).label("unexpected")
            }
        };
        self.report(mistake);
        while self
            .peek()
            .is_some_and(|kind| !matches!(kind, TokenKind::Keyword(_)))
        {
            self.at += 1;
        }
    }

    /// The keyword that a word was probably meant to be.
    fn misspelt(&mut self, name: &str, span: Span) -> Option<Keyword> {
        let words = Keyword::ALL
            .into_iter()
            .filter(|keyword| *keyword != Keyword::Notices);
        let meant = closest(self.mistakes, name, words.clone().map(Keyword::as_str))?;
        self.report(
            Mistake::new(span, format!("`{name}` begins nothing"))
                .label("unknown word")
                .help(format!("did you mean `{meant}`?")),
        );
        words.into_iter().find(|keyword| keyword.as_str() == meant)
    }

    fn stray_characters(&self, token: &Token) -> Mistake {
        let TokenKind::Stray(text) = &token.kind else {
            return Mistake::new(token.span, "this begins nothing");
        };
        let is_after_sql = self
            .at
            .checked_sub(2)
            .is_some_and(|before| matches!(self.tokens[before].kind, TokenKind::Sql(_)));
        let help = match text.as_bytes().first() {
            Some(b'\'' | b'}' | b']' | b'"') if is_after_sql => Some(
                "the first `}` ends a block of SQL, also within a quoted string: write the SQL \
                 without it, an array as `ARRAY[1, 2]`"
                    .to_owned(),
            ),
            Some(b';') if is_after_sql => Some("leave it out".to_owned()),
            Some(b'-' | b'/') => Some("a comment outside of SQL begins with `#`".to_owned()),
            _ => None,
        };
        let message = format!("`{text}` means nothing outside of a block of SQL");
        Mistake::new(token.span, message)
            .label("unexpected")
            .maybe_help(help)
    }

    fn after_permutations(&mut self, span: Span, what: &str) {
        self.report(
            Mistake::new(span, format!("{what} stands behind a permutation"))
                .label("too late")
                .help("write the permutations at the end of the file"),
        );
    }
}
