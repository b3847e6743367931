//! Where statements begin and end.

use std::ops::Range;

use super::lexer::{Lexer, Token, TokenKind};
use super::problem::{SplitProblem, SplitProblemKind};
use super::statement::Statement;

/// Cuts SQL into statements: each is, to the byte, what psql 18 sends when it reads the text from
/// standard input (with no psql variable set). A final statement may lack its semicolon; a text
/// of nothing but white space and comments has no statement.
///
/// ```
/// use lockstep::scenario::split;
///
/// let sql = "BEGIN; -- now\nSELECT ';'";
/// let statements = split(sql).expect("it is well formed");
/// let texts: Vec<&str> = statements.iter().map(|one| one.text.as_str()).collect();
/// assert_eq!(texts, ["BEGIN;", "SELECT ';'"]);
/// assert_eq!(statements[1].range, 14..24);
/// ```
///
/// # Errors
///
/// Everything that is wrong, in the order of the text: backslash commands, and what is opened and
/// never closed.
pub fn split(sql: &str) -> Result<Vec<Statement>, Vec<SplitProblem>> {
    cut(sql, false)
}

/// Takes SQL as one message of any number of statements: to the byte what psql 18 sends when the
/// semicolons, all but the last, have a backslash before them. `None` for a text without a
/// statement.
///
/// # Errors
///
/// Those of [`split`].
pub fn as_one_message(sql: &str) -> Result<Option<Statement>, Vec<SplitProblem>> {
    Ok(cut(sql, true)?.pop())
}

fn cut(sql: &str, is_one_message: bool) -> Result<Vec<Statement>, Vec<SplitProblem>> {
    let mut splitter = Splitter::new(sql, is_one_message);
    let mut lexer = Lexer::new(sql);
    while let Some(token) = lexer.next() {
        if token.kind == TokenKind::Backslash {
            let end = lexer.skip_line();
            splitter.problem(token.range.start..end, SplitProblemKind::BackslashCommand);
        } else {
            splitter.accept(&token);
        }
    }
    splitter.finish()
}

struct Splitter<'a> {
    sql: &'a str,
    /// Whether statements are not taken apart.
    is_one_message: bool,
    statements: Vec<Statement>,
    problems: Vec<SplitProblem>,
    /// Where the statement under way begins.
    start: Option<usize>,
    /// Whether it holds more than comments.
    substance: bool,
    /// Where the last statement ends that is not taken apart from those before it.
    last_end: Option<usize>,
    /// The newlines of empty lines in it.
    dropped: Vec<usize>,
    /// The parentheses that are open.
    parentheses: Vec<Range<usize>>,
    /// The BEGINs and CASEs that are open.
    blocks: Vec<Range<usize>>,
    routine: RoutineWatch,
}

impl<'a> Splitter<'a> {
    const fn new(sql: &'a str, is_one_message: bool) -> Self {
        Self {
            sql,
            is_one_message,
            statements: Vec::new(),
            problems: Vec::new(),
            start: None,
            substance: false,
            last_end: None,
            dropped: Vec::new(),
            parentheses: Vec::new(),
            blocks: Vec::new(),
            routine: RoutineWatch::new(),
        }
    }

    fn accept(&mut self, token: &Token) {
        // psql suppresses these two, and no other comments, before a statement.
        let blank = matches!(token.kind, TokenKind::Space | TokenKind::LineComment);
        if self.start.is_none() {
            if blank {
                return;
            }
            self.start = Some(token.range.start);
        }
        if !blank && token.kind != TokenKind::BlockComment {
            self.substance = true;
        }
        if !token.terminated {
            self.unterminated(token);
        }
        match token.kind {
            TokenKind::Space => self.drop_empty_lines(&token.range),
            TokenKind::Open => self.parentheses.push(token.range.clone()),
            TokenKind::Close => {
                // One too many is the server's business.
                self.parentheses.pop();
            }
            TokenKind::Word => self.word(token),
            TokenKind::Semicolon if self.parentheses.is_empty() && self.blocks.is_empty() => {
                self.semicolon(token.range.end);
            }
            _ => {}
        }
    }

    /// psql reads line by line, and passes over lines with nothing at all in them.
    fn drop_empty_lines(&mut self, space: &Range<usize>) {
        let bytes = self.sql.as_bytes();
        let empty = (space.start + 1..space.end)
            .filter(|at| bytes[*at] == b'\n' && bytes[*at - 1] == b'\n');
        self.dropped.extend(empty);
    }

    fn word(&mut self, token: &Token) {
        if !self.parentheses.is_empty() {
            return;
        }
        let word = &self.sql[token.range.clone()];
        self.routine.see(word);
        if !self.routine.is_defined() {
            return;
        }
        let opens = word.eq_ignore_ascii_case("begin")
            || (word.eq_ignore_ascii_case("case") && !self.blocks.is_empty());
        if opens {
            self.blocks.push(token.range.clone());
        } else if word.eq_ignore_ascii_case("end") {
            self.blocks.pop();
        }
    }

    fn unterminated(&mut self, token: &Token) {
        let text = &self.sql[token.range.clone()];
        let (kind, closer) = match token.kind {
            TokenKind::String => (SplitProblemKind::UnterminatedString, '\''),
            TokenKind::QuotedIdentifier => (SplitProblemKind::UnterminatedIdentifier, '"'),
            TokenKind::DollarQuote => (SplitProblemKind::UnterminatedDollarQuote, '$'),
            _ => (SplitProblemKind::UnterminatedComment, '*'),
        };
        // The opening: up to the quote, or up to the second dollar of a tag.
        let skip = usize::from(closer == '$');
        let length = text[skip..]
            .find(closer)
            .map_or(text.len(), |at| skip + at + 1);
        self.problem(token.range.start..token.range.start + length, kind);
        // What else is open is so because of this.
        self.parentheses.clear();
        self.blocks.clear();
    }

    fn problem(&mut self, range: Range<usize>, kind: SplitProblemKind) {
        self.problems.push(SplitProblem { range, kind });
    }

    fn semicolon(&mut self, end: usize) {
        if self.is_one_message {
            self.last_end = Some(end);
            self.substance = false;
            self.routine = RoutineWatch::new();
        } else {
            self.end(end);
        }
    }

    /// The statement under way ends.
    fn end(&mut self, end: usize) {
        if let Some(start) = self.start.take() {
            self.statements
                .push(Statement::cut(self.sql, start..end, &self.dropped));
        }
        self.substance = false;
        self.dropped.clear();
        self.routine = RoutineWatch::new();
    }

    fn finish(mut self) -> Result<Vec<Statement>, Vec<SplitProblem>> {
        if let Some(range) = self.parentheses.first().cloned() {
            self.problem(range, SplitProblemKind::UnclosedParenthesis);
        } else if let Some(range) = self.blocks.first().cloned() {
            self.problem(range, SplitProblemKind::UnclosedBegin);
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        if self.substance {
            // A line gets its newline when another line follows it.
            let kept = self.sql.trim_end_matches('\n').len();
            self.end(kept);
        } else if let Some(end) = self.last_end {
            self.end(end);
        }
        Ok(self.statements)
    }
}

/// Watches the first words of a statement for the definition of a function or a procedure, whose
/// body may be a block of statements.
struct RoutineWatch {
    words: [u8; 4],
    seen: usize,
}

impl RoutineWatch {
    const fn new() -> Self {
        Self {
            words: [0; 4],
            seen: 0,
        }
    }

    fn see(&mut self, word: &str) {
        const TELLING: [(&str, u8); 5] = [
            ("create", b'c'),
            ("or", b'o'),
            ("replace", b'r'),
            ("function", b'f'),
            ("procedure", b'p'),
        ];
        if let Some(place) = self.words.get_mut(self.seen) {
            *place = TELLING
                .iter()
                .find(|(telling, _)| word.eq_ignore_ascii_case(telling))
                .map_or(0, |(_, letter)| *letter);
        }
        self.seen += 1;
    }

    const fn is_defined(&self) -> bool {
        matches!(
            self.words,
            [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces that are wrong, and why.
    fn problems(sql: &str) -> Vec<(&str, SplitProblemKind)> {
        split(sql)
            .expect_err("something is wrong")
            .into_iter()
            .map(|problem| (&sql[problem.range], problem.kind))
            .collect()
    }

    #[test]
    fn what_is_opened_must_be_closed() {
        use SplitProblemKind as Kind;
        for (sql, piece, kind) in [
            ("SELECT 'it''s; SELECT 2;", "'", Kind::UnterminatedString),
            ("SELECT E'\\';", "E'", Kind::UnterminatedString),
            ("SELECT U&'x;", "U&'", Kind::UnterminatedString),
            ("SELECT 1 AS \"a\"\";", "\"", Kind::UnterminatedIdentifier),
            (
                "SELECT $x$ ; $X$ $y$;",
                "$x$",
                Kind::UnterminatedDollarQuote,
            ),
            ("SELECT $$;", "$$", Kind::UnterminatedDollarQuote),
            ("SELECT 1; /* /* */", "/*", Kind::UnterminatedComment),
            ("SELECT (1, (2); SELECT 3;", "(", Kind::UnclosedParenthesis),
            (
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2;",
                "BEGIN",
                Kind::UnclosedBegin,
            ),
        ] {
            assert_eq!(problems(sql), [(piece, kind)], "{sql}");
        }
        let sql = "SELECT (1, (2); SELECT 3;";
        assert_eq!(
            split(sql).expect_err("it is open")[0].range,
            7..8,
            "the outermost"
        );
    }

    #[test]
    fn backslash_commands_are_found_all_at_once() {
        assert_eq!(
            problems(
                "\\set x 1\nSELECT 1 \\gset\nSELECT '\\', $$\\$$, \"\\\"; -- \\ \n/* \\ */\n\\."
            ),
            [
                ("\\set x 1", SplitProblemKind::BackslashCommand),
                ("\\gset", SplitProblemKind::BackslashCommand),
                ("\\.", SplitProblemKind::BackslashCommand),
            ]
        );
    }

    #[test]
    fn a_text_without_statements_has_none() {
        for sql in ["", " \n\t", "-- a comment", "/* one */ -- and another\n\n"] {
            assert_eq!(split(sql), Ok(Vec::new()), "{sql:?}");
        }
    }

    #[test]
    fn places_behind_an_empty_line_are_kept() {
        let sql = "SELECT 1;\nSELECT\n\n\n  oops;";
        let statements = split(sql).expect("it is well formed");
        let statement = &statements[1];
        assert_eq!(statement.text, "SELECT\n  oops;");
        let offset = statement.text.find("oops").expect("it is there");
        assert_eq!(&sql[statement.origin(offset)..], "oops;");
    }
}
