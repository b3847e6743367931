//! Accepted transcripts, in `snapshots/`: compare with them, propose new ones, accept those.
//!
//! A snapshot is a `.snap` file in the form of insta, a pending one a `.snap.new` beside it. What
//! `lockstep accept` and `cargo insta accept` leave behind is the same to the byte.
//!
//! Texts are compared to the byte. CRLF line ends, which git may write on Windows, do not count;
//! spaces at the end of a line do, so an editor must not trim `*.snap`.
//!
//! # Reviewing with `cargo insta`
//!
//! cargo-insta (1.49 was tried) asks Cargo for a package and walks its folder, so:
//!
//! - where `snapshots/` lies in the folder of a Cargo package, `cargo insta review` there, or
//!   `cargo insta review --workspace-root DIR` from elsewhere, shows what is pending, and
//!   `cargo insta accept --snapshot snapshots/queue/two-workers/default.snap` takes one;
//! - where it lies in no package, a `Cargo.toml` beside it with a `[package]` of any name and
//!   `[lib] path = "Cargo.toml"` is enough: nothing is built. It makes a `Cargo.lock`, and says that
//!   insta is not among the dependencies, which does not matter;
//! - pending files that git ignores by name are found; where a whole folder is ignored,
//!   `--include-ignored` is needed. Folders named `target`, hidden ones, and packages inside the
//!   package are passed over.

mod diff;
mod error;
mod format;
mod header;
mod layout;
mod store;
mod variant;
mod walk;

pub(crate) use diff::visible;
pub use diff::{Diff, DiffLine, Hunk, Side};
pub use error::{SnapshotError, SnapshotErrorKind};
pub use format::Snapshot;
pub use header::Header;
pub use layout::{Layout, file_name};
pub use store::{Accepted, Comparison, Mode, SnapshotKey, Store};
