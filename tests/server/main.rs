//! The embedded provider, with real servers: what a run may rely on, and what is left of one.
//!
//! The tests take the package from the user's cache, which fetches it the first time.

#![cfg(unix)]

mod bench;
mod database;
mod end;
mod fetch;
mod local;
mod neighbours;
mod npm;
mod prune;
mod releases;
mod restart;
mod start;
