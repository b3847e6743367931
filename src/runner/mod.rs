//! Replays a case and says what happened.

mod outcome;

pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
