//! Reports: functions of results alone. Nothing here reaches a server or reads the environment.

mod console;
mod details;
mod excerpt;
mod group;
mod matrix;
mod name;
mod palette;
mod progress;
mod specs;

pub use console::{Console, Cut, RunSummary, Verbosity, WhyCut};
pub use group::{CaseGroup, group};
pub use name::{case_name, scenario_name, step_place};
pub use progress::Progress;
pub use specs::{SpecConsole, SpecResult, SpecVerdict};
