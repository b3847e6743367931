//! The circle of a deadlock, as the server tells it.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::document::BackendDocument;
use crate::transcript::Answer;

/// `deadlock_detected`: its DETAIL has a line for each wait of the circle.
const DEADLOCK: &str = "40P01";

static WAIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^Process (\d+) waits for (\w+) on (.+); blocked by process (\d+)\.$")
        .expect("the pattern is right")
});

/// One wait of a deadlock's circle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeadlockedDocument {
    /// Who waits.
    pub waiter: BackendDocument,
    /// For a lock of which mode: `ShareLock`, `AccessExclusiveLock`, ….
    pub mode: String,
    /// On what, in the server's words: `transaction 759`.
    pub on: String,
    /// Who is in the way.
    pub blocker: BackendDocument,
}

/// The waits of the circle that an error has broken, from the one that was given up on; `None` for
/// any other answer.
pub(super) fn circle(
    answer: &Answer,
    session: &impl Fn(i32) -> Option<String>,
) -> Option<Vec<DeadlockedDocument>> {
    let Answer::Error(error) = answer else {
        return None;
    };
    let detail = error.detail.as_deref().filter(|_| error.code == DEADLOCK)?;
    let backend = |pid: &str| {
        let pid = pid.parse().ok()?;
        let session = session(pid);
        Some(BackendDocument { session, pid })
    };
    let waits = WAIT.captures_iter(detail).map(|wait| {
        Some(DeadlockedDocument {
            waiter: backend(&wait[1])?,
            mode: wait[2].to_owned(),
            on: wait[3].to_owned(),
            blocker: backend(&wait[4])?,
        })
    });
    waits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{ServerMessage, Severity};

    fn error(code: &str, detail: Option<&str>) -> Answer {
        let mut error = ServerMessage::new(Severity::Error, code, "deadlock detected");
        error.detail = detail.map(str::to_owned);
        Answer::Error(error)
    }

    fn told(answer: &Answer) -> Option<Vec<String>> {
        let names = |pid| (pid < 103).then(|| format!("s{}", pid - 100));
        let who = |backend: &BackendDocument| {
            let name = backend.session.as_deref().unwrap_or("nobody");
            format!("{name}/{}", backend.pid)
        };
        let told = circle(answer, &names)?.into_iter().map(|wait| {
            let DeadlockedDocument {
                waiter,
                mode,
                on,
                blocker,
            } = wait;
            format!("{}: {mode} on {on}: {}", who(&waiter), who(&blocker))
        });
        Some(told.collect())
    }

    #[test]
    fn each_wait_of_the_circle_is_told_in_its_order() {
        let detail = "Process 102 waits for ShareLock on transaction 759; blocked by process 101.\n\
                      Process 101 waits for ExclusiveLock on tuple (0,1) of relation 16385 of database 16384; blocked by process 103.\n\
                      Process 103 waits for ExclusiveLock on advisory lock [16384,0,13,1]; blocked by process 102.";
        assert_eq!(
            told(&error("40P01", Some(detail))).expect("it is a deadlock"),
            [
                "s2/102: ShareLock on transaction 759: s1/101",
                "s1/101: ExclusiveLock on tuple (0,1) of relation 16385 of database 16384: nobody/103",
                "nobody/103: ExclusiveLock on advisory lock [16384,0,13,1]: s2/102",
            ]
        );
    }

    #[test]
    fn other_answers_have_no_circle() {
        let detail = "Process 1 waits for ShareLock on transaction 7; blocked by process 2.";
        assert_eq!(told(&error("P0001", Some(detail))), None);
        assert_eq!(told(&error("40P01", None)), None);
        assert_eq!(told(&Answer::Empty), None);
    }
}
