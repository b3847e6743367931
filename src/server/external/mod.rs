//! Servers that somebody else runs.
//!
//! ```no_run
//! use lockstep::server::external::{self, ConnectionUrl, Environment};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let url = ConnectionUrl::from_text("postgresql://anna@db.example/").ok_or("no URL")?;
//! let environment = Environment {
//!     password: Some("secret".to_owned()),
//!     ..Environment::default()
//! };
//! let server = external::start(&url, None, &environment).await?;
//! for note in server.notes() {
//!     eprintln!("-- {note}");
//! }
//! println!("PostgreSQL {}", server.release());
//! server.stop().await?;
//! # Ok(())
//! # }
//! ```

mod environment;
mod error;
mod password_file;
mod rights;
mod server;
mod sweep;
mod target;
mod url;

pub use environment::Environment;
pub use error::{ExternalError, ExternalErrorKind};
pub use server::{Server, WantedRelease, start};
pub use url::{ConnectionUrl, UrlMistake, redact};
