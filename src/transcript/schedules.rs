//! What came of a scenario that is played in more than one order.

use std::collections::BTreeMap;

use super::event::{EventKind, Transcript};
use super::psql;
use super::text::Block;
use super::volatile::{Replaced, Volatile};
use crate::words::count;

/// What came of the schedules of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlayedSchedules {
    /// The different outcomes, in the order in which the schedules come to them.
    pub outcomes: Vec<ScheduleOutcome>,
    /// The schedules whose transcripts are kept, in their order: all that are listed or, of all
    /// interleavings, the first of each outcome.
    pub kept: Vec<PlayedSchedule>,
}

/// What some schedules have in common: each step was answered alike in all of them, however long it
/// had waited before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleOutcome {
    /// How many schedules came to it.
    pub schedules: usize,
    /// The names of the steps of the first of them, in its order.
    pub first: Vec<String>,
    /// Why they could not be played to their end: who waits for whom for ever.
    pub stuck: Option<String>,
}

/// One schedule that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedSchedule {
    /// The names of its steps, in its order.
    pub steps: Vec<String>,
    /// The position of its outcome in [`PlayedSchedules::outcomes`].
    pub outcome: usize,
    /// For each step of its transcript the position in the scenario's steps.
    pub origins: Vec<usize>,
    /// What was observed.
    pub transcript: Transcript,
}

impl PlayedSchedules {
    /// How many schedules were played.
    #[must_use]
    pub fn count(&self) -> usize {
        self.outcomes.iter().map(|outcome| outcome.schedules).sum()
    }

    /// The text, piece by piece, and what stands in it for values of this run.
    pub(super) fn write(&self) -> (Vec<Block>, Vec<Replaced>) {
        let mut blocks = vec![Block {
            step: 0,
            text: self.summary(),
        }];
        let mut replaced = Vec::new();
        for schedule in &self.kept {
            let (own, values) = schedule.transcript.write();
            let origin = |step: usize| schedule.origins.get(step).copied().unwrap_or(0);
            let first = origin(0);
            let names = schedule.steps.join(" ");
            let number = schedule.outcome + 1;
            blocks.push(Block {
                step: first,
                text: format!("-- schedule {names} (outcome {number})\n"),
            });
            let last = own.last().map_or(first, |block| origin(block.step));
            blocks.extend(own.into_iter().map(|block| Block {
                step: origin(block.step),
                text: block.text,
            }));
            if let Some(stuck) = &self.outcomes[schedule.outcome].stuck {
                blocks.push(Block {
                    step: last,
                    text: format!("-- nothing can end this: {stuck}\n"),
                });
            }
            for value in values {
                if !replaced.contains(&value) {
                    replaced.push(value);
                }
            }
        }
        (blocks, replaced)
    }

    /// How many schedules came to which outcome.
    fn summary(&self) -> String {
        let schedules = count(self.count(), "schedule");
        let outcomes = count(self.outcomes.len(), "outcome");
        let mut text = format!("-- {schedules}, {outcomes}\n");
        for (at, outcome) in self.outcomes.iter().enumerate() {
            let schedules = count(outcome.schedules, "schedule");
            let such_as = match outcome.schedules {
                1 => ":",
                _ => ", such as:",
            };
            let first = outcome.first.join(" ");
            let number = at + 1;
            text.push_str(&format!(
                "-- outcome {number}, {schedules}{such_as} {first}\n"
            ));
            if let Some(stuck) = &outcome.stuck {
                text.push_str(&format!("--   not played to the end: {stuck} for ever\n"));
            }
        }
        text
    }
}

impl Transcript {
    /// What each step was answered, whenever it came and however long it had waited, as it is
    /// shown. Two orders of the same steps have the same outcome where this is equal. `origins` says
    /// of each step which one it is in all orders.
    #[must_use]
    pub fn outcome(&self, origins: &[usize]) -> String {
        let volatile = Volatile::of(self);
        let mut answered: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for event in &self.events {
            let EventKind::Answered {
                statement, answers, ..
            } = &event.kind
            else {
                continue;
            };
            let Some(origin) = origins.get(event.step) else {
                continue;
            };
            // A schedule may have a step more than once.
            let before = origins[..event.step].iter();
            let number = before.filter(|other| *other == origin).count();
            let named = volatile.answers(answers);
            let text = psql::render_with(&statement.text, &named, &|pid| volatile.backend(pid));
            answered
                .entry((*origin, number))
                .or_default()
                .push_str(&text);
        }
        let mut outcome = String::new();
        for ((step, number), text) in answered {
            outcome.push_str(&format!("{step} {number}\n{text}"));
        }
        outcome
    }
}
