//! Plays specs on a server, by isolationtester's rules.

mod complete;
mod halt;
mod line;
mod look;
mod play;
mod player;
mod schedule;

pub use play::{Figures, Played};
pub(crate) use play::{Place, play};
