//! Lockstep replays scripted races on PostgreSQL and proves what happened.
//!
//! A scenario file names sessions, interleaves their statements one by one, and states what must
//! come out. Data goes one way: a file is [loaded](scenario), its cases are each
//! case is [replayed](runner) on a [pinned server](server) over [scripted connections](wire), which
//! gives a [transcript]; that is compared with the [snapshot] and [reported](report).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cli;
pub mod judge;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod server;
pub mod snapshot;
pub mod transcript;
pub mod wire;
