//! A scenario in one of the orders that it may be played in.

use super::{Role, Scenario};
use crate::schedule::{Schedule, Schedules, StepPlace};

/// A scenario whose steps stand in the order of one schedule.
#[derive(Debug, Clone)]
pub struct InOrder {
    /// The scenario; it has no schedules any more.
    pub scenario: Scenario,
    /// For each of its steps the position among the steps of the scenario with the schedules.
    pub origins: Vec<usize>,
}

impl InOrder {
    /// The names of the steps of the schedule, in its order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let steps = self.scenario.steps.iter();
        let owned = steps.filter(|step| matches!(step.role, Role::Owned { .. }));
        let ids = owned.filter_map(|step| step.id.as_ref());
        ids.map(|id| id.value.clone()).collect()
    }
}

impl Scenario {
    /// The scenario as it is played in one order. What the sessions do not own comes after it.
    #[must_use]
    pub fn in_order(&self, schedule: &Schedule) -> InOrder {
        let mut steps = Vec::with_capacity(schedule.steps.len());
        let mut origins = Vec::with_capacity(schedule.steps.len());
        for scheduled in &schedule.steps {
            let Some(origin) = self.position_of(scheduled.step) else {
                continue;
            };
            let mut step = self.steps[origin].clone();
            if let Role::Owned { markers, .. } = &mut step.role {
                markers.clone_from(&scheduled.markers);
            }
            steps.push(step);
            origins.push(origin);
        }
        for (origin, step) in self.steps.iter().enumerate() {
            if !matches!(step.role, Role::Owned { .. }) {
                steps.push(step.clone());
                origins.push(origin);
            }
        }
        let scenario = Self {
            steps,
            schedules: None,
            ..self.clone()
        };
        InOrder { scenario, origins }
    }

    /// How many schedules it has; it may also have its steps in one order.
    #[must_use]
    pub fn count(&self) -> usize {
        let schedules = self.schedules.as_deref();
        let count = schedules.map_or(Some(1), Schedules::count);
        count
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(usize::MAX)
    }

    fn position_of(&self, place: StepPlace) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| matches!(step.role, Role::Owned { place: own, .. } if own == place))
    }
}
