//! Rows and errors as isolationtester prints them, which is how libpq's `PQprint` does.

use std::fmt::Write;

use crate::transcript::{ResultSet, ServerMessage};

/// A table with its header, its rows and their number, ended by an empty line.
///
/// A column whose values all look like numbers is right-aligned, whatever its type is, and so is
/// one without values. Widths are counted in bytes. A result without columns gives nothing.
///
/// ```
/// use lockstep::transcript::{Column, ResultSet};
///
/// let result = ResultSet {
///     columns: vec![
///         Column { name: "id".to_owned(), type_oid: 25 },
///         Column { name: "task".to_owned(), type_oid: 25 },
///     ],
///     rows: vec![
///         vec![Some("1".to_owned()), Some("mail".to_owned())],
///         vec![Some("10".to_owned()), None],
///     ],
///     tag: "SELECT 2".to_owned(),
/// };
/// assert_eq!(
///     lockstep::isolation::table(&result),
///     "id|task\n--+----\n 1|mail\n10|    \n(2 rows)\n\n"
/// );
/// ```
#[must_use]
pub fn table(result: &ResultSet) -> String {
    let mut out = String::new();
    if result.columns.is_empty() {
        return out;
    }
    let values = |column: usize| {
        result
            .rows
            .iter()
            .filter_map(move |row| row[column].as_deref())
    };
    let layout: Vec<(usize, bool)> = result
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let widest = values(at).map(str::len).max().unwrap_or(0);
            let is_number = values(at).filter(|value| !value.is_empty()).all(is_number);
            (widest.max(column.name.len()), is_number)
        })
        .collect();
    let names = result.columns.iter().map(|column| column.name.as_str());
    line(&mut out, names, &layout);
    for (at, (width, _)) in layout.iter().enumerate() {
        if at > 0 {
            out.push('+');
        }
        out.extend(std::iter::repeat_n('-', *width));
    }
    out.push('\n');
    for row in &result.rows {
        let values = row.iter().map(|value| value.as_deref().unwrap_or_default());
        line(&mut out, values, &layout);
    }
    let count = result.rows.len();
    let s = if count == 1 { "" } else { "s" };
    let _ = write!(out, "({count} row{s})\n\n");
    out
}

fn line<'a>(out: &mut String, values: impl Iterator<Item = &'a str>, layout: &[(usize, bool)]) {
    for (at, (value, (width, is_number))) in values.zip(layout).enumerate() {
        if at > 0 {
            out.push('|');
        }
        let blanks = std::iter::repeat_n(' ', width - value.len());
        if *is_number {
            out.extend(blanks);
            out.push_str(value);
        } else {
            out.push_str(value);
            out.extend(blanks);
        }
    }
    out.push('\n');
}

/// Whether libpq takes a value for a number: it consists of digits, `.`, `-`, blanks and the letter
/// of an exponent, begins with no such letter and ends with a digit.
fn is_number(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'E' | b'e' | b' ' | b'-'))
        && !value.starts_with(['E', 'e'])
        && value.ends_with(|last: char| last.is_ascii_digit())
}

/// How the error of a step is told: its severity and its message, nothing that may hold an id.
#[must_use]
pub fn error_line(error: &ServerMessage) -> String {
    format!("{}:  {}\n", error.severity.as_str(), error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libpq_takes_for_a_number() {
        for number in ["1", "-1.5", "1e10", "2026-01-01", "1 2"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["e1", "1.", "x", "NaN", "1,000", "1-"] {
            assert!(!is_number(other), "{other}");
        }
    }
}
