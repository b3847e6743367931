//! What a scenario itself asks to replace.

use std::borrow::Cow;

use super::names::Names;
use crate::scenario::Redaction;
use crate::transcript::answer::{Answer, ServerMessage};

/// Applies redactions, one after the other, to everything that the server sent.
pub(super) fn apply(redactions: &[Redaction], answers: &mut [Answer], names: &Names<'_>) {
    for redaction in redactions {
        let redact = |text: &mut String| {
            for found in redaction.pattern.find_iter(text) {
                names.note(&redaction.replacement, found.as_str());
            }
            if let Cow::Owned(redacted) = redaction
                .pattern
                .replace_all(text, redaction.replacement.as_str())
            {
                *text = redacted;
            }
        };
        redact_copied(answers, &redact);
        for answer in &mut *answers {
            redact_answer(answer, &redact);
        }
    }
}

fn redact_answer(answer: &mut Answer, redact: &dyn Fn(&mut String)) {
    match answer {
        Answer::Rows(result) => {
            let names = result.columns.iter_mut().map(|column| &mut column.name);
            names.for_each(redact);
            result.rows.iter_mut().flatten().flatten().for_each(redact);
        }
        Answer::Notice(message) | Answer::Error(message) => redact_message(message, redact),
        Answer::Notification(notification) => {
            redact(&mut notification.channel);
            redact(&mut notification.payload);
        }
        _ => {}
    }
}

fn redact_message(message: &mut ServerMessage, redact: &dyn Fn(&mut String)) {
    redact(&mut message.message);
    let others = [&mut message.detail, &mut message.hint, &mut message.context];
    others.into_iter().flatten().for_each(redact);
}

/// The data of COPY may have been cut anywhere; a pattern sees all of it.
fn redact_copied(answers: &mut [Answer], redact: &dyn Fn(&mut String)) {
    let is_copied = |answer: &Answer| matches!(answer, Answer::CopyOut(_));
    for run in answers.chunk_by_mut(|one, next| is_copied(one) && is_copied(next)) {
        let mut data = Vec::new();
        for answer in &*run {
            if let Answer::CopyOut(piece) = answer {
                data.extend_from_slice(piece);
            }
        }
        // What is no text in UTF-8 is left alone.
        let Ok(text) = String::from_utf8(data) else {
            continue;
        };
        let mut redacted = text.clone();
        redact(&mut redacted);
        if redacted == text {
            continue;
        }
        let mut whole = redacted.into_bytes();
        for answer in run {
            *answer = Answer::CopyOut(std::mem::take(&mut whole));
        }
    }
}
