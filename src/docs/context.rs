//! What the parts of one page are written with.

use std::path::Path;

use super::library::{Entry, Library};
use crate::scenario::{Diagnostic, Mistake, Mistakes, Span, Spanned};

/// The library, the page, and what was found wrong.
pub(super) struct Context<'a> {
    pub library: &'a Library,
    /// The folder of the page.
    pub folder: &'a Path,
    /// What is wrong with the page.
    pub mistakes: Mistakes,
    /// What is wrong with the scenarios.
    pub in_scenarios: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    /// The scenarios of a path; there is at least one.
    pub(super) fn entries(&mut self, path: &Spanned<String>) -> Option<&'a [Entry]> {
        match self.library.entries(&path.value) {
            Ok([]) => {
                let help = "a scenario is a file whose name ends in .yaml or .yml";
                self.refuse(path.span, "no scenario here", "it is empty", help);
                None
            }
            Ok(entries) => Some(entries),
            Err(why) => {
                let help = "paths are as from the folder in which the command is run";
                self.refuse(path.span, why, "not found", help);
                None
            }
        }
    }

    /// Reports a mistake in the page.
    pub(super) fn refuse(&mut self, span: Span, message: &str, label: &str, help: &str) {
        self.mistakes
            .report(Mistake::new(span, message).label(label).help(help));
    }

    /// Reports that nothing is accepted of a case.
    pub(super) fn refuse_unaccepted(&mut self, span: Span, file: &Path, case: &str) {
        let message = format!("nothing is accepted of {}, case `{case}`", file.display());
        let help = "`lockstep run` replays it, and `lockstep accept` makes the snapshot";
        self.refuse(span, &message, "no snapshot", help);
    }
}
