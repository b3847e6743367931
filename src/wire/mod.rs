//! The scripted sessions' own PostgreSQL frontend.
//!
//! A transcript needs what general-purpose drivers drop: command tags, the oids of column types,
//! the transaction status, and notices in their place among the results. So this frontend says
//! everything the server says, in the server's order, and decides nothing.
//!
//! [`connect`] gives two halves. The [`Sender`] writes; the [`Receiver`] can be moved into a task
//! and gives one [`Incoming`] at a time.
//!
//! ```no_run
//! use lockstep::server::Address;
//! use lockstep::wire::{self, Incoming, Startup};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let address = Address::Unix { directory: "/tmp".into(), port: 5432 };
//! let startup = Startup {
//!     user: "postgres".into(),
//!     password: String::new(),
//!     database: "postgres".into(),
//!     application_name: "A".into(),
//!     options: vec![("deadlock_timeout".into(), "10ms".into())],
//! };
//! let (mut sender, mut receiver) = wire::connect(&address, &startup).await?;
//! sender.query("SELECT 1;").await?;
//! while let Some(incoming) = receiver.next().await {
//!     match incoming {
//!         Incoming::Answer(answer) => println!("{answer:?}"),
//!         Incoming::Ready(_) | Incoming::Closed(_) => break,
//!     }
//! }
//! sender.terminate().await?;
//! # Ok(())
//! # }
//! ```

mod authentication;
mod cancel;
mod connection;
mod decode;
mod error;
mod extended;
mod fields;
mod receiver;
mod sender;
mod startup;
mod stream;

pub use cancel::CancelToken;
pub use connection::{connect, connect_with_tls};
pub use error::{CancelError, ConnectError, ConnectErrorKind, SendError};
pub use extended::Request;
pub use receiver::{Closing, DEFAULT_LIMIT, Incoming, Receiver};
pub use sender::Sender;
pub use startup::Startup;

pub use crate::transcript::TransactionStatus;
