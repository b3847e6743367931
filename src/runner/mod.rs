//! Replays a case and says what happened.

pub mod expect;
mod outcome;

pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
