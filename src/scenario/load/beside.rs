//! The keys that stand beside the acting one of a step.

use super::super::model::{Action, Reply, Sending};
use super::actions::ACTING;
use super::mistakes::{Mistake, Mistakes};
use super::node::Entry;
use super::sending::SENDING;
use super::values::{self, Fields, Keys};

/// The keys.
pub(super) const BESIDE: Keys = Keys {
    of: "a step",
    known: &["id", "label", "note", "expect", "message", "async", "reply"],
    later: &[],
};

/// Those that say how a session sends.
const OF_SESSIONS: [&str; 3] = ["message", "async", "reply"];

/// What a session sends and how the answer is waited for, by the keys beside it.
pub(super) fn of_session(
    mistakes: &mut Mistakes,
    first: &Entry,
    fields: &Fields<'_>,
    sending: Option<Sending>,
) -> (Option<Sending>, Option<Reply>) {
    let reply = reply(mistakes, fields);
    let message = fields
        .get("message")
        .and_then(|node| values::boolean(mistakes, node));
    let sending = match (sending, fields.entry("message")) {
        (Some(sending), Some(entry)) if message.is_some_and(|message| message.value) => {
            as_message(mistakes, first, entry, sending)
        }
        (sending, _) => sending,
    };
    if let (Some(Sending::Copy { more: true, .. }), Some(entry)) = (&sending, fields.entry("reply"))
    {
        mistakes.report(
            Mistake::new(
                entry.key_span,
                "a stream that stays open has no answer to lose",
            )
            .label("this loses an answer")
            .related(first.value.span, "`more` keeps the stream open")
            .help("let the connection go in a step of its own: `- disconnect: …`"),
        );
    }
    (sending, reply)
}

fn reply(mistakes: &mut Mistakes, fields: &Fields<'_>) -> Option<Reply> {
    let later = match fields.get("async") {
        Some(node) => values::boolean(mistakes, node)?.value,
        None => false,
    };
    let Some(entry) = fields.entry("reply") else {
        return Some(if later { Reply::Later } else { Reply::Awaited });
    };
    let help = "write `reply: lost` if the server gets the statement and the connection is gone before its answer is read, `reply: unsent` if the server never gets it";
    let written = values::text(mistakes, &entry.value, "`lost` or `unsent`", help)?;
    let reply = match written.as_str() {
        "lost" => Reply::Lost,
        "unsent" => Reply::Unsent,
        _ => {
            let shown = values::shown(&written);
            mistakes.report(
                Mistake::new(
                    entry.value.span,
                    format!("expected `lost` or `unsent`, found `{shown}`"),
                )
                .label("not what can become of an answer")
                .help(help),
            );
            return None;
        }
    };
    if let Some(other) = fields.entry("async").filter(|_| later) {
        mistakes.report(
            Mistake::new(
                entry.key_span,
                "an answer is either waited for later or never read",
            )
            .label("it is never read")
            .related(other.key_span, "it is waited for later")
            .help("keep one of them"),
        );
    }
    Some(reply)
}

fn as_message(
    mistakes: &mut Mistakes,
    first: &Entry,
    entry: &Entry,
    sending: Sending,
) -> Option<Sending> {
    let what = match sending {
        Sending::Statements(sql) => return Some(Sending::Message(sql)),
        Sending::Message(_) => return Some(sending),
        Sending::Bound(_) => "a statement with parameters",
        Sending::Prepare { .. } => "a statement that is prepared",
        Sending::Execute { .. } => "a prepared statement",
        Sending::Pipeline(_) => "a pipeline",
        Sending::Copy { .. } => "a COPY with its data",
    };
    mistakes.report(
        Mistake::new(
            entry.key_span,
            "one message of several statements holds nothing but SQL",
        )
        .label("this makes one simple query of it")
        .related(first.value.span, format!("this is {what}"))
        .help("take `message` out"),
    );
    None
}

/// Help for a key that belongs into the mapping behind a session's name.
pub(super) fn belongs_within(session: &str, key: &str) -> Option<String> {
    (SENDING.known.contains(&key) && !ACTING.contains(&session)).then(|| match key {
        "params" => {
            format!("write it together with the SQL: `{session}: {{ sql: …, params: [ … ] }}`")
        }
        "data" | "more" => {
            format!("write it together with the SQL: `{session}: {{ sql: …, data: … }}`")
        }
        _ => format!("write it behind the session: `{session}: {{ {key}: … }}`"),
    })
}

/// Reports keys beside a step to which they can have no meaning.
pub(super) fn refuse_pointless(
    mistakes: &mut Mistakes,
    first: &Entry,
    fields: &Fields<'_>,
    action: Option<&Action>,
) {
    if ACTING.contains(&first.key.as_str()) {
        for entry in OF_SESSIONS.iter().filter_map(|key| fields.entry(key)) {
            mistakes.report(
                Mistake::new(
                    entry.key_span,
                    format!("`{}` says how a session sends something", entry.key),
                )
                .label("no session sends anything here")
                .related(first.key_span, "on this step")
                .help("take it out"),
            );
        }
    }
    let Some(expect) = fields.entry("expect") else {
        return;
    };
    let Some((message, help)) = nothing_comes_out(first, action) else {
        return;
    };
    mistakes.report(
        Mistake::new(expect.key_span, message)
            .label("this expectation")
            .related(first.key_span, "on this step")
            .help(help),
    );
}

/// Why a step has nothing to expect, and what to do.
fn nothing_comes_out(first: &Entry, action: Option<&Action>) -> Option<(String, &'static str)> {
    let told = match first.key.as_str() {
        "say" => (
            "prose has nothing to expect".to_owned(),
            "put it on the step that runs the SQL",
        ),
        "wait_for" => (
            "a `wait_for` step sends nothing, so nothing comes out of it".to_owned(),
            "put it on the step that sent the statement",
        ),
        "check" => return None,
        key if ACTING.contains(&key) => (
            format!("no statement runs in `{key}`, so nothing comes out of it"),
            "put it on a step that sends a statement; a `check:` tells what has become of the data",
        ),
        _ => match action {
            Some(Action::Send {
                reply: Reply::Lost | Reply::Unsent,
                ..
            }) => (
                "nobody reads the answer of this step".to_owned(),
                "take it out; a `check:` tells what has become of the data",
            ),
            _ => return None,
        },
    };
    Some(told)
}
