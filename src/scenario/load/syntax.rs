//! What the YAML parser could not read, in words for somebody who writes a scenario.

use granit_parser::{ErrorKind, ScanError};

use super::super::source::Span;
use super::mistakes::Mistake;
use super::names;

/// The mistake that made the parser stop. `open` is the bracket that was open there.
pub(super) fn mistake(source: &str, error: &ScanError, open: Option<Span>) -> Mistake {
    let at = error
        .marker()
        .byte_offset()
        .unwrap_or(source.len())
        .min(source.len());
    let here = character(source, at);
    match error.kind() {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            let tab = tab_of_line(source, at).unwrap_or(here);
            Mistake::new(tab, "a tab cannot indent YAML")
                .label("a tab")
                .help("indent with spaces")
        }
        ErrorKind::MappingValueNotAllowed => value_not_allowed(source, at, here),
        ErrorKind::UnclosedQuotedScalar => {
            Mistake::new(here, "the quote is never closed")
                .label("it opens here")
                .help(if source[at..].starts_with('\'') {
                    "close it with `'`; inside single quotes, write `''` for a quote"
                } else {
                    "close it with `\"`; inside double quotes, write `\\\"` for a quote"
                })
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            Mistake::new(rest_of_line(source, at), "text after the closing quote")
                .label("the quoted text ended before this")
                .help("inside single quotes, write `''` for a quote; for SQL it is easier to write `|` and the text on the next lines")
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            Mistake::new(rest_of_line(source, at), "text after the closing quote")
                .label("the quoted text ended before this")
                .help("put the whole value in quotes (inside double quotes, write `\\\"` for a quote), or write `|` and the text on the next lines")
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => {
            let escape = first_bad_escape(source, at).unwrap_or(here);
            Mistake::new(escape, "not an escape that YAML knows")
                .label("unknown escape")
                .help("write `\\\\` for a backslash, or use single quotes, in which a backslash is only itself")
        }
        ErrorKind::UnclosedFlowCollection { open } => {
            let close = closing(*open);
            Mistake::new(here, format!("`{open}` is never closed"))
                .label("it opens here")
                .help(format!("close it with `{close}`"))
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let right = closing(*open);
            Mistake::new(here, format!("`{open}` is closed with `{close}`"))
                .label("it opens here")
                .help(format!("close it with `{right}`"))
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            Mistake::new(here, "nothing is open that this could close")
                .label("unexpected")
                .help("take it out, or put the value in quotes")
        }
        ErrorKind::InvalidColonPlacement
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::FlowMappingValueAdjacentCollection => not_closed(source, here, open),
        ErrorKind::ExpectedNodeContent => missing_value(here),
        ErrorKind::UnexpectedEofImplicitFlowMapping if source[at..].starts_with(',') => {
            missing_value(here)
        }
        ErrorKind::UnexpectedCharacter { character } => {
            let named = match character {
                '`' => "a back quote".to_owned(),
                other => format!("`{other}`"),
            };
            Mistake::new(here, format!("a value cannot begin with {named}"))
                .label("YAML keeps this character for itself")
                .help(quoted(source, at).unwrap_or_else(|| "put the value in quotes".to_owned()))
        }
        ErrorKind::MissingAnchorOrAliasName => {
            Mistake::new(here, "a value cannot begin with a lone `*` or `&`")
                .label("YAML takes this for an alias or an anchor")
                .help("put the value in quotes")
        }
        ErrorKind::InvalidBlockScalarHeader => block_header(source, at),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidQuotedScalarIndent => indentation(source, at),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            Mistake::new(rest_of_line(source, at), "expected `key: value`")
                .label("no `:` follows this")
                .help("write `key: value`, or indent the line if it goes on from the one above")
        }
        ErrorKind::RecursionLimitExceeded => Mistake::new(here, "nested too deep")
            .label("no scenario needs so many levels")
            .help("take brackets or indentation away"),
        ErrorKind::BlockEntryInFlowCollection if begins_line(source, at) => {
            not_closed(source, here, open)
        }
        ErrorKind::BlockEntryInFlowCollection | ErrorKind::PlainScalarStartsWithDashFlowIndicator => {
            Mistake::new(here, "`-` does not begin an item between `[` and `]`")
                .label("unexpected")
                .help("write `[a, b]`, or one `- item` a line without brackets")
        }
        ErrorKind::CommentNotSeparated | ErrorKind::CommentInterceptedScalar => {
            Mistake::new(here, "a comment cuts the value in two")
                .label("the comment begins here")
                .help("move the comment to a line of its own, or put the value in quotes")
        }
        ErrorKind::DirectiveDisallowed => {
            Mistake::new(rest_of_line(source, at), "YAML directives have no meaning in a scenario")
                .label("a directive")
                .help("leave it out; quote the value if `%` is meant as text")
        }
        ErrorKind::ExpectedDocumentStart => Mistake::new(
            rest_of_line(source, at),
            "more follows where the scenario has ended",
        )
        .label("unexpected")
        .help("a scenario is one mapping: `title: …`, `sessions: …`, `steps: …`"),
        ErrorKind::BomInsideDocument => {
            Mistake::new(here, "a byte order mark in the middle of the file")
                .label("U+FEFF, which is not visible")
                .help("delete this character")
        }
        ErrorKind::DocumentIndicatorInQuotedScalar => {
            Mistake::new(here, "the quote is not closed before this")
                .label("`---` and `...` at the beginning of a line end the document")
                .help("close the quote, or indent this line")
        }
        other => Mistake::new(here, format!("not YAML: {other}")).label("the parser stops here"),
    }
}

fn value_not_allowed(source: &str, at: usize, here: Span) -> Mistake {
    // A `: ` inside text and a value that goes on with `key:` on the next line look alike to the
    // parser.
    let line = line_start(source, at);
    let before = source[line..at].trim_start();
    let continues = !before.is_empty()
        && !before.contains(": ")
        && !before.starts_with("- ")
        && before
            .chars()
            .all(|c| c.is_alphanumeric() || "_-".contains(c));
    if continues {
        let start = line + (source[line..at].len() - before.len());
        return Mistake::new(
            Span { start, end: at },
            "this line is indented under a value",
        )
        .label("a key cannot begin here")
        .help("give the line the indentation of the key that it belongs beside");
    }
    let value = source[line..at]
        .find(": ")
        .map(|colon| line + colon + ": ".len());
    let help = value
        .and_then(|value| braces(source, line, value).or_else(|| quoted(source, value)))
        .unwrap_or_else(|| {
            "put the value in quotes, or write `|` and the text on the next lines".to_owned()
        });
    Mistake::new(here, "a `: ` inside a value without quotes")
        .label("YAML takes this for the end of a key")
        .help(help)
}

fn missing_value(here: Span) -> Mistake {
    Mistake::new(here, "a value is missing before this")
        .label("unexpected")
        .help("write `null` for SQL NULL, `\"\"` for an empty text; quote a value that begins with this character")
}

/// A list or a mapping in brackets that is still open where something else begins.
fn not_closed(source: &str, here: Span, open: Option<Span>) -> Mistake {
    let bracket = open.and_then(|open| source[open.start..].chars().next());
    let (what, close) = match bracket {
        Some('{') => ("the mapping", '}'),
        _ => ("the list", ']'),
    };
    if let Some(name) = reference(source, here) {
        return Mistake::new(here, "a value of the matrix without quotes")
            .label("between brackets YAML keeps this character for itself")
            .help(format!("put it in quotes: `\"${{{name}}}\"`"));
    }
    let mistake = Mistake::new(here, format!("{what} is not closed before this"))
        .label(format!("expected `,` or `{close}`"))
        .help(format!(
            "close it with `{close}`; quote a value that holds `,`, `: `, `{{` or `[`"
        ));
    match open {
        Some(open) => mistake.related(open, "it opens here"),
        None => mistake,
    }
}

/// The name in `${name}`, where its brace is what the parser stumbled over.
fn reference(source: &str, here: Span) -> Option<&str> {
    source[..here.start].ends_with('$').then_some(())?;
    let (name, _) = source[here.start..].strip_prefix('{')?.split_once('}')?;
    names::is_name(name).then_some(name)
}

/// Help for a value that was meant as a mapping on one line: `expect: rows: [[1]]`.
fn braces(source: &str, line: usize, value: usize) -> Option<String> {
    const HOLD_MAPPINGS: [&str; 3] = ["expect", "error", "settings"];
    const OF_STATEMENTS: [&str; 2] = ["use", "sql"];
    const LONGEST: usize = 60;
    let rest = rest_of_line(source, value);
    let written = &source[rest.start..rest.end];
    let key = source[line..value]
        .trim()
        .trim_start_matches("- ")
        .trim_end_matches(':');
    let inner = written.split(':').next().unwrap_or_default();
    let is_meant = HOLD_MAPPINGS.contains(&key) || OF_STATEMENTS.contains(&inner);
    (is_meant && written.len() <= LONGEST)
        .then(|| format!("write braces: `{key}: {{ {written} }}`"))
}

/// Help that shows the rest of a line in quotes, where that is short and simple.
fn quoted(source: &str, value: usize) -> Option<String> {
    const LONGEST: usize = 60;
    let value = rest_of_line(source, value + blanks(&source[value..]));
    let written = &source[value.start..value.end];
    let simple =
        written.len() <= LONGEST && !written.contains(['"', '\\', '#', '{', '}', '[', ']']);
    simple.then(|| format!("put the value in quotes: \"{written}\""))
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

fn begins_line(source: &str, at: usize) -> bool {
    source[line_start(source, at)..at].trim().is_empty()
}

fn block_header(source: &str, at: usize) -> Mistake {
    let value = rest_of_line(source, at);
    let written = &source[value.start..value.end];
    let mistake = Mistake::new(value, "a value cannot begin with `>` or `|`")
        .label("YAML takes this for the beginning of a block of text");
    match written.strip_prefix(['>', '|']) {
        Some(rest)
            if written.starts_with(">=")
                || rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) =>
        {
            mistake.help(format!("put it in quotes: \"{written}\""))
        }
        _ => mistake.help("begin the text on the next line, indented, or put it in quotes"),
    }
}

fn indentation(source: &str, at: usize) -> Mistake {
    // The mark may stand behind the `-`, or on the line break before it.
    let line = line_start(source, at);
    let text = rest_of_line(source, line);
    let indent = source[line..text.end].len() - source[line..text.end].trim_start().len();
    let place = Span {
        start: (line + indent).min(text.end),
        end: text.end,
    };
    Mistake::new(place, "the indentation fits nothing above")
        .label(format!(
            "indented by {indent} {}",
            if indent == 1 { "space" } else { "spaces" }
        ))
        .help(if source[place.start..].starts_with('-') {
        "begin it in the same column as the items that it belongs with"
    } else {
        "begin it in the same column as the key it belongs beside; in a step that is behind `- `"
    })
}

const fn closing(open: char) -> char {
    match open {
        '[' => ']',
        _ => '}',
    }
}

/// The character at an offset; empty at the end of the text.
fn character(source: &str, at: usize) -> Span {
    let length = source[at..].chars().next().map_or(0, char::len_utf8);
    Span {
        start: at,
        end: at + length,
    }
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// From an offset to the last visible character of its line.
fn rest_of_line(source: &str, at: usize) -> Span {
    let line = source[at..].split('\n').next().unwrap_or_default();
    Span {
        start: at,
        end: at + line.trim_end().len(),
    }
}

fn tab_of_line(source: &str, at: usize) -> Option<Span> {
    let line = line_start(source, at);
    let text = rest_of_line(source, line);
    let tab = line + source[line..text.end.max(at)].find('\t')?;
    Some(Span {
        start: tab,
        end: tab + 1,
    })
}

/// The first escape of a double-quoted scalar that YAML does not know; the parser only says where
/// the scalar begins.
fn first_bad_escape(source: &str, quote: usize) -> Option<Span> {
    let mut at = quote + 1;
    loop {
        let next = at + source.get(at..)?.find(['\\', '"'])?;
        if source[next..].starts_with('"') {
            return None;
        }
        let escape = source[next + 1..].chars().next()?;
        let digits = match escape {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let behind = next + 1 + escape.len_utf8();
        let hexadecimal = source[behind..]
            .bytes()
            .take(digits)
            .take_while(u8::is_ascii_hexdigit)
            .count();
        let known = "0abt\tnvfre \"/\\N_LP\n\rxuU".contains(escape);
        if !known
            || hexadecimal < digits
            || is_bad_code_point(&source[behind..behind + digits.min(hexadecimal)])
        {
            return Some(Span {
                start: next,
                end: behind + hexadecimal,
            });
        }
        at = behind + digits;
    }
}

fn is_bad_code_point(digits: &str) -> bool {
    !digits.is_empty()
        && u32::from_str_radix(digits, 16).is_ok_and(|code| char::from_u32(code).is_none())
}
