//! Why a server failed under a case.

use std::time::{Duration, Instant};

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::expect::expects;
use super::observer::Observer;
use super::outcome::Trouble;
use crate::scenario::{Role, Scenario, Step};
use crate::server::{Endpoint, Server};
use crate::transcript::{Answer, EventKind, ServerMessage, Transcript};

/// How long a server that failed may take to end or to come back. After a crash it replays its log.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a server that is being shut down may take to end. It may wait for its clients, of which
/// the runner has some.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// How long a server may take to let a client in, or to refuse it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How long to wait before a server that refuses connections is tried again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// The classes of errors that say how the server is, and nothing of the statement: its resources
/// have run out, the system fails it, it is not in order itself.
const CLASSES: &[&str] = &["53", "58", "XX"];

/// Errors that every case would meet from then on: the disk is full, cannot be read or written, what
/// is on it is damaged.
const LASTING: &[&str] = &["53100", "58030", "XX001", "XX002"];

/// An error that the server's authors did not think of as one that users meet.
const INTERNAL: &str = "XX000";

/// How the server's own words about its trouble begin.
const SAID: &str = "the server said";

/// The server's trouble, with the code of the error that told of it, if one did.
pub(crate) fn trouble(code: Option<&str>, what: String) -> Trouble {
    if code.is_some_and(|code| LASTING.contains(&code)) {
        Trouble::Unfit(what)
    } else {
        Trouble::Server(what)
    }
}

/// The server's trouble that an error tells of; nothing if it is about the statement.
pub(crate) fn told_by(error: &ServerMessage) -> Option<Trouble> {
    let is_servers = CLASSES.iter().any(|class| error.code.starts_with(class));
    is_servers.then(|| {
        let what = format!(
            "{SAID} {} {}: {}",
            error.severity.as_str(),
            error.code,
            error.message
        );
        trouble(Some(&error.code), what)
    })
}

/// The server's trouble that an error in a transcript tells of, unless its step expects it.
pub(crate) fn told_in(scenario: &Scenario, transcript: &Transcript) -> Option<Trouble> {
    transcript.events.iter().find_map(|event| {
        let EventKind::Answered { answers, .. } = &event.kind else {
            return None;
        };
        let is_expected = |error: &ServerMessage| {
            let step: Option<&Step> = scenario.steps.get(event.step);
            step.is_some_and(|step| expects(step, error) || may_be_of(step, error))
        };
        answers.iter().find_map(|answer| match answer {
            Answer::Error(error) if !is_expected(error) => told_by(error),
            _ => None,
        })
    })
}

/// Whether an error may be what comes of a step that may end in any way: two who change one row of a
/// catalog at once make an internal error of it, which is the statement's.
fn may_be_of(step: &Step, error: &ServerMessage) -> bool {
    matches!(step.role, Role::Owned { .. }) && error.code == INTERNAL
}

/// What became of a server that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has ended, and why.
    Ended(String),
    /// It lets clients in again.
    Back,
    /// Neither, for as long as that may take.
    Silent,
}

/// Waits until a server that failed has either ended or come back by itself. One that starts again
/// after a crash refuses everybody until it is through, and gives no sign when it is.
pub(crate) async fn fate(endpoint: &Endpoint, end: impl Fn() -> Option<String>) -> Fate {
    let known = async {
        let mut leaving = None;
        loop {
            if let Some(end) = end() {
                return Fate::Ended(end);
            }
            let attempt = Observer::connect(endpoint);
            let Ok(connected) = tokio::time::timeout(ANSWERS_WITHIN, attempt).await else {
                return Fate::Silent;
            };
            match connected {
                Ok(_) => return Fate::Back,
                Err(error) if is_leaving(&error) => {
                    if leaving.get_or_insert_with(Instant::now).elapsed() > LEAVES_WITHIN {
                        return Fate::Silent;
                    }
                }
                Err(_) => leaving = None,
            }
            tokio::time::sleep(TRIED_AGAIN_AFTER).await;
        }
    };
    tokio::time::timeout(LIMIT, known)
        .await
        .unwrap_or(Fate::Silent)
}

/// Whether a server refuses a client because it is being shut down. While it starts, the code is
/// the same.
fn is_leaving(error: &Error) -> bool {
    error.as_db_error().is_some_and(|said| {
        *said.code() == SqlState::CANNOT_CONNECT_NOW && said.message().contains("shutting down")
    })
}

/// Why a server ended, behind what it had said before, if it had.
pub(crate) fn with_end(what: &str, end: String) -> String {
    if what.starts_with(SAID) {
        format!("{what}; then {end}")
    } else {
        end
    }
}

/// How a failure was noticed, with the end of the log of a server that came back from it.
pub(crate) fn with_last_words(what: &str, log: Option<String>) -> String {
    match log {
        Some(log) => format!("{what}; its log ends:\n{log}"),
        None => what.to_owned(),
    }
}

/// Says more of a failure of a server that nothing else is played on.
pub(crate) async fn explain(trouble: &mut Trouble, server: &Server) {
    let (Trouble::Server(what) | Trouble::Unfit(what)) = trouble else {
        return;
    };
    match fate(server.endpoint(), || server.failed()).await {
        Fate::Ended(end) => *what = with_end(what, end),
        Fate::Back => *what = with_last_words(what, server.last_words()),
        Fate::Silent => {}
    }
}
