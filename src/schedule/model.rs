//! What a schedule is made of.

use std::borrow::Cow;

use super::interleavings::{self, Interleavings};

/// Which step of which session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepPlace {
    /// The position of the session.
    pub session: usize,
    /// The position of the step among those of its session.
    pub step: usize,
}

/// What delays the report of a step. A marker never delays the step itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// The step is reported to wait first, whether it is seen to wait or not.
    WaitsFirst,
    /// Its end is not reported while another session is at this step.
    After(StepPlace),
    /// Its end is not reported before the session of another step has sent so many more notices.
    AfterNotices {
        /// The other step; only its session matters.
        step: StepPlace,
        /// How many notices, counted from when the marked step began.
        notices: u32,
    },
}

/// A step in its place in a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledStep {
    /// The step.
    pub step: StepPlace,
    /// What delays its report.
    pub markers: Vec<Marker>,
}

/// One order of steps across sessions. A step may be left out or come more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The steps, in their order.
    pub steps: Vec<ScheduledStep>,
}

/// The schedules of a scenario or a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedules {
    /// These, in this order.
    Listed(Vec<Schedule>),
    /// Every interleaving that keeps the order of each session's steps, of which there are so
    /// many.
    All(Vec<usize>),
}

impl Schedules {
    /// The schedules, one after the other; of all interleavings only one is kept at a time.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(match self {
            Self::Listed(schedules) => Source::Listed(schedules.iter()),
            Self::All(steps) => Source::All(interleavings::interleavings(steps)),
        })
    }

    /// How many there are; `None` when that is more than a `u128` holds.
    ///
    /// ```
    /// use lockstep::schedule::Schedules;
    ///
    /// assert_eq!(Schedules::All(vec![2, 2]).count(), Some(6));
    /// assert_eq!(Schedules::All(vec![1000, 1000]).count(), None);
    /// ```
    #[must_use]
    pub fn count(&self) -> Option<u128> {
        match self {
            Self::Listed(schedules) => u128::try_from(schedules.len()).ok(),
            Self::All(steps) => interleavings::count(steps),
        }
    }
}

impl<'a> IntoIterator for &'a Schedules {
    type Item = Cow<'a, Schedule>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Goes through [`Schedules`].
#[derive(Debug)]
pub struct Iter<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    Listed(std::slice::Iter<'a, Schedule>),
    All(Interleavings),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Cow<'a, Schedule>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Listed(schedules) => schedules.next().map(Cow::Borrowed),
            Source::All(all) => all.next().map(Cow::Owned),
        }
    }
}
