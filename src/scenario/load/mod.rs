//! The loader: a scenario file in, a [`Scenario`](super::Scenario) or all its mistakes out.

mod actions;
mod beside;
mod claims;
mod clock;
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
mod sending;
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
mod waits;
mod when;

pub use duration::{ParseDurationError, parse as parse_duration};
pub use entry::{LoadError, Loaded, load, load_all, parse};
pub use known_settings::{SERVER_SETTINGS, SUPERUSER_SETTINGS};
pub use read::{ReadError, ReadErrorKind, read};
