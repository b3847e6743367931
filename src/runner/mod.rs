//! Replays a case and says what happened.

mod alias;
mod blocking;
mod case;
mod cast;
mod connect;
mod event;
pub mod expect;
mod failure;
mod faults;
mod fleet;
mod live;
mod loss;
mod observer;
mod orphan;
mod outcome;
mod own;
mod refusal;
mod replay;
mod report;
mod restart;
mod run;
mod settle;
mod silence;
mod steps;
mod trouble;

pub use event::{CaseId, RunEvent};
pub use fleet::{Fleet, Start, Starting};
pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
pub use run::{Judge, RunOptions, replay, run};
