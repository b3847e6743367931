//! `lockstep run` with isolation specs.

mod convert;
mod options;
mod run;
mod select;

pub(super) use convert::{ConvertOptions, convert};
pub(super) use options::IsolationOptions;
pub(super) use run::run;
pub(super) use select::specs;
