//! When a marked step may be reported.

use super::model::{Marker, StepPlace};

/// What markers ask of a schedule that is being played.
pub trait Progress {
    /// The step that a session is at: begun, and its end not reported.
    fn current(&self, session: usize) -> Option<StepPlace>;

    /// How many notices of a session have been seen.
    fn notices(&self, session: usize) -> u32;
}

/// Whether a step must be reported to wait first.
#[must_use]
pub fn is_reported_waiting_first(markers: &[Marker]) -> bool {
    markers.contains(&Marker::WaitsFirst)
}

/// Whether the end of a step must not be reported yet. `notices_before` are, for each marker, the
/// notices of its session that had been seen when the step began.
pub fn is_held_back(markers: &[Marker], notices_before: &[u32], progress: &impl Progress) -> bool {
    markers
        .iter()
        .zip(notices_before)
        .any(|(marker, before)| match marker {
            Marker::WaitsFirst => false,
            Marker::After(step) => progress.current(step.session) == Some(*step),
            Marker::AfterNotices { step, notices } => {
                progress.notices(step.session) < before.saturating_add(*notices)
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct At(Option<StepPlace>, u32);

    impl Progress for At {
        fn current(&self, _: usize) -> Option<StepPlace> {
            self.0
        }

        fn notices(&self, _: usize) -> u32 {
            self.1
        }
    }

    const OTHER: StepPlace = StepPlace {
        session: 1,
        step: 0,
    };

    #[test]
    fn a_step_is_held_back_while_another_session_is_at_the_step_that_is_named() {
        let markers = [Marker::After(OTHER)];
        assert!(is_held_back(&markers, &[0], &At(Some(OTHER), 0)));
        let next = StepPlace { step: 1, ..OTHER };
        assert!(!is_held_back(&markers, &[0], &At(Some(next), 0)));
        assert!(!is_held_back(&markers, &[0], &At(None, 0)));
    }

    #[test]
    fn notices_are_counted_from_when_the_step_began() {
        let markers = [Marker::AfterNotices {
            step: OTHER,
            notices: 2,
        }];
        assert!(is_held_back(&markers, &[5], &At(None, 6)));
        assert!(!is_held_back(&markers, &[5], &At(None, 7)));
    }

    #[test]
    fn to_wait_first_holds_nothing_back_later() {
        assert!(is_reported_waiting_first(&[Marker::WaitsFirst]));
        assert!(!is_held_back(&[Marker::WaitsFirst], &[0], &At(None, 0)));
    }
}
