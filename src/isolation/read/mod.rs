//! The text of a spec → what it says, or every mistake in it.

mod grammar;
mod link;
mod token;

use super::spec::Spec;
use crate::scenario::{Diagnostic, Mistakes, SourceFile};

/// Reads a spec.
///
/// # Errors
///
/// All mistakes that are in it, each with its place.
///
/// # Examples
///
/// ```
/// use lockstep::isolation;
/// use lockstep::scenario::SourceFile;
///
/// let source = SourceFile {
///     path: "race.spec".into(),
///     text: "session a step one { SELECT 1; } session b step two { SELECT 2; }".into(),
/// };
/// let spec = isolation::parse(&source).expect("there is no mistake in it");
/// assert_eq!(spec.schedules.count(), Some(2));
/// ```
pub fn parse(source: &SourceFile) -> Result<Spec, Vec<Diagnostic>> {
    let mut mistakes = Mistakes::new(source.clone());
    let tokens = token::tokens(&source.text, &mut mistakes);
    let parsed = grammar::parse(&tokens, source.text.len(), &mut mistakes);
    let spec = link::link(source, parsed, &mut mistakes);
    if mistakes.is_empty() {
        Ok(spec)
    } else {
        Err(mistakes.into_diagnostics())
    }
}
