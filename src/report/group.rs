//! Results of the same case, taken together.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use crate::runner::{CaseResult, Verdict};
use crate::server::Release;

/// The runs of one case on one release: one, or as many as `--repeat` asks for.
#[derive(Debug, Clone)]
pub struct CaseGroup<'a> {
    /// The runs, in the order of the results; at least one.
    pub runs: Vec<&'a CaseResult>,
}

/// Puts the runs of each case together, in the order in which the cases first appear.
#[must_use]
pub fn group(results: &[CaseResult]) -> Vec<CaseGroup<'_>> {
    let mut groups: Vec<CaseGroup<'_>> = Vec::new();
    let mut known: HashMap<(&Path, &str, Release), usize> = HashMap::new();
    for result in results {
        let key = (
            result.scenario.source.path.as_path(),
            result.case.as_str(),
            result.release,
        );
        let at = *known.entry(key).or_insert_with(|| {
            groups.push(CaseGroup { runs: Vec::new() });
            groups.len() - 1
        });
        groups[at].runs.push(result);
    }
    groups
}

/// Puts together what did not pass in the same way on several releases: the first of each, and the
/// releases of the others.
pub(super) fn alike<'g, 'a>(
    groups: &[&'g CaseGroup<'a>],
) -> Vec<(&'g CaseGroup<'a>, Vec<Release>)> {
    let mut alike: Vec<(&CaseGroup<'a>, Vec<Release>)> = Vec::new();
    let mut known: HashMap<(&Path, &str, Kind, &str, String), usize> = HashMap::new();
    for group in groups {
        let (_, result) = group.worst();
        let kind = Kind::of(&result.verdict);
        let accepted = match &result.verdict {
            Verdict::Differs { accepted } => accepted.as_str(),
            Verdict::Unmet(_) | Verdict::New => "",
            // The messages of servers name what is theirs alone.
            _ => {
                alike.push((group, Vec::new()));
                continue;
            }
        };
        let key = (
            result.scenario.source.path.as_path(),
            result.case.as_str(),
            kind,
            accepted,
            result.transcript.text().as_str().to_owned(),
        );
        match known.get(&key) {
            Some(at) => alike[*at].1.push(result.release),
            None => {
                known.insert(key, alike.len());
                alike.push((group, Vec::new()));
            }
        }
    }
    alike
}

impl<'a> CaseGroup<'a> {
    /// The run that stands for the case: the first of those with the weightiest verdict, and its
    /// number, counted from 1.
    #[must_use]
    pub fn worst(&self) -> (usize, &'a CaseResult) {
        let mut worst = 0;
        for (at, run) in self.runs.iter().enumerate() {
            if weight(&run.verdict) > weight(&self.runs[worst].verdict) {
                worst = at;
            }
        }
        (worst + 1, self.runs[worst])
    }

    /// How long the runs took, added up.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.runs.iter().map(|run| run.elapsed).sum()
    }

    /// How the runs came out, when there are several: `200 of 200 passed`, `3 of 200 runs differ in
    /// 2 ways`.
    pub(super) fn tally(&self) -> Option<String> {
        let all = self.runs.len();
        if all == 1 {
            return None;
        }
        let mut parts = Vec::new();
        for kind in Kind::FAILED {
            let number = self.of(kind).count();
            if number == 0 {
                continue;
            }
            let mut part = if parts.is_empty() {
                let runs = if number == 1 { "run" } else { "runs" };
                format!("{number} of {all} {runs} {}", kind.verb(number))
            } else {
                format!("{number} {}", kind.verb(number))
            };
            // Runs that are not alike say more than any one of them.
            let ways = match kind {
                Kind::Differs | Kind::New => self.ways(kind),
                _ => 1,
            };
            if ways > 1 {
                part.push_str(&format!(" in {ways} ways"));
            }
            parts.push(part);
        }
        if parts.is_empty() {
            parts.push(format!("{all} of {all} passed"));
        }
        Some(parts.join(", "))
    }

    /// Whether the runs all came out the same.
    pub(super) fn are_alike(&self) -> bool {
        let kind = Kind::of(&self.runs[0].verdict);
        self.of(kind).count() == self.runs.len() && self.ways(kind) == 1
    }

    /// The runs with a verdict.
    fn of(&self, kind: Kind) -> impl Iterator<Item = &'a CaseResult> {
        let runs = self.runs.iter().copied();
        runs.filter(move |run| Kind::of(&run.verdict) == kind)
    }

    /// How many different transcripts the runs with a verdict gave.
    fn ways(&self, kind: Kind) -> usize {
        let texts: HashSet<String> = self
            .of(kind)
            .map(|run| run.transcript.text().as_str().to_owned())
            .collect();
        texts.len()
    }
}

/// A verdict without what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Pass,
    New,
    Differs,
    Unmet,
    Invalid,
    Error,
}

impl Kind {
    /// Those that are no pass, the lightest first.
    pub(super) const FAILED: [Self; 5] = [
        Self::Differs,
        Self::Unmet,
        Self::New,
        Self::Invalid,
        Self::Error,
    ];

    pub(super) const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::New => Self::New,
            Verdict::Differs { .. } => Self::Differs,
            Verdict::Unmet(_) => Self::Unmet,
            Verdict::Invalid(_) | Verdict::Unreadable(_) => Self::Invalid,
            Verdict::Error(_) | Verdict::Unserved(_) => Self::Error,
        }
    }

    /// The word at the beginning of a case's line.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::New => "NEW",
            Self::Differs => "DIFFERS",
            Self::Unmet => "UNMET",
            Self::Invalid => "INVALID",
            Self::Error => "ERROR",
        }
    }

    /// What a number of cases or runs did.
    pub(super) const fn verb(self, number: usize) -> &'static str {
        match (self, number) {
            (Self::Pass, _) => "passed",
            (Self::New, _) => "new",
            (Self::Differs, 1) => "differs",
            (Self::Differs, _) => "differ",
            (Self::Unmet, _) => "unmet",
            (Self::Invalid, _) => "invalid",
            (Self::Error, 1) => "error",
            (Self::Error, _) => "errors",
        }
    }
}

/// Which verdict stands for several runs: an expectation says more than a snapshot, and what kept
/// a run from its end more than both.
const fn weight(verdict: &Verdict) -> u8 {
    Kind::of(verdict) as u8
}
