//! Replays a case and says what happened.

mod alias;
mod blocking;
mod case;
mod cast;
mod event;
pub mod expect;
mod failure;
mod fleet;
mod live;
mod locks;
mod loss;
mod observer;
mod options;
mod outcome;
mod own;
mod refusal;
mod replay;
mod report;
mod run;
mod settle;
mod trouble;

pub use event::{CaseId, RunEvent};
pub use fleet::{Fleet, Start, Starting};
pub use options::ReplayOptions;
pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
pub use run::{Judge, RunOptions, replay, run};
