//! What a session sends, as a transcript shows it: SQL behind the session's name, and how it is sent
//! in lines of the runner's own.

use super::psql;
use crate::scenario::{Action, Bound, Param, Sending};

/// A longer value of a parameter is cut to this many characters.
const SHOWN_CHARACTERS: usize = 200;

/// The lines that a step begins with in the text, where SQL runs in it.
pub(crate) fn opening(action: &Action, sessions: &[&str]) -> Option<String> {
    match action {
        Action::Check(sql) => Some(check(&sql.text)),
        Action::Send {
            session, sending, ..
        } => Some(lines(sessions.get(session.0)?, sending)),
        _ => None,
    }
}

/// The lines for what the observer asks.
pub(super) fn check(sql: &str) -> String {
    with_prefixes(sql, "-- check: ", "--        ")
}

/// The lines for what a session sends.
pub(super) fn lines(name: &str, sending: &Sending) -> String {
    match sending {
        // What a COPY reads, and what a statement is kept as, is shown when it comes to that.
        Sending::Statements(sql)
        | Sending::Prepare { sql, .. }
        | Sending::Copy { sql: Some(sql), .. } => statement(name, &sql.text),
        Sending::Message(sql) if sql.text.is_empty() => {
            format!("-- {name} sends an empty message\n")
        }
        Sending::Message(sql) => statement(name, &sql.text) + "-- sent as one message\n",
        Sending::Bound(one) => bound(name, one),
        Sending::Execute { name: kept, params } => {
            format!("-- {name} executes {}\n{}", kept.value, values(params))
        }
        Sending::Pipeline(list) => {
            let statements: String = list.iter().map(|one| bound(name, one)).collect();
            statements + "-- sent as one pipeline\n"
        }
        Sending::Copy {
            sql: None,
            data,
            more,
        } => format!(
            "-- {name} goes on with its stream\n{}",
            rows(&data.text, *more)
        ),
    }
}

/// The lines that follow once the server has come to ask for the data, or has parsed the statement.
pub(super) fn consequence(sending: &Sending) -> Option<String> {
    match sending {
        Sending::Prepare { name, .. } => Some(format!("-- prepared as {}\n", name.value)),
        Sending::Copy {
            sql: Some(_),
            data,
            more,
        } => Some(rows(&data.text, *more)),
        _ => None,
    }
}

/// The data of a COPY, as psql asks for it line by line.
fn rows(data: &str, more: bool) -> String {
    let mut shown: String = data
        .split_terminator('\n')
        .map(|line| format!(">> {line}\n"))
        .collect();
    if !data.is_empty() && !data.ends_with('\n') {
        shown.push_str("-- the last line has no end\n");
    }
    shown.push_str(if more {
        "-- the stream stays open\n"
    } else {
        ">> \\.\n"
    });
    shown
}

fn statement(name: &str, sql: &str) -> String {
    let prompt = format!("{name}> ");
    let indent = " ".repeat(psql::display_width(&prompt));
    with_prefixes(sql, &prompt, &indent)
}

fn bound(name: &str, Bound { sql, params }: &Bound) -> String {
    statement(name, &sql.text) + &values(params)
}

fn values(params: &[Param]) -> String {
    params
        .iter()
        .enumerate()
        .map(|(at, value)| format!("-- ${} = {}\n", at + 1, literal(value.as_deref())))
        .collect()
}

/// A value as SQL would spell it, on one line, so that it cannot be taken for anything else.
fn literal(value: Option<&str>) -> String {
    let Some(value) = value else {
        return "NULL".to_owned();
    };
    let is_escaped = value.chars().any(is_invisible);
    let mut literal = String::from(if is_escaped { "E'" } else { "'" });
    for character in value.chars().take(SHOWN_CHARACTERS) {
        match character {
            '\'' => literal.push_str("''"),
            '\\' if is_escaped => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            _ if is_invisible(character) => {
                literal.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => literal.push(character),
        }
    }
    literal.push('\'');
    let length = value.chars().count();
    if length > SHOWN_CHARACTERS {
        literal.push_str(&format!(
            "… (the first {SHOWN_CHARACTERS} of {length} characters)"
        ));
    }
    literal
}

/// Whether a character leaves no mark of its own, or makes others stand where they are not.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

/// SQL as written, without the white space at its end; the first line behind one prefix and the
/// other lines behind another. An empty line does not get white space at its end.
fn with_prefixes(sql: &str, first: &str, other: &str) -> String {
    let mut out = String::from(first);
    for (number, line) in sql.trim_end().split('\n').enumerate() {
        if number > 0 {
            out.push_str(if line.is_empty() {
                other.trim_end()
            } else {
                other
            });
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{literal, rows};

    #[test]
    fn a_value_reads_as_sql_would_spell_it() {
        for (value, shown) in [
            (None, "NULL"),
            (Some("NULL"), "'NULL'"),
            (Some(""), "''"),
            (Some("it's $2"), "'it''s $2'"),
            (Some(r"C:\n"), r"'C:\n'"),
            (Some(" ä世 "), "' ä世 '"),
            (
                Some("a\nB> COMMIT;\r\n\t'\\"),
                r"E'a\nB> COMMIT;\r\n\t''\\'",
            ),
            (Some("a\u{202e}b\u{1}"), r"E'a\u202eb\u0001'"),
        ] {
            assert_eq!(literal(value), shown);
        }
    }

    #[test]
    fn a_long_value_says_how_much_of_it_is_not_shown() {
        assert_eq!(
            literal(Some(&"ä".repeat(200))),
            format!("'{}'", "ä".repeat(200))
        );
        assert_eq!(
            literal(Some(&"ä".repeat(201))),
            format!("'{}'… (the first 200 of 201 characters)", "ä".repeat(200))
        );
    }

    #[test]
    fn data_is_shown_line_by_line_and_its_end_as_it_is() {
        for (data, more, shown) in [
            ("1\tx\n\n2\ty\n", false, ">> 1\tx\n>> \n>> 2\ty\n>> \\.\n"),
            ("", false, ">> \\.\n"),
            ("", true, "-- the stream stays open\n"),
            (
                "1\tx\n2",
                true,
                ">> 1\tx\n>> 2\n-- the last line has no end\n-- the stream stays open\n",
            ),
            (
                "1\tx",
                false,
                ">> 1\tx\n-- the last line has no end\n>> \\.\n",
            ),
        ] {
            assert_eq!(rows(data, more), shown);
        }
    }
}
