//! Snapshots that hold for only some releases: `<case>@13-14.snap`.

/// The majors that a variant's name lists: `13`, `13-14`, `13,15`, `13-14,16`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Majors(Vec<(u32, u32)>);

impl Majors {
    /// Reads what stands behind the `@`; `None` if it does not name majors.
    pub(super) fn parse(spec: &str) -> Option<Self> {
        spec.split(',')
            .map(|part| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let range = (major(first)?, major(last)?);
                (range.0 <= range.1).then_some(range)
            })
            .collect::<Option<Vec<_>>>()
            .map(Self)
    }

    /// Whether the variant holds for a major version.
    pub(super) fn contains(&self, major: u32) -> bool {
        self.0
            .iter()
            .any(|&(first, last)| (first..=last).contains(&major))
    }
}

/// A number without sign or leading zero.
fn major(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
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
        }
    }

    #[test]
    fn anything_else_names_no_majors() {
        for spec in ["", "x", "13-", "-13", "14-13", "13,", "18.6", "+13", "013"] {
            assert_eq!(Majors::parse(spec), None, "{spec}");
        }
    }
}
