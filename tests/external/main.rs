//! Servers that somebody else runs. An embedded server plays that part.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod encryption;
mod front;
mod program;
mod rights;
