//! Servers in containers, each of which is there for one run.

mod engine;
mod error;
mod held;
mod owner;
mod request;
mod start;
mod sweep;

pub use error::{ContainerError, ContainerErrorKind};
pub use start::Server;

pub(super) use engine::Engine;
pub(super) use start::{Data, start};
