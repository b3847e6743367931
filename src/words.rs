//! Words that more than one part of Lockstep says.

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}
