//! Snapshots that hold for only some releases: `<case>@13-14.snap`.

use std::collections::BTreeSet;
use std::fmt;

/// The longest number that is a major version.
const DIGITS: usize = 3;

/// The majors that a variant's name lists: `13`, `13-14`, `13,15`, `13-14,16`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Majors(BTreeSet<u32>);

impl Majors {
    /// Reads what stands behind the `@`; `None` if it does not name majors.
    pub(super) fn parse(spec: &str) -> Option<Self> {
        let mut majors = BTreeSet::new();
        for part in spec.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (major(first)?, major(last)?);
            if first > last {
                return None;
            }
            majors.extend(first..=last);
        }
        Some(Self(majors))
    }

    /// Whether the variant holds for a major version.
    pub(super) fn contains(&self, major: u32) -> bool {
        self.0.contains(&major)
    }

    /// The majors, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<u32> for Majors {
    fn from_iter<T: IntoIterator<Item = u32>>(majors: T) -> Self {
        Self(majors.into_iter().collect())
    }
}

/// As a variant's name has them, as short as can be.
impl fmt::Display for Majors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for major in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == major => *last = major,
                _ => ranges.push((major, major)),
            }
        }
        for (at, (first, last)) in ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// A number without sign or leading zero.
fn major(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    (plain && text.len() <= DIGITS)
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majors_are_single_ranges_and_lists() {
        for (spec, holds) in [
            ("13", vec![13]),
            ("13-14", vec![13, 14]),
            ("13,15", vec![13, 15]),
            ("13-14,16", vec![13, 14, 16]),
        ] {
            let majors = Majors::parse(spec).expect(spec);
            let found: Vec<u32> = (9..20).filter(|major| majors.contains(*major)).collect();
            assert_eq!(found, holds, "{spec}");
            assert_eq!(majors.to_string(), spec);
        }
        assert_eq!(
            Majors::parse("16,13,14-15").unwrap().to_string(),
            "13-16",
            "a name is written in one way"
        );
    }

    #[test]
    fn anything_else_names_no_majors() {
        for spec in [
            "", "x", "13-", "-13", "14-13", "13,", "18.6", "+13", "013", "1-1000",
        ] {
            assert_eq!(Majors::parse(spec), None, "{spec}");
        }
    }
}
