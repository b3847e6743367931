//! Mutants: a scenario file with one change, and where the change counts.

use std::collections::BTreeMap;

use lockstep::runner::expect::{Observed, unmet};
use lockstep::scenario::{
    self, Action, Expectation, ReleaseRange, Role, Scenario, SessionIndex, SourceFile, Span,
    SqlText,
};
use lockstep::server::Release;

use super::clauses::{self, Guard};
use super::expected;
use super::replay::Case;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What a step must come to.
    Expected {
        /// Whether the runner reads it, too.
        steers: bool,
    },
    Guard(Guard),
}

/// A change of a file's text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    pub span: Span,
    pub text: String,
    pub kind: Kind,
}

/// One of the outcomes that a step of a case may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    step: usize,
    expectation: usize,
    number: usize,
}

/// A case that an edit changes, and which of its outcomes if it changes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The position of the case.
    pub case: usize,
    pub outcome: Option<Outcome>,
}

/// A file with one change.
#[derive(Debug)]
pub struct Mutant {
    pub edit: Edit,
    pub sites: Vec<Site>,
}

/// Every mutant of a file with these cases, in the order of the text. What several steps or cases
/// share is changed once.
pub fn of_file(cases: &[Scenario]) -> Vec<Mutant> {
    let mut edits: BTreeMap<Edit, Vec<Site>> = BTreeMap::new();
    for (case, scenario) in cases.iter().enumerate() {
        for (edit, outcome) in guards(scenario).chain(values(scenario)) {
            let site = Site { case, outcome };
            let sites = edits.entry(edit).or_default();
            // A statement that several steps of a case use is changed for all of them.
            if !sites.contains(&site) {
                sites.push(site);
            }
        }
    }
    let mutants = edits.into_iter();
    mutants
        .map(|(edit, sites)| Mutant { edit, sites })
        .collect()
}

/// What protects the statements of the set-up and of the sessions. What an observer asks is part of
/// no race.
fn guards(scenario: &Scenario) -> impl Iterator<Item = (Edit, Option<Outcome>)> {
    let of_sessions = scenario
        .sessions
        .iter()
        .filter_map(|one| one.setup.as_ref());
    let sent = scenario.steps.iter().filter_map(|step| match &step.action {
        Action::Send { sending, .. } => Some(sending.sql()),
        _ => None,
    });
    let all = scenario
        .setup
        .iter()
        .chain(of_sessions)
        .chain(sent.flatten());
    all.flat_map(|sql| {
        let changes = clauses::changes(&sql.text);
        changes.into_iter().map(|change| {
            let span = place(sql, change.range);
            let edit = Edit {
                span,
                text: change
                    .by
                    .instead_of(&scenario.source.text[span.start..span.end]),
                kind: Kind::Guard(change.guard),
            };
            (edit, None)
        })
    })
}

fn place(sql: &SqlText, range: std::ops::Range<usize>) -> Span {
    if range.is_empty() {
        let at = sql.origin(range.start);
        return Span { start: at, end: at };
    }
    sql.place(range)
}

fn values(scenario: &Scenario) -> impl Iterator<Item = (Edit, Option<Outcome>)> {
    scenario
        .steps
        .iter()
        .enumerate()
        // That an invariant returns no row is not written anywhere.
        .filter(|(_, step)| !matches!(step.role, Role::Invariant(_)))
        .flat_map(move |(index, step)| {
            let expectations = step.expect.iter().enumerate();
            expectations.flat_map(move |(expectation, wanted)| {
                let outcomes = wanted.outcomes.iter().enumerate();
                outcomes.flat_map(move |(number, expect)| {
                    let outcome = Outcome {
                        step: index,
                        expectation,
                        number,
                    };
                    let changes = expected::changes(scenario, expect, actor(&step.action));
                    changes.into_iter().map(move |change| {
                        let edit = Edit {
                            span: change.span,
                            text: change.text,
                            kind: Kind::Expected {
                                steers: change.steers,
                            },
                        };
                        (edit, Some(outcome))
                    })
                })
            })
        })
}

const fn actor(action: &Action) -> Option<SessionIndex> {
    match action {
        Action::Send { session, .. } | Action::WaitFor(session) => Some(*session),
        _ => None,
    }
}

impl Mutant {
    /// The scenarios of the changed file; none if it is refused.
    pub fn load(&self, source: &SourceFile) -> Option<Vec<Scenario>> {
        let mut text = source.text.to_string();
        text.replace_range(self.edit.span.start..self.edit.span.end, &self.edit.text);
        let changed = SourceFile {
            path: source.path.clone(),
            text: text.into(),
        };
        scenario::parse(&changed).ok()
    }
}

impl Outcome {
    /// Whether this is what a case came to.
    pub fn came(self, case: &Case, release: Release) -> bool {
        let wanted = case.scenario.steps[self.step].expect.iter();
        let release_parts = [release.major, release.minor];
        let counts = wanted
            .clone()
            .position(|wanted| wanted.releases.contains(&release_parts));
        counts == Some(self.expectation)
            && self
                .alone(&case.scenario)
                .is_some_and(|scenario| self.is_met(&scenario, case, release))
    }

    /// Whether what a case came to is what a scenario asks for at this step.
    pub fn is_met(self, scenario: &Scenario, case: &Case, release: Release) -> bool {
        Observed::gather(&case.transcript, self.step).is_none_or(|observed| {
            unmet(scenario, &scenario.steps[self.step], &observed, release).is_empty()
        })
    }

    /// The scenario with no other outcome allowed at this step.
    pub fn alone(self, scenario: &Scenario) -> Option<Scenario> {
        let mut scenario = scenario.clone();
        let step = scenario.steps.get_mut(self.step)?;
        let outcome = step
            .expect
            .get(self.expectation)?
            .outcomes
            .get(self.number)?;
        step.expect = vec![Expectation {
            releases: ReleaseRange::default(),
            outcomes: vec![outcome.clone()],
        }];
        Some(scenario)
    }
}
