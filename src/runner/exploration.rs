//! A scenario in all its orders.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::expect::unmet_in;
use super::outcome::{Outcome, Trouble};
use crate::scenario::{Diagnostic, Scenario};
use crate::schedule::{Interleavings, Schedule, Schedules, interleavings};
use crate::server::Release;
use crate::transcript::{PlayedSchedule, PlayedSchedules, ScheduleOutcome, Transcript};

/// The schedules of a scenario while they are played, by as many as like to, each with everything
/// of its own. Of all interleavings only one transcript for each outcome is kept.
pub(crate) struct Exploration {
    scenario: Arc<Scenario>,
    release: Release,
    state: Mutex<State>,
}

/// A schedule that is being played.
pub(crate) struct Turn {
    /// Its position among the schedules.
    number: usize,
    names: Vec<String>,
    scenario: Arc<Scenario>,
    origins: Vec<usize>,
}

impl Turn {
    /// The scenario in the order of the schedule.
    pub(crate) const fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }
}

struct State {
    /// The position of the schedule that begins next.
    next: usize,
    all: Option<Interleavings>,
    /// By what the steps were answered.
    groups: BTreeMap<Key, Group>,
    /// What is kept of schedules, by position: of all that are listed or, of all interleavings, of the
    /// first of each group.
    kept: BTreeMap<usize, Kept>,
    /// The expectations that were not met, each with the schedules in which it was not.
    unmet: Vec<Unmet>,
    /// What ended it, and in which schedule.
    trouble: Option<(usize, Outcome)>,
    is_given_up: bool,
}

struct Group {
    schedules: usize,
    first: usize,
}

struct Unmet {
    diagnostic: Diagnostic,
    schedules: usize,
    first: usize,
    names: Vec<String>,
}

/// What tells outcomes apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The checksum of what the steps were answered.
    Answered([u8; 32]),
    /// Who waits for whom for ever.
    Stuck(String),
}

struct Kept {
    key: Key,
    names: Vec<String>,
    origins: Vec<usize>,
    transcript: Transcript,
}

impl Exploration {
    /// The schedules of a scenario, none of which has begun; nothing where it has one order.
    pub(crate) fn of(scenario: &Arc<Scenario>, release: Release) -> Option<Self> {
        let all = match scenario.schedules.as_deref()? {
            Schedules::Listed(_) => None,
            Schedules::All(steps) => Some(interleavings(steps)),
        };
        Some(Self {
            scenario: Arc::clone(scenario),
            release,
            state: Mutex::new(State {
                next: 0,
                all,
                groups: BTreeMap::new(),
                kept: BTreeMap::new(),
                unmet: Vec::new(),
                trouble: None,
                is_given_up: false,
            }),
        })
    }

    /// The scenario.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How many schedules there are.
    pub(crate) fn count(&self) -> usize {
        self.scenario.count()
    }

    /// The schedule that begins next. After trouble none does.
    pub(crate) fn next(&self) -> Option<Turn> {
        let mut state = self.lock();
        if state.is_given_up || state.trouble.is_some() {
            return None;
        }
        let schedule: Cow<'_, Schedule> = match &mut state.all {
            Some(all) => Cow::Owned(all.next()?),
            None => Cow::Borrowed(self.listed()?.get(state.next)?),
        };
        let number = state.next;
        state.next += 1;
        drop(state);
        let in_order = self.scenario.in_order(&schedule);
        Some(Turn {
            number,
            names: in_order.names(),
            scenario: Arc::new(in_order.scenario),
            origins: in_order.origins,
        })
    }

    /// Takes in what came of a schedule.
    pub(crate) fn take(&self, turn: Turn, outcome: Outcome) {
        let is_listed = self.listed().is_some();
        let transcript = outcome.transcript;
        let mut unmet = Vec::new();
        let key = match outcome.trouble {
            // Of all interleavings some cannot be: there it is one more outcome.
            Some(Trouble::Stuck(stuck)) if !is_listed => Key::Stuck(stuck.label),
            None => {
                unmet = unmet_in(&turn.scenario, &transcript, self.release);
                Key::Answered(Sha256::digest(transcript.outcome(&turn.origins)).into())
            }
            trouble => {
                let outcome = Outcome {
                    transcript,
                    trouble,
                    unmet,
                };
                return self.halt(&turn, outcome);
            }
        };
        let kept = Kept {
            key,
            names: turn.names,
            origins: turn.origins,
            transcript,
        };
        let mut state = self.lock();
        for diagnostic in unmet {
            state.note(turn.number, &kept.names, diagnostic);
        }
        state.keep(turn.number, kept, is_listed);
    }

    /// Ends it; what counts is the first schedule that went wrong.
    fn halt(&self, turn: &Turn, mut outcome: Outcome) {
        if let Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) =
            &mut outcome.trouble
        {
            let names = turn.names.join(" ");
            place_in(diagnostic, format!("in the schedule: {names}"));
        }
        let mut state = self.lock();
        if state
            .trouble
            .as_ref()
            .is_none_or(|(number, _)| turn.number < *number)
        {
            state.trouble = Some((turn.number, outcome));
        }
    }

    /// Ends it because of the server that schedules were to be played on; what a schedule has met
    /// says more.
    pub(crate) fn fail(&self, trouble: Trouble) {
        let outcome = Outcome::without_replay(trouble);
        self.lock().trouble.get_or_insert((usize::MAX, outcome));
    }

    /// The trouble that the server made, if it did.
    pub(crate) fn trouble_of_server(&self) -> Option<Trouble> {
        let state = self.lock();
        let (_, outcome) = state.trouble.as_ref()?;
        outcome.trouble.clone().filter(Trouble::is_of_server)
    }

    /// Puts more words in the place of the trouble that ended it.
    pub(crate) fn explain(&self, trouble: Trouble) {
        if let Some((_, outcome)) = &mut self.lock().trouble {
            outcome.trouble = Some(trouble);
        }
    }

    /// Lets no further schedule begin.
    pub(crate) fn give_up(&self) {
        self.lock().is_given_up = true;
    }

    /// What came of all schedules.
    pub(crate) fn end(self) -> Outcome {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, outcome)) = state.trouble {
            return outcome;
        }
        let mut groups: Vec<(Key, Group)> = state.groups.into_iter().collect();
        groups.sort_by_key(|(_, group)| group.first);
        let outcomes: Vec<ScheduleOutcome> = groups
            .iter()
            .map(|(key, group)| ScheduleOutcome {
                schedules: group.schedules,
                first: state.kept[&group.first].names.clone(),
                stuck: match key {
                    Key::Answered(_) => None,
                    Key::Stuck(stuck) => Some(stuck.clone()),
                },
            })
            .collect();
        let numbers: BTreeMap<Key, usize> = groups
            .into_iter()
            .enumerate()
            .map(|(number, (key, _))| (key, number))
            .collect();
        let kept = state.kept.into_values().map(|kept| PlayedSchedule {
            outcome: numbers[&kept.key],
            steps: kept.names,
            origins: kept.origins,
            transcript: kept.transcript,
        });
        let sessions = self.scenario.sessions.iter();
        let all: usize = outcomes.iter().map(|outcome| outcome.schedules).sum();
        let mut unmet = state.unmet;
        unmet.sort_by_key(|unmet| (unmet.first, unmet.diagnostic.span));
        let unmet = unmet.into_iter().map(|unmet| unmet.tell(all)).collect();
        Outcome {
            transcript: Transcript {
                sessions: sessions.map(|session| session.name.value.clone()).collect(),
                schedules: Some(PlayedSchedules {
                    outcomes,
                    kept: kept.collect(),
                }),
                ..Transcript::default()
            },
            trouble: None,
            unmet,
        }
    }

    /// The schedules, where they are listed.
    fn listed(&self) -> Option<&[Schedule]> {
        match self.scenario.schedules.as_deref() {
            Some(Schedules::Listed(listed)) => Some(listed),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts a schedule, and keeps what came of it where that is to be shown.
    fn keep(&mut self, number: usize, kept: Kept, is_listed: bool) {
        let group = self.groups.entry(kept.key.clone()).or_insert(Group {
            schedules: 0,
            first: number,
        });
        group.schedules += 1;
        let is_first = number <= group.first;
        if is_first {
            let before = std::mem::replace(&mut group.first, number);
            if !is_listed {
                self.kept.remove(&before);
            }
        }
        if is_first || is_listed {
            self.kept.insert(number, kept);
        }
    }

    /// Notes that an expectation was not met in a schedule. It is told once, of the first of them.
    fn note(&mut self, number: usize, names: &[String], diagnostic: Diagnostic) {
        let is_same = |unmet: &&mut Unmet| {
            unmet.diagnostic.span == diagnostic.span
                && unmet.diagnostic.message == diagnostic.message
        };
        let Some(unmet) = self.unmet.iter_mut().find(is_same) else {
            self.unmet.push(Unmet {
                diagnostic,
                schedules: 1,
                first: number,
                names: names.to_vec(),
            });
            return;
        };
        unmet.schedules += 1;
        if number < unmet.first {
            unmet.first = number;
            unmet.names = names.to_vec();
            unmet.diagnostic = diagnostic;
        }
    }
}

impl Unmet {
    /// The expectation, with the schedules in which it was not met, out of so many.
    fn tell(mut self, all: usize) -> Diagnostic {
        let first = self.names.join(" ");
        let place = match self.schedules {
            1 => format!("in one schedule of {all}: {first}"),
            schedules => format!("in {schedules} schedules of {all}, the first: {first}"),
        };
        place_in(&mut self.diagnostic, place);
        self.diagnostic
    }
}

/// Says in which schedule it was.
fn place_in(diagnostic: &mut Diagnostic, place: String) {
    diagnostic.help = Some(match diagnostic.help.take() {
        Some(help) => format!("{place}\n{help}"),
        None => place,
    });
}
