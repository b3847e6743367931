//! ErrorResponse and NoticeResponse, field by field.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;

use crate::transcript::{ServerMessage, Severity};

/// Collects the fields of an error or a notice. `otherwise` is how bad it is when the server does
/// not say so in a word that is known.
pub(super) fn server_message(
    mut fields: ErrorFields<'_>,
    otherwise: Severity,
) -> io::Result<ServerMessage> {
    let mut localized = None;
    let mut fixed = None;
    let mut message = ServerMessage::new(otherwise, "", "");
    while let Some(field) = fields.next()? {
        // The server may report an error before it knows how to encode text for this client.
        let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'S' => localized = severity(&value),
            b'V' => fixed = severity(&value),
            b'C' => message.code = value,
            b'M' => message.message = value,
            b'D' => message.detail = Some(value),
            b'H' => message.hint = Some(value),
            b'P' => message.position = value.parse().ok(),
            b'p' => message.internal_position = value.parse().ok(),
            b'q' => message.internal_query = Some(value),
            b'W' => message.context = Some(value),
            b's' => message.schema = Some(value),
            b't' => message.table = Some(value),
            b'c' => message.column = Some(value),
            b'd' => message.datatype = Some(value),
            b'n' => message.constraint = Some(value),
            b'F' => message.file = Some(value),
            b'L' => message.line = value.parse().ok(),
            b'R' => message.routine = Some(value),
            // The protocol asks frontends to pass over fields they do not know.
            _ => {}
        }
    }
    message.severity = fixed.or(localized).unwrap_or(otherwise);
    Ok(message)
}

fn severity(word: &str) -> Option<Severity> {
    [
        Severity::Panic,
        Severity::Fatal,
        Severity::Error,
        Severity::Warning,
        Severity::Notice,
        Severity::Debug,
        Severity::Info,
        Severity::Log,
    ]
    .into_iter()
    .find(|severity| severity.as_str() == word)
}
