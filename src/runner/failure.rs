//! Why a server failed under a case.

use std::time::Duration;

use super::observer::Observer;
use crate::server::Server;

/// How long a server that failed may take to end or to come back. After a crash it replays its log.
const LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before a server that refuses connections is tried again.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// What became of a server that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// The reason, with the end of the server's log.
    pub reason: String,
    /// Whether it is gone for good.
    pub is_final: bool,
}

/// Waits until a server that failed has either ended or come back by itself, and tells why it
/// failed. `what` is how that was noticed.
pub(crate) async fn failure(server: &Server, what: &str) -> Failure {
    tokio::select! {
        biased;
        reason = server.wait_for_failure() => Failure { reason, is_final: true },
        () = comes_back(server) => Failure {
            reason: match server.last_words() {
                Some(log) => format!("{what}; its log ends:\n{log}"),
                None => what.to_owned(),
            },
            is_final: false,
        },
        () = tokio::time::sleep(LIMIT) => Failure { reason: what.to_owned(), is_final: false },
    }
}

/// A server that starts again after a crash refuses everybody until it is through, and gives no
/// sign when it is.
async fn comes_back(server: &Server) {
    while Observer::connect(server.endpoint()).await.is_err() {
        tokio::time::sleep(TRIED_AGAIN_AFTER).await;
    }
}
