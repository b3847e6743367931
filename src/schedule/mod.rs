//! Schedules: orders of steps across sessions, listed or all there are, with markers.

mod interleavings;
mod marker;
mod model;

pub use interleavings::{Interleavings, interleavings};
pub use marker::{Progress, is_held_back, is_reported_waiting_first};
pub use model::{Marker, Schedule, ScheduledStep, Schedules, StepPlace};
