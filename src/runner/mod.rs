//! Replays a case and says what happened.

mod blocking;
mod case;
mod cast;
mod event;
pub mod expect;
mod fleet;
mod live;
mod observer;
mod outcome;
mod replay;
mod report;
mod run;
mod settle;
mod trouble;

pub use event::{CaseId, RunEvent};
pub use fleet::{Fleet, Start, Starting};
pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
pub use run::{Judge, RunOptions, replay, run};
