//! Lengths of time: `30s`, `500ms`, `2min`.

use std::time::Duration;

use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::values;

/// No scenario waits longer than a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What to write.
const HELP: &str = "write a number and its unit: `30s`, `500ms` or `2min`";

/// Reads a length of time that passes in earnest.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<Duration> {
    read_with(mistakes, node, HELP, parse)
}

/// Reads a length of time of any length.
pub(super) fn read_any(mistakes: &mut Mistakes, node: &Node, help: &str) -> Option<Duration> {
    read_with(mistakes, node, help, parse_any)
}

fn read_with(
    mistakes: &mut Mistakes,
    node: &Node,
    help: &str,
    parse: impl Fn(&str) -> Result<Duration, ParseDurationError>,
) -> Option<Duration> {
    let text = values::text(mistakes, node, "a length of time", help)?;
    match parse(&text) {
        Ok(duration) => Some(duration),
        Err(error) => {
            let shown = values::shown(&text);
            mistakes.report(
                Mistake::new(node.span, format!("`{shown}` is not a length of time"))
                    .label(error.to_string())
                    .help(help),
            );
            None
        }
    }
}

/// A text that is no length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseDurationError {
    /// It does not begin with a whole number.
    #[error("no whole number, or too large")]
    Number,
    /// There is no unit behind the number.
    #[error("the unit is missing")]
    NoUnit,
    /// The unit is none of `ms`, `s`, `min`, `h` and `d`.
    #[error("`{}` is no unit", values::shown(.0))]
    Unit(String),
    /// It is no time at all.
    #[error("this would be over at once")]
    Zero,
    /// It is longer than a day.
    #[error("longer than a day")]
    TooLong,
}

/// The length of time that a text such as `30s`, `500ms` or `2min` means.
///
/// # Errors
///
/// When the text is none, or means nothing or more than a day.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use lockstep::scenario::parse_duration;
///
/// assert_eq!(parse_duration("2min"), Ok(Duration::from_secs(120)));
/// assert!(parse_duration("2 minutes").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, ParseDurationError> {
    match parse_any(text)? {
        duration if duration > LONGEST => Err(ParseDurationError::TooLong),
        duration => Ok(duration),
    }
}

fn parse_any(text: &str) -> Result<Duration, ParseDurationError> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| ParseDurationError::Number)?;
    let milliseconds: u64 = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "" => return Err(ParseDurationError::NoUnit),
        other => return Err(ParseDurationError::Unit(other.to_owned())),
    };
    match number.checked_mul(milliseconds) {
        Some(0) => Err(ParseDurationError::Zero),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        None => Err(ParseDurationError::Number),
    }
}
