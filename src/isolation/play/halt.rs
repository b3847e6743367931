//! Why a spec is not played to its end.

use crate::wire::{Closing, SendError};

/// Why a spec is not played to its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// A set-up failed; the character of its SQL where that is, counted from 1.
    Setup(Part, Option<u32>),
    /// Something takes too long.
    TimeLimit(Part),
    /// Something waits for what can never happen.
    Stuck(Part),
    /// Markers hold back the report of a session's step, and nothing will change that.
    HeldBack(usize),
    /// The session of a step has lost its connection.
    Disconnected(usize),
    /// A message cannot be sent.
    Send(Part, SendError),
    /// An answer cannot be taken in.
    Answer(Part, Closing),
    /// The observer's connection failed.
    Observer(tokio_postgres::Error),
}

/// A part of a spec that sends SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A global set-up, by its position.
    Setup(usize),
    /// The set-up of a session.
    SessionSetup(usize),
    /// The step that a session is at.
    Step(usize),
    /// The tear-down of a session.
    SessionTeardown(usize),
    /// The global tear-down.
    Teardown,
}
