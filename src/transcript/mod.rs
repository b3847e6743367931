//! What was observed in one case: events, and their text, which reads like psql to the byte.

mod answer;
mod event;
pub mod json;
pub mod psql;
mod schedules;
mod sent;
mod text;
mod time;
mod volatile;

pub use answer::{
    Answer, Column, Notification, ResultSet, ServerMessage, Severity, TransactionStatus,
};
pub use event::{Event, EventKind, Lock, LockTarget, Transcript};
pub(crate) use psql::display_width;
pub use schedules::{PlayedSchedule, PlayedSchedules, ScheduleOutcome};
pub(crate) use sent::opening;
pub use text::{Block, TranscriptText};
