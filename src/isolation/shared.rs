//! What specs that are played side by side on one server share, although each has a database of
//! its own: those that would meet there are kept apart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use regex::Regex;
use tokio::sync::Notify;

use super::spec::Spec;
use crate::scenario::prepared_transactions;

/// Something that all databases of a server share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shared {
    /// Roles, by their names.
    Roles,
    /// Prepared transactions.
    Prepared,
    /// The prepared transaction of an identifier.
    Identifier(String),
    /// The queue of notifications.
    Notifications,
    /// Serializable transactions: one that is deferrable waits for all of them.
    Serializable,
    /// The oldest transaction, which decides what is removed from tables.
    Horizon,
    /// The server as a whole.
    Server,
}

/// More prepared transactions than this may be too many for a server together with those of others.
const MANY_PREPARED: usize = 8;

/// How much of a shared thing a spec claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    /// Others may use it, too.
    Some,
    /// Nobody else may.
    All,
}

/// What a spec claims while it is played.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claims(BTreeMap<Shared, Share>);

static WORDS: LazyLock<Vec<(Regex, Shared, Share)>> = LazyLock::new(|| {
    [
        (
            r"(?:create|alter|drop)\s+(?:role|user|group)",
            Shared::Roles,
            Share::All,
        ),
        (r"pg_prepared_xacts?", Shared::Prepared, Share::All),
        (
            r"listen|notify|pg_notify",
            Shared::Notifications,
            Share::All,
        ),
        ("deferrable", Shared::Serializable, Share::All),
        ("serializable", Shared::Serializable, Share::Some),
        ("vacuum|cluster", Shared::Horizon, Share::All),
        (
            r"alter\s+system|pg_reload_conf|(?:create|alter|drop)\s+(?:database|tablespace)",
            Shared::Server,
            Share::All,
        ),
    ]
    .map(|(words, shared, share)| {
        let words = Regex::new(&format!(r"(?i)\b(?:{words})\b"));
        let words = words.expect("the words are a regular expression");
        (words, shared, share)
    })
    .into()
});

impl Claims {
    /// What the SQL of a spec names.
    pub(super) fn of(spec: &Spec) -> Self {
        let mut claims = BTreeMap::from([
            (Shared::Server, Share::Some),
            (Shared::Horizon, Share::Some),
        ]);
        for (words, shared, share) in &*WORDS {
            if spec.all_sql().any(|sql| words.is_match(&sql.value)) {
                let claim = claims.entry(shared.clone()).or_insert(*share);
                *claim = (*claim).max(*share);
            }
        }
        let identifiers: BTreeSet<&str> = spec
            .all_sql()
            .flat_map(|sql| prepared_transactions(&sql.value))
            .collect();
        // Whatever is written otherwise may be the same identifier.
        let are_plain = identifiers.iter().all(|identifier| {
            identifier.starts_with('\'') && !identifier.trim_matches('\'').contains('\'')
        });
        if !identifiers.is_empty() {
            let share = if are_plain && identifiers.len() <= MANY_PREPARED {
                Share::Some
            } else {
                Share::All
            };
            let claim = claims.entry(Shared::Prepared).or_insert(share);
            *claim = (*claim).max(share);
        }
        for identifier in identifiers {
            claims.insert(Shared::Identifier(identifier.to_owned()), Share::All);
        }
        Self(claims)
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().any(|(shared, share)| {
            other
                .0
                .get(shared)
                .is_some_and(|theirs| *share == Share::All || *theirs == Share::All)
        })
    }
}

/// Gives out what is to be played, so that nothing meets.
#[derive(Debug)]
pub(super) struct Board {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    /// What has not begun, in the order in which it should.
    open: Vec<(usize, Claims)>,
    running: Vec<(usize, Claims)>,
}

impl Board {
    /// Entries are known by their number; they begin in this order as far as they can.
    pub(super) fn new(open: Vec<(usize, Claims)>) -> Self {
        Self {
            state: Mutex::new(State {
                open,
                running: Vec::new(),
            }),
            changed: Notify::new(),
        }
    }

    /// The first that meets nothing that runs, once there is one; nothing when all have begun.
    pub(super) async fn take(&self) -> Option<usize> {
        loop {
            // Before the look, so that no change after it is missed.
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                if state.open.is_empty() {
                    return None;
                }
                let State { open, running } = &mut *state;
                let free = open
                    .iter()
                    .position(|(_, claims)| !running.iter().any(|(_, other)| claims.meets(other)));
                if let Some(at) = free {
                    let entry = open.remove(at);
                    let number = entry.0;
                    running.push(entry);
                    return Some(number);
                }
            }
            changed.await;
        }
    }

    /// Nothing begins any more.
    pub(super) fn clear(&self) {
        self.lock().open.clear();
        self.changed.notify_waiters();
    }

    /// One has ended.
    pub(super) fn end(&self, number: usize) {
        self.lock().running.retain(|(other, _)| *other != number);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolation::parse;
    use crate::scenario::SourceFile;

    fn claims(sql: &str) -> Claims {
        let source = SourceFile {
            path: "a.spec".into(),
            text: format!("session a step b {{ {sql} }}").into(),
        };
        Claims::of(&parse(&source).expect("it holds no mistake"))
    }

    #[test]
    fn a_deferrable_transaction_has_the_server_without_other_serializable_ones() {
        let deferrable = claims("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
        let serializable = claims("BEGIN ISOLATION LEVEL SERIALIZABLE");
        assert!(deferrable.meets(&serializable));
        assert!(!serializable.meets(&serializable));
        assert!(!deferrable.meets(&claims("SELECT 1")));
    }

    #[test]
    fn prepared_transactions_meet_by_their_identifiers() {
        let prepares = claims("PREPARE TRANSACTION 'a'");
        assert!(!prepares.meets(&claims("PREPARE TRANSACTION 'b'")));
        assert!(prepares.meets(&claims("COMMIT PREPARED 'a'")));
        // Written otherwise.
        assert!(prepares.meets(&claims("prepare transaction E'\\x61'")));
        assert!(prepares.meets(&claims("PREPARE TRANSACTION $$a$$")));
        assert!(prepares.meets(&claims("SELECT gid FROM pg_prepared_xacts")));
    }

    #[test]
    fn what_changes_the_server_is_alone() {
        assert!(claims("ALTER SYSTEM SET jit = on").meets(&claims("SELECT 1")));
    }

    #[tokio::test]
    async fn what_meets_nothing_may_overtake() {
        let roles = || claims("CREATE ROLE a");
        let board = Board::new(vec![(0, roles()), (1, roles()), (2, claims("SELECT 1"))]);
        assert_eq!(board.take().await, Some(0));
        assert_eq!(board.take().await, Some(2));
        board.end(0);
        assert_eq!(board.take().await, Some(1));
        assert_eq!(board.take().await, None);
    }
}
