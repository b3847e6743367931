//! Accepted transcripts, in `snapshots/`: compare with them, propose new ones, accept those.
//!
//! A snapshot is a `.snap` file in the form of insta, a pending one a `.snap.new` beside it. What
//! `lockstep accept` and `cargo insta accept` leave behind is the same to the byte.
//!
//! Texts are compared to the byte. CRLF line ends, which git may write on Windows, do not count;
//! spaces at the end of a line do, so an editor must not trim `*.snap`.
//!
//! # Releases
//!
//! `<case>.snap`, the base, is what the default release does (the newest that is pinned), and holds
//! for every release that no variant names. Where releases behave otherwise they share a variant, `<case>@13-14.snap`, named
//! for their majors; a file stands only where behaviour differs. Of two variants that name a major,
//! the one that names fewer holds.
//!
//! - A run proposes a file for each text that is not accepted, whichever releases ran; what earlier
//!   runs proposed for other releases stays pending. Accepting joins, splits, renames and removes
//!   files, so that nothing stands twice.
//! - A case that is run on another release only gets a base, whose header lists that release. When
//!   the default one turns out to differ, its text becomes the base, and the other's a variant.
//! - When the base's own release behaves otherwise, releases that were not run go with it: most
//!   often the scenario was changed. Releases with a variant keep that.
//! - The header lists the releases that were seen to behave so by the time the file was accepted.
//!   A run that passes changes no file, unless it is to accept: then the header also lists the
//!   releases on which it passed.
//!
//! # Steps that may end in several ways
//!
//! A step with `one_of` makes the transcript a matter of which outcome came. Where it was another
//! than the first, the case has a snapshot of its own for that: its name is followed by the numbers
//! of the outcomes, one for each such step, as in `default~2-1.snap`. As the scenario allows them, a
//! run on which there is no snapshot for other outcomes passes, and proposes one.
//!
//! # Reviewing with `cargo insta`
//!
//! `cargo insta accept` puts a pending file in the place of the accepted one, and cannot join,
//! split or remove others. Where that leaves an old variant in the way, the next run proposes what
//! is missing, and tells of variants that change nothing.
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
mod files;
mod format;
mod header;
mod layout;
mod outcomes;
mod plan;
mod store;
mod texts;
mod unused;
mod variant;
mod walk;

pub(crate) use diff::visible;
pub use diff::{Diff, DiffLine, Hunk, Side};
pub use error::{SnapshotError, SnapshotErrorKind};
pub(crate) use files::write_whole;
pub use format::Snapshot;
pub use header::Header;
pub use layout::{Layout, file_name};
pub use store::{Accepted, Change, Comparison, Mode, Observed, SnapshotKey, Store};
pub use unused::{Unused, UsedCase, WhyUnused};
