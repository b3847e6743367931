//! The transcript as data: one JSON document, in a form that other programs may rely on.
//!
//! [`TranscriptsDocument::VERSION`] changes when something that a reader may rely on does; what is
//! only added does not count.

mod answer;
mod deadlock;
mod document;
mod event;

pub use answer::{
    AnswerData, AnswerDocument, ColumnDocument, MessageDocument, NotificationDocument,
};
pub use deadlock::DeadlockedDocument;
pub use document::{
    BackendDocument, BlockDocument, OutcomeDocument, ReplacedDocument, ScheduleDocument,
    SchedulesDocument, Subject, TranscriptDocument, TranscriptsDocument, TroubleDocument,
};
pub use event::{
    AwaitedDocument, BlockerDocument, EventData, EventDocument, LockDocument, TargetDocument,
};

use crate::scenario::SessionIndex;

/// The name of a session; of the outside observer there is none.
fn session_name(sessions: &[String], session: SessionIndex) -> Option<String> {
    sessions.get(session.0).cloned()
}
