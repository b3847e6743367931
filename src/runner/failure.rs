//! Why a server failed under a case.

use std::time::Duration;

use super::observer::Observer;
use crate::server::{Endpoint, Server};

/// How long a server that failed may take to end or to come back. After a crash it replays its log.
const LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before a server that refuses connections is tried again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(20);

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
        loop {
            if let Some(end) = end() {
                return Fate::Ended(end);
            }
            if Observer::connect(endpoint).await.is_ok() {
                return Fate::Back;
            }
            tokio::time::sleep(TRIED_AGAIN_AFTER).await;
        }
    };
    tokio::time::timeout(LIMIT, known)
        .await
        .unwrap_or(Fate::Silent)
}

/// How a failure was noticed, with the end of the log of a server that came back from it.
pub(crate) fn with_last_words(what: &str, log: Option<String>) -> String {
    match log {
        Some(log) => format!("{what}; its log ends:\n{log}"),
        None => what.to_owned(),
    }
}

/// Why a server failed that nothing else is played on. `what` is how that was noticed.
pub(crate) async fn failure(server: &Server, what: &str) -> String {
    match fate(server.endpoint(), || server.failed()).await {
        Fate::Ended(end) => end,
        Fate::Back => with_last_words(what, server.last_words()),
        Fate::Silent => what.to_owned(),
    }
}
