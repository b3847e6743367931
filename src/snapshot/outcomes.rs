//! Cases that may come out in several ways have a snapshot for each: `default~2-1.snap`.

use super::layout::file_name;

/// What stands between the name of a case and the outcomes it had. No name of a case has it: it is
/// written as `%7E` there, and what is cut off a long one is followed by more digits than any
/// number of an outcome has.
const MARK: char = '~';

/// Whether a case had the first of the allowed outcomes in each step; its snapshot is the case's
/// own then.
pub(super) fn are_first(outcomes: &[usize]) -> bool {
    outcomes.iter().all(|number| *number == 1)
}

/// What is added to the name of a case: `~2-1`, and nothing where the outcomes are the first ones.
pub(super) fn suffix(outcomes: &[usize]) -> String {
    if are_first(outcomes) {
        return String::new();
    }
    let numbers: Vec<String> = outcomes.iter().map(usize::to_string).collect();
    format!("{MARK}{}", numbers.join("-"))
}

/// The first part of the names of the files of a case that had these outcomes.
pub(super) fn stem(case: &str, outcomes: &[usize]) -> String {
    file_name(case) + &suffix(outcomes)
}

/// The stem of the case's own snapshot, for one of another outcome among `allowed` many in each
/// step; `None` if the name is not of that form.
pub(super) fn own_stem<'a>(stem: &'a str, allowed: &[usize]) -> Option<&'a str> {
    let (own, numbers) = stem.rsplit_once(MARK)?;
    let numbers: Vec<usize> = numbers
        .split('-')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let is_written_so = suffix(&numbers) == stem[own.len()..];
    let are_allowed = numbers.len() == allowed.len()
        && numbers
            .iter()
            .zip(allowed)
            .all(|(number, most)| (1..=*most).contains(number));
    (is_written_so && are_allowed).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outcomes_have_the_snapshot_of_the_case() {
        for (outcomes, name) in [
            (&[][..], "read+committed"),
            (&[1], "read+committed"),
            (&[1, 1], "read+committed"),
            (&[2, 1], "read+committed~2-1"),
            (&[1, 12], "read+committed~1-12"),
        ] {
            assert_eq!(stem("read committed", outcomes), name);
        }
        assert_ne!(stem("default", &[2]), stem("default~2", &[]));
    }

    #[test]
    fn only_outcomes_that_are_allowed_belong_to_a_case() {
        for (stem, own) in [
            ("default~2-1", Some("default")),
            ("default~1-3", Some("default")),
            ("default~1-1", None),
            ("default~3-1", None),
            ("default~2", None),
            ("default~2-1-1", None),
            ("default~02-1", None),
            ("default~0-2", None),
            ("default~", None),
            ("default", None),
        ] {
            assert_eq!(own_stem(stem, &[2, 3]), own, "{stem}");
        }
    }
}
