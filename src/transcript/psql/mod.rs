//! What psql prints for what a server answers.

use super::answer::Answer;

/// The text psql prints for the answers to one statement, each line ended by a newline.
///
/// `statement` is the text that was sent: errors quote it.
#[must_use]
pub fn render(_statement: &str, _answers: &[Answer]) -> String {
    String::new()
}
