//! `lockstep run` with isolation specs.

mod options;
mod run;
mod select;

pub(super) use options::IsolationOptions;
pub(super) use run::run;
pub(super) use select::specs;
