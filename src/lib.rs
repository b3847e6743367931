//! Lockstep replays scripted races on PostgreSQL and proves what happened.
//!
//! A scenario file names sessions, interleaves their statements one by one, and states what must
//! come out. Data goes one way: a file is [loaded](scenario) and [replayed](runner) on a
//! [pinned server](server) over [scripted connections](wire), which gives a [transcript]; that is
//! [judged](judge) by its expectations and its [snapshot], and [reported](report).
//!
//! # Example
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Duration;
//!
//! use lockstep::server::embedded::Environment;
//! use lockstep::server::{self, Pins, Provider};
//! use lockstep::{runner, scenario};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let scenarios = scenario::load(Path::new("scenarios/queue/two-workers.yaml"))?;
//! let environment = Environment {
//!     cache: None,
//!     xdg_cache_home: None,
//!     home: std::env::home_dir(),
//!     path: std::env::var_os("PATH").unwrap_or_default(),
//!     temp: std::env::temp_dir(),
//!     servers: None,
//! };
//! let pin = Pins::built_in().major(18).ok_or("18 is not pinned")?;
//! let server = server::start(&Provider::Auto, pin, &environment.into(), &|_| ()).await?;
//! for scenario in &scenarios {
//!     let outcome = runner::replay(scenario, &server, Duration::from_secs(30)).await;
//!     print!("{}", outcome.transcript.text().as_str());
//! }
//! server.stop().await;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cli;
pub mod docs;
pub mod isolation;
pub mod judge;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod schedule;
pub mod server;
pub mod snapshot;
pub mod transcript;
pub mod wire;
mod words;
