//! The loader: a scenario file in, a [`Scenario`](super::Scenario) or all its mistakes out.

mod claims;
mod cluster;
mod document;
mod duration;
mod entry;
mod expect;
mod expected_error;
mod expected_rows;
mod known_settings;
mod mistakes;
mod names;
mod node;
mod read;
mod release_range;
mod server;
mod sessions;
mod settings;
mod sql;
mod statements;
mod steps;
mod syntax;
mod text;
mod tree;
mod values;

pub use duration::{ParseDurationError, parse as parse_duration};
pub use entry::{LoadError, Loaded, load, load_all, parse};
pub use known_settings::{SERVER_SETTINGS, SUPERUSER_SETTINGS};
pub(crate) use mistakes::{Mistake, Mistakes};
pub(crate) use names::{closest, suggestion};
pub use read::{ReadError, ReadErrorKind, read};
