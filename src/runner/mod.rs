//! Replays a case and says what happened.

mod alias;
mod blocking;
mod case;
mod cast;
mod clock;
mod connect;
mod event;
pub mod expect;
mod exploration;
mod failure;
mod faults;
mod fleet;
mod live;
mod locks;
mod loss;
mod observer;
mod options;
mod orphan;
mod outcome;
mod own;
mod refusal;
mod replay;
mod report;
mod restart;
mod run;
mod seat;
mod settle;
mod signals;
mod silence;
mod steps;
mod streams;
mod trouble;

pub(crate) use blocking::{
    BUFFER_PIN, Known, SYNC_REP, SeenBlocker, Sighting, Standing, VACUUM_TRUNCATE, standings,
};
pub(crate) use cast::{Backend, Cast};
pub use event::{CaseId, RunEvent};
pub use fleet::{Fleet, Start, Starting};
pub(crate) use observer::Observer;
pub use options::ReplayOptions;
pub use outcome::{CaseResult, Outcome, Trouble, Verdict};
pub(crate) use replay::names_a_timeout;
pub use run::{Judge, RunOptions, replay, run};
pub(crate) use settle::{FIRST_LOOK, LOOKS_APART};
pub(crate) use trouble::tell;
