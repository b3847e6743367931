//! Whether a step waits, and for what.

use super::super::model::{Blocker, Waits};
use super::super::source::Spanned;
use super::expect::Expecting;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Kind, Node};
use super::values;

const HELP: &str = "write `true`, `false`, or for whom: `waits: [A]`";

/// What holds a lock although no backend does.
const PREPARED: &str = "prepared transaction";

/// Wait events of a backend that waits for something else than a lock, as far as steps of a
/// scenario meet them.
const EVENTS: &[&str] = &[
    "BackendTermination",
    "BufferPin",
    "CheckpointDone",
    "CheckpointStart",
    "ExecuteGather",
    "MessageQueueReceive",
    "PgSleep",
    "ProcSignalBarrier",
    "ReplicationSlotDrop",
    "SafeSnapshot",
    "SyncRep",
    "VacuumDelay",
    "VacuumTruncate",
];

/// Reads `waits:`.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    expecting: &Expecting<'_>,
) -> Option<Spanned<Waits>> {
    let spanned = |value| {
        Some(Spanned {
            value,
            span: node.span,
        })
    };
    match (&node.kind, node.as_plain()) {
        (_, Some("true")) => return spanned(Waits::Yes),
        (_, Some("false")) => return spanned(Waits::No),
        (Kind::Scalar(scalar), _) if !node.is_nothing() && !scalar.text.trim().is_empty() => {
            let written = scalar.text.trim();
            if expecting.sessions.position(written).is_some() {
                mistakes.report(
                    Mistake::new(
                        node.span,
                        "expected true, false or a list of sessions, found text",
                    )
                    .label("not in brackets")
                    .help(format!("write `[{written}]`")),
                );
                return None;
            }
            let blocker = blocker(mistakes, node, written, expecting)?;
            return spanned(Waits::For(vec![blocker]));
        }
        _ => {}
    }
    let items = values::list(mistakes, node, "true, false or a list of sessions", HELP)?;
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a wait for nobody")
                .label("no session here")
                .help("write `false` if the step must not wait"),
        );
        return None;
    }
    let mut blockers: Vec<Blocker> = Vec::new();
    let mut all_read = true;
    for item in items {
        let found = values::text(mistakes, item, "the name of a session", HELP)
            .and_then(|name| blocker(mistakes, item, &name, expecting));
        let Some(blocker) = found else {
            all_read = false;
            continue;
        };
        if blocker_is_actor(&blocker, expecting) {
            mistakes.report(
                Mistake::new(item.span, "a session cannot wait for itself")
                    .label("the step is its own")
                    .help("name the session that holds the lock"),
            );
        } else if blockers.contains(&blocker) {
            let what = match blocker {
                Blocker::Session(_) => "a session is named twice",
                _ => "the same is named twice",
            };
            mistakes.report(
                Mistake::new(item.span, what)
                    .label("again here")
                    .help("name each session once"),
            );
        }
        blockers.push(blocker);
    }
    all_read.then_some(())?;
    spanned(Waits::For(blockers))
}

fn blocker_is_actor(blocker: &Blocker, expecting: &Expecting<'_>) -> bool {
    matches!(blocker, Blocker::Session(index) if Some(*index) == expecting.actor)
}

/// What a word says a step waits for.
fn blocker(
    mistakes: &mut Mistakes,
    node: &Node,
    written: &str,
    expecting: &Expecting<'_>,
) -> Option<Blocker> {
    if let Some(session) = expecting.sessions.position(written) {
        return Some(Blocker::Session(session));
    }
    if written == PREPARED {
        return Some(Blocker::PreparedTransaction);
    }
    if EVENTS.contains(&written) {
        return Some(Blocker::WaitEvent(written.to_owned()));
    }
    let others = EVENTS.iter().copied().chain([PREPARED]);
    let meant = names::closest(mistakes, written, expecting.sessions.names().chain(others));
    if meant.is_none() && is_event(written) {
        return Some(Blocker::WaitEvent(written.to_owned()));
    }
    if !expecting.sessions.are_known() {
        return None;
    }
    let help = meant.map_or_else(
        || {
            format!(
                "the sessions are {}; a wait may also be for `{PREPARED}`, or for a wait event of the server such as `SyncRep`",
                names::listed(expecting.sessions.names())
            )
        },
        |meant| format!("did you mean `{meant}`?"),
    );
    let shown = values::shown(written);
    mistakes.report(
        Mistake::new(node.span, format!("no session is called `{shown}`"))
            .label("unknown session")
            .help(help),
    );
    None
}

/// Whether a word has the form of PostgreSQL's wait events: `SyncRep`.
fn is_event(word: &str) -> bool {
    const SHORTEST: usize = 5;
    word.len() >= SHORTEST
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.chars().skip(1).any(|c| c.is_ascii_uppercase())
        && word.chars().any(|c| c.is_ascii_lowercase())
}
