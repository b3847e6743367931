//! The releases a scenario is meaningful on: `">=13 <18"`.

use super::super::model::{ReleaseComparison, ReleaseOperator, ReleaseRange};
use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::values;

const HELP: &str =
    "write comparisons with spaces between them: `\">=13 <18\"`, `\"18\"`, `\"<15\"`";

/// Reads a range of releases.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<ReleaseRange> {
    let text = values::text(mistakes, node, "a range of releases", HELP)?;
    match parse(&text) {
        Ok(range) => {
            if !is_possible(&range) {
                mistakes.report(
                    Mistake::new(node.span, "no release fits this range")
                        .label("these comparisons exclude each other")
                        .help(HELP),
                );
            }
            Some(range)
        }
        Err(problem) => {
            mistakes.report(
                Mistake::new(node.span, "not a range of releases")
                    .label(problem.label)
                    .help(problem.help.unwrap_or_else(|| HELP.to_owned())),
            );
            None
        }
    }
}

struct Problem {
    label: String,
    help: Option<String>,
}

fn parse(text: &str) -> Result<ReleaseRange, Problem> {
    let mut comparisons = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (operator, after) = operator(rest)?;
        let after = after.trim_start();
        let length = after.find(char::is_whitespace).unwrap_or(after.len());
        // `>=13<18`: the next operator ends the bound as well.
        let length = after
            .find(['<', '>', '='])
            .map_or(length, |at| at.min(length));
        let (bound, behind) = after.split_at(length);
        comparisons.push(ReleaseComparison {
            operator,
            bound: parse_bound(bound)?,
        });
        rest = behind.trim_start();
    }
    Ok(ReleaseRange { comparisons })
}

fn operator(text: &str) -> Result<(ReleaseOperator, &str), Problem> {
    let known = [
        ("<=", ReleaseOperator::LessOrEqual),
        (">=", ReleaseOperator::GreaterOrEqual),
        ("<", ReleaseOperator::Less),
        (">", ReleaseOperator::Greater),
        ("=", ReleaseOperator::Equal),
    ];
    for (written, operator) in known {
        if let Some(rest) = text.strip_prefix(written) {
            if rest.starts_with(['=', '<', '>']) {
                let length = text.len() - text.trim_start_matches(['=', '<', '>', '!']).len();
                return Err(no_operator(&text[..length]));
            }
            return Ok((operator, rest));
        }
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((ReleaseOperator::Equal, text));
    }
    let length = text
        .find(|c: char| c.is_alphanumeric() || c.is_whitespace())
        .unwrap_or(text.len());
    if length == 0 {
        return Err(Problem {
            label: format!("`{}` is no release", values::shown(text)),
            help: None,
        });
    }
    Err(no_operator(&text[..length]))
}

fn no_operator(written: &str) -> Problem {
    Problem {
        label: format!("`{written}` is no comparison"),
        help: Some(
            "the comparisons are `<`, `<=`, `=`, `>=` and `>`; two of them must both hold"
                .to_owned(),
        ),
    }
}

fn parse_bound(text: &str) -> Result<Vec<u32>, Problem> {
    let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    match parts {
        Some(parts) if (1..=3).contains(&parts.len()) && parts[0] > 0 => Ok(parts),
        _ if text.is_empty() => Err(Problem {
            label: "a comparison without a release".to_owned(),
            help: None,
        }),
        _ => Err(Problem {
            label: format!("`{}` is no release", values::shown(text)),
            help: between(text),
        }),
    }
}

/// What to write for `13..18`, `13-18` or `13,18`.
fn between(text: &str) -> Option<String> {
    if let Some(bound) = text
        .strip_suffix(',')
        .filter(|bound| parse_bound(bound).is_ok())
    {
        return Some(format!(
            "leave out the comma behind {bound}: comparisons side by side must all hold"
        ));
    }
    let (first, last) = text
        .split_once("..")
        .or_else(|| text.split_once('-'))
        .or_else(|| text.split_once(','))?;
    let (first, last) = (first.trim(), last.trim());
    let both = parse_bound(first).is_ok() && parse_bound(last).is_ok();
    both.then(|| format!("for the releases from {first} to {last} write `\">={first} <={last}\"`"))
}

/// Whether some release lies in the range: it is enough to look around each bound.
pub(super) fn is_possible(range: &ReleaseRange) -> bool {
    const LATE_MINOR: u32 = 999;
    range.comparisons.iter().any(|comparison| {
        let bound = &comparison.bound;
        let (last, front) = bound.split_last().expect("a bound has at least one part");
        [
            Some(*last),
            last.checked_sub(1),
            last.checked_add(1),
            Some(LATE_MINOR),
        ]
        .into_iter()
        .flatten()
        .flat_map(|part| {
            let mut near = front.to_vec();
            near.push(part);
            let mut early = near.clone();
            early.push(0);
            let mut late = near;
            late.push(LATE_MINOR);
            [early, late]
        })
        .chain(bound[0].checked_sub(1).map(|major| vec![major, LATE_MINOR]))
        .any(|release| range.contains(&release))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(range: &str, release: &[u32]) -> bool {
        parse(range)
            .map_err(|problem| problem.label)
            .unwrap()
            .contains(release)
    }

    #[test]
    fn ranges_hold_the_releases_they_name() {
        assert!(contains(">=9.5", &[18, 6]));
        assert!(contains(">=9.5", &[9, 5, 25]));
        assert!(!contains(">=9.5", &[9, 4, 26]));
        assert!(contains(">=13 <18", &[17, 10]));
        assert!(!contains(">=13 <18", &[18, 0]));
        assert!(contains("> = 13".replace("> =", ">=").as_str(), &[13, 1]));
        assert!(contains("18", &[18, 6]));
        assert!(!contains("18.6", &[18, 5]));
        assert!(contains("<15", &[14, 23]));
        assert!(contains("<=15", &[15, 18]));
        assert!(contains(">=13<18", &[14, 0]));
    }

    #[test]
    fn ranges_that_no_release_fits_are_found() {
        for range in [">18 <13", "=17 =18", ">=18 <18", "<18 18", ">15.3 <15.2"] {
            assert!(!is_possible(&parse(range).ok().unwrap()), "{range}");
        }
        for range in [
            "18",
            "<18",
            ">18",
            ">=13 <18",
            ">15 <17",
            ">15.2 <15.4",
            "=15.3",
            ">15 <=16.2",
        ] {
            assert!(is_possible(&parse(range).ok().unwrap()), "{range}");
        }
    }
}
