//! Errors and notices, as psql prints them with its default verbosity.

use super::excerpt;
use crate::transcript::answer::{ServerMessage, Severity};

/// The text of an error or a notice about a statement; its text is empty where the client does not
/// know it.
pub(super) fn render(statement: &str, message: &ServerMessage) -> String {
    let mut out = format!("{}:  {}", message.severity.as_str(), message.message);
    let place = match (message.position, message.internal_position) {
        (Some(position), _) => Some((Some(statement).filter(|text| !text.is_empty()), position)),
        (None, Some(position)) => Some((message.internal_query.as_deref(), position)),
        (None, None) => None,
    };
    match place {
        Some((Some(query), position)) => {
            out.push('\n');
            if let Some(excerpt) = excerpt::render(query, position) {
                out.push_str(&excerpt);
            }
        }
        Some((None, position)) => out.push_str(&format!(" at character {position}\n")),
        None => out.push('\n'),
    }
    // Only errors tell where they happened.
    let context = message
        .context
        .as_ref()
        .filter(|_| is_error(message.severity));
    for (word, text) in [
        ("DETAIL", message.detail.as_ref()),
        ("HINT", message.hint.as_ref()),
        ("QUERY", message.internal_query.as_ref()),
        ("CONTEXT", context),
    ] {
        if let Some(text) = text {
            out.push_str(&format!("{word}:  {text}\n"));
        }
    }
    out
}

const fn is_error(severity: Severity) -> bool {
    matches!(
        severity,
        Severity::Error | Severity::Fatal | Severity::Panic
    )
}
