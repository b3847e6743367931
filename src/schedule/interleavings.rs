//! All orders that keep each session's own order.

use super::model::{Schedule, ScheduledStep, StepPlace};

/// Every interleaving of sessions with so many steps each, the steps of the first session coming
/// as early as they can at first. Only one is kept at a time.
///
/// ```
/// let orders: Vec<Vec<usize>> = lockstep::schedule::interleavings(&[2, 1])
///     .map(|schedule| schedule.steps.iter().map(|step| step.step.session).collect())
///     .collect();
/// assert_eq!(orders, [[0, 0, 1], [0, 1, 0], [1, 0, 0]]);
/// ```
#[must_use]
pub fn interleavings(steps: &[usize]) -> Interleavings {
    let first = steps
        .iter()
        .enumerate()
        .flat_map(|(session, count)| std::iter::repeat_n(session, *count))
        .collect();
    Interleavings { next: Some(first) }
}

/// How many interleavings there are: a multinomial coefficient.
pub(super) fn count(steps: &[usize]) -> Option<u128> {
    let mut all: u128 = 0;
    let mut count: u128 = 1;
    for steps in steps {
        for step in 1..=u128::try_from(*steps).ok()? {
            all += 1;
            // What is divided is a product of `step` numbers in a row over those before.
            count = count.checked_mul(all)? / step;
        }
    }
    Some(count)
}

/// Goes through all interleavings: see [`interleavings`].
#[derive(Debug, Clone)]
pub struct Interleavings {
    /// Whose turn it is at each place of the order that comes next.
    next: Option<Vec<usize>>,
}

impl Iterator for Interleavings {
    type Item = Schedule;

    fn next(&mut self) -> Option<Schedule> {
        let order = self.next.take()?;
        let schedule = schedule(&order);
        self.next = successor(order);
        Some(schedule)
    }
}

fn schedule(order: &[usize]) -> Schedule {
    let sessions = order.iter().max().map_or(0, |last| last + 1);
    let mut taken = vec![0; sessions];
    let steps = order
        .iter()
        .map(|session| {
            let step = taken[*session];
            taken[*session] += 1;
            ScheduledStep {
                step: StepPlace {
                    session: *session,
                    step,
                },
                markers: Vec::new(),
            }
        })
        .collect();
    Schedule { steps }
}

/// The next order of the same turns, as words are ordered in a dictionary.
fn successor(mut order: Vec<usize>) -> Option<Vec<usize>> {
    let rise = order.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = order.iter().rposition(|turn| *turn > order[rise])?;
    order.swap(rise, larger);
    order[rise + 1..].reverse();
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_are_counted_and_all_differ() {
        for steps in [vec![], vec![3], vec![0, 2], vec![2, 2, 2], vec![1, 4, 2]] {
            let mut all: Vec<Vec<usize>> = interleavings(&steps)
                .map(|schedule| schedule.steps.iter().map(|s| s.step.session).collect())
                .collect();
            let found = all.len();
            all.dedup();
            assert!(all.is_sorted());
            assert_eq!(all.len(), found);
            assert_eq!(count(&steps), u128::try_from(found).ok(), "{steps:?}");
        }
    }

    #[test]
    fn each_session_takes_its_steps_in_order() {
        for schedule in interleavings(&[2, 3]) {
            for session in 0..2 {
                let own = schedule.steps.iter().filter(|s| s.step.session == session);
                assert!(own.map(|s| s.step.step).eq(0..2 + session));
            }
        }
    }

    #[test]
    fn a_thousand_steps_are_begun_without_counting_them() {
        assert_eq!(interleavings(&[500, 500]).take(3).count(), 3);
    }
}
