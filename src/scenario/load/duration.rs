//! Lengths of time: `30s`, `500ms`, `2min`.

use std::time::Duration;

use super::mistakes::{Mistake, Mistakes};
use super::tree::Node;
use super::values;

/// No scenario waits longer than a day.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a length of time.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<Duration> {
    let help = "write a number and its unit: `30s`, `500ms` or `2min`";
    let text = values::text(mistakes, node, "a length of time", help)?;
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let mistake = Mistake::new(
        node.span,
        format!("`{}` is not a length of time", values::shown(&text)),
    );
    let Ok(number) = number.parse::<u64>() else {
        mistakes.report(mistake.label("no whole number, or too large").help(help));
        return None;
    };
    let milliseconds = match unit.trim_start() {
        "ms" => Some(1),
        "s" => Some(1_000),
        "min" => Some(60_000),
        _ => None,
    };
    let Some(milliseconds) = milliseconds else {
        let label = if unit.is_empty() {
            "the unit is missing".to_owned()
        } else {
            format!("`{}` is no unit", values::shown(unit.trim_start()))
        };
        mistakes.report(mistake.label(label).help(help));
        return None;
    };
    let duration = number
        .checked_mul(milliseconds)
        .map(Duration::from_millis)
        .filter(|duration| *duration <= LONGEST);
    match duration {
        Some(Duration::ZERO) => {
            mistakes.report(mistake.label("this would be over at once").help(help));
            None
        }
        None => {
            mistakes.report(mistake.label("longer than a day").help(help));
            None
        }
        some => some,
    }
}
