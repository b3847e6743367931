//! The mistakes of a file with a matrix: each once, and with the values without which it is none.

use super::super::source::Span;
use super::matrix::Combination;
use super::mistakes::{Mistake, Mistakes};

/// Takes over what was found in each case.
pub(super) fn merge(mistakes: &mut Mistakes, found: Vec<(Combination<'_>, Mistakes)>) {
    let combinations: Vec<Combination<'_>> = found.iter().map(|(case, _)| *case).collect();
    let mut merged: Vec<(Mistake, Vec<usize>)> = Vec::new();
    for (case, (_, of_case)) in found.into_iter().enumerate() {
        for mistake in of_case.into_found() {
            match merged.iter_mut().find(|(other, _)| *other == mistake) {
                Some((_, cases)) => cases.push(case),
                None => merged.push((mistake, vec![case])),
            }
        }
    }
    for (mistake, mut cases) in merged {
        cases.dedup();
        let guilty = if cases.len() == combinations.len() {
            Vec::new()
        } else {
            guilty(&combinations, &cases)
        };
        let mistake = guilty.into_iter().fold(mistake, |mistake, span| {
            mistake.related(span, "with this value")
        });
        mistakes.report(mistake);
    }
}

/// The values that all the cases of a mistake have and not all others do; where there are none,
/// those of the first case.
fn guilty(combinations: &[Combination<'_>], cases: &[usize]) -> Vec<Span> {
    let Some(first) = cases.first().map(|case| combinations[*case]) else {
        return Vec::new();
    };
    let is_shared = |name: &str, among: &[usize]| {
        among
            .iter()
            .all(|case| combinations[*case].value(name) == first.value(name))
    };
    let all: Vec<usize> = (0..combinations.len()).collect();
    let telling = first
        .pairs()
        .filter(|(name, _)| is_shared(name, cases) && !is_shared(name, &all));
    let spans: Vec<Span> = telling.map(|(_, value)| value.span).collect();
    if spans.is_empty() {
        return first.pairs().map(|(_, value)| value.span).collect();
    }
    spans
}
