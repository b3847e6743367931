//! What a server's log tells of the server itself.

use std::collections::HashSet;

/// What the server says to each client that it turns away or ends when it stops or starts. Twenty
/// of them would hide why it did.
const TO_EVERYBODY: &[&str] = &[
    "FATAL:  the database system is ",
    "FATAL:  terminating connection due to administrator command",
    "FATAL:  terminating connection due to unexpected postmaster exit",
    "WARNING:  terminating connection because of crash of another server process",
];

/// What stands in the log for a message's further fields.
const FIELDS: &[&str] = &[
    "DETAIL:  ",
    "HINT:  ",
    "CONTEXT:  ",
    "QUERY:  ",
    "STATEMENT:  ",
];

/// The last lines of a log, without what is said to every client.
pub(super) fn last_lines(log: &str, number: usize) -> String {
    // Processes write side by side: a message's fields may not follow it at once.
    let mut turned_away = HashSet::new();
    let mut is_dropped = false;
    let telling: Vec<&str> = log
        .lines()
        .filter(|line| {
            // Further lines of a field have no head.
            if let Some((process, said)) = head(line) {
                if !FIELDS.iter().any(|field| said.starts_with(field)) {
                    if TO_EVERYBODY.iter().any(|words| said.starts_with(words)) {
                        turned_away.insert(process);
                    } else {
                        turned_away.remove(process);
                    }
                }
                is_dropped = turned_away.contains(process);
            } else if !line.starts_with('\t') {
                is_dropped = false;
            }
            !is_dropped
        })
        .collect();
    telling[telling.len().saturating_sub(number)..].join("\n")
}

/// The process of a line and what it says: `2026-12-01 12:00:00.000 UTC [7] LOG:  …`.
fn head(line: &str) -> Option<(&str, &str)> {
    let (before, rest) = line.split_once(" [")?;
    let (process, said) = rest.split_once("] ")?;
    (before.ends_with("UTC") && process.bytes().all(|b| b.is_ascii_digit()))
        .then_some((process, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_client_is_told_does_not_hide_the_rest() {
        let log = "\
waiting
2026-12-01 01:56:00.9 UTC [1] LOG:  received fast shutdown request
2026-12-01 01:56:00.9 UTC [7] FATAL:  terminating connection due to administrator command
2026-12-01 01:56:00.9 UTC [8] FATAL:  the database system is not yet accepting connections
2026-12-01 01:56:00.9 UTC [7] STATEMENT:  SELECT
\tpg_sleep(600);
2026-12-01 01:56:00.9 UTC [8] DETAIL:  Consistent recovery state has not been yet reached.
2026-12-01 01:56:00.9 UTC [9] ERROR:  canceling statement due to user request
2026-12-01 01:56:00.9 UTC [9] STATEMENT:  SELECT
\t1;
2026-12-01 01:56:01.0 UTC [1] LOG:  database system is shut down";
        assert_eq!(
            last_lines(log, 20),
            "\
waiting
2026-12-01 01:56:00.9 UTC [1] LOG:  received fast shutdown request
2026-12-01 01:56:00.9 UTC [9] ERROR:  canceling statement due to user request
2026-12-01 01:56:00.9 UTC [9] STATEMENT:  SELECT
\t1;
2026-12-01 01:56:01.0 UTC [1] LOG:  database system is shut down"
        );
        assert_eq!(
            last_lines(log, 1),
            "2026-12-01 01:56:01.0 UTC [1] LOG:  database system is shut down"
        );
    }
}
