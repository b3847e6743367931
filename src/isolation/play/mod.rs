//! Plays specs on a server, by isolationtester's rules.

mod complete;
mod connections;
mod halt;
mod line;
mod look;
mod player;
mod schedule;
mod spec;

pub(crate) use connections::Connections;
pub use spec::{Figures, Played};
pub(crate) use spec::{Place, play};
