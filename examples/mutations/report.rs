//! What became of the mutants, in words.

use std::fmt::Write as _;

use lockstep::scenario::SourceFile;

use super::clauses::Guard;
use super::mutant::{Edit, Kind};

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It changes an outcome that came on no release.
    Unseen,
    /// It came to the same as the scenario.
    Equivalent,
    /// It came to something else, and no expectation noticed.
    Survived,
    /// An expectation was not met, or the replay could not go on.
    Caught,
    /// The file is refused.
    Refused,
}

/// So much text is shown of what is changed.
const SHOWN: usize = 90;

/// One line for a mutant: where it is, and what was changed into what.
pub fn line(source: &SourceFile, edit: &Edit) -> String {
    let before = &source.text[..edit.span.start];
    let number = before.matches('\n').count() + 1;
    format!(
        "{}:{number}: `{}` -> `{}`",
        source.path.display(),
        shown(&source.text[edit.span.start..edit.span.end]),
        shown(&edit.text)
    )
}

fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    start + "…"
}

/// A row of the table, and which mutants it counts.
type Group = (&'static str, fn(Kind) -> bool);

/// A table of all fates, and the share that was caught.
pub fn table(fates: &[(Kind, Fate)]) -> String {
    let mut out = format!(
        "{:<16}{:>9}{:>9}{:>9}{:>12}{:>10}{:>9}\n",
        "", "mutants", "caught", "refused", "equivalent", "survived", "unseen"
    );
    let rows: [Group; 4] = [
        ("expected values", |kind| {
            matches!(kind, Kind::Expected { .. })
        }),
        ("locks", |kind| kind == Kind::Guard(Guard::Lock)),
        ("conditions", |kind| kind == Kind::Guard(Guard::Condition)),
        ("all", |_| true),
    ];
    for (name, is_meant) in rows {
        let of_kind = || fates.iter().filter(|(kind, _)| is_meant(*kind));
        let count = |fate| of_kind().filter(|(_, other)| *other == fate).count();
        let _ = writeln!(
            out,
            "{name:<16}{:>9}{:>9}{:>9}{:>12}{:>10}{:>9}",
            of_kind().count(),
            count(Fate::Caught),
            count(Fate::Refused),
            count(Fate::Equivalent),
            count(Fate::Survived),
            count(Fate::Unseen),
        );
    }
    out
}

/// The share of the mutants that change behaviour which was caught, in words.
pub fn share(fates: &[(Kind, Fate)]) -> String {
    let is = |wanted: &[Fate]| {
        let found = fates.iter().filter(|(_, fate)| wanted.contains(fate));
        found.count()
    };
    let caught = is(&[Fate::Caught, Fate::Refused]);
    let all = caught + is(&[Fate::Survived]);
    // Cut, not rounded: 100 % is all of them.
    let tenths = (caught * 1000).checked_div(all).unwrap_or(1000);
    format!(
        "caught: {caught} of {all} that change behaviour, {}.{} %",
        tenths / 10,
        tenths % 10
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep::scenario::Span;

    #[test]
    fn a_mutant_is_shown_at_its_place() {
        let source = SourceFile {
            path: "a.yaml".into(),
            text: "x\nrows: [[1],\n  [2]]\n".into(),
        };
        let edit = Edit {
            span: Span { start: 8, end: 20 },
            text: "[[2], [2]]".to_owned(),
            kind: Kind::Expected { steers: false },
        };
        assert_eq!(
            line(&source, &edit),
            "a.yaml:2: `[[1], [2]]` -> `[[2], [2]]`"
        );
    }

    #[test]
    fn the_share_is_of_what_changes_behaviour() {
        let kind = Kind::Guard(Guard::Lock);
        let fates = |all: &[Fate]| all.iter().map(|fate| (kind, *fate)).collect::<Vec<_>>();
        let most = [
            Fate::Caught,
            Fate::Refused,
            Fate::Equivalent,
            Fate::Survived,
            Fate::Unseen,
        ];
        assert_eq!(
            share(&fates(&most)),
            "caught: 2 of 3 that change behaviour, 66.6 %"
        );
        assert_eq!(
            share(&fates(&[])),
            "caught: 0 of 0 that change behaviour, 100.0 %"
        );
    }
}
