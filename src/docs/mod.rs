//! Generated parts of Markdown files: transcripts, tables over a matrix, lists of scenarios.
//!
//! Everything here is a function of texts: of the Markdown, of scenario files and of accepted
//! snapshots. A part stands between two comments, and everything else in a file stays as it is, to
//! the byte:
//!
//! ```text
//! <!-- lockstep: transcript scenarios/queue/two-workers.yaml -->
//! …
//! <!-- /lockstep -->
//! ```
//!
//! # Example
//!
//! ```
//! use lockstep::docs::{Library, Page};
//! use lockstep::scenario::{SourceFile, render, RenderStyle};
//!
//! let page = |text: &str| SourceFile { path: "README.md".into(), text: text.into() };
//! let read = Page::read(page("# Races\n")).expect("nothing is wrong");
//! assert_eq!(read.fill(&Library::new("/project".as_ref())).as_deref(), Ok("# Races\n"));
//!
//! let mistakes = Page::read(page("<!-- lockstep: transcipt -->\n<!-- /lockstep -->\n")).unwrap_err();
//! let told = render(&mistakes, RenderStyle::plain());
//! assert!(told.contains("did you mean `transcript`?"), "{told}");
//! ```

mod context;
mod differences;
mod directive;
mod library;
mod list;
mod mark;
mod markdown;
mod matrix;
mod page;
mod transcript;

pub use library::{Case, Entry, Library};
pub use page::Page;
