//! The virtual clock: what the server must be told so that its time functions give virtual time.
//!
//! Functions of the same names stand before those of `pg_catalog` in `search_path`. When a transaction
//! and a statement began they read from settings of the session, which are set before a statement when
//! the clock has moved since; what the time is at this moment, from a sequence, which has no snapshot.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::live::Prelude;
use super::outcome::Trouble;
use super::replay::{Halt, Replay};
use crate::scenario::{Sending, SessionIndex, Span, SqlText, VirtualTime};
use crate::transcript::EventKind;
use crate::wire::TransactionStatus;

/// What makes the schema of the functions in a case's database.
const SCHEMA: &str = include_str!("clock/schema.sql");

/// What stands behind the schemas that a session would look into without a virtual clock.
const BEHIND: &str = "lockstep_clock, pg_catalog";

/// The schemas a session looks into unless its settings say otherwise.
const DEFAULT_PATH: &str = "\"$user\", public";

/// The `search_path` of a session that would have this one without a virtual clock.
pub(crate) fn search_path(own: Option<&str>) -> String {
    let own = own.unwrap_or(DEFAULT_PATH).trim();
    if own.is_empty() {
        BEHIND.to_owned()
    } else {
        format!("{own}, {BEHIND}")
    }
}

/// A virtual clock that the sessions of a case live by.
#[derive(Debug, Clone)]
pub(crate) struct SharedClock(Arc<Mutex<Clock>>);

impl SharedClock {
    /// A clock that so many sessions live by.
    pub(crate) fn new(now: VirtualTime, sessions: usize) -> Self {
        Self(Arc::new(Mutex::new(Clock::new(now, sessions))))
    }

    /// What a session that has just connected is told before each of its messages.
    pub(crate) fn prelude(&self, session: SessionIndex) -> Prelude {
        self.with(|clock| clock.forget(session));
        let clock = self.clone();
        Prelude(Arc::new(move |status, sql| {
            clock.with(|clock| clock.prelude(session, status, sql))
        }))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Clock) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Replay<'_> {
    /// Makes the functions in the case's database, through the outside observer, before anything of
    /// the scenario runs.
    pub(super) async fn install_clock(&mut self) -> Result<(), Trouble> {
        match &self.clock {
            Some(clock) => {
                let sql = clock.with(|clock| format!("{SCHEMA}{}", clock.as_sql()));
                self.tell_server(sql).await
            }
            None => Ok(()),
        }
    }

    /// Tells a server that was restarted what the time is: of a crash it may not know.
    pub(super) async fn wind_clock(&mut self) -> Result<(), Trouble> {
        match &self.clock {
            Some(clock) => {
                let sql = clock.with(|clock| clock.as_sql());
                self.tell_server(sql).await
            }
            None => Ok(()),
        }
    }

    /// Moves the clock.
    pub(super) async fn advance(
        &mut self,
        at: usize,
        by: Duration,
        to: VirtualTime,
    ) -> Result<(), Halt> {
        self.push(at, EventKind::Advanced { by, to });
        if let Some(clock) = &self.clock {
            let sql = clock.with(|clock| clock.set(to));
            self.tell_server(sql).await?;
        }
        Ok(())
    }

    /// Runs SQL of the runner's own, in one message, where the outside observer asks.
    async fn tell_server(&mut self, text: String) -> Result<(), Trouble> {
        let span = Span { start: 0, end: 0 };
        let sql = SqlText {
            text,
            span,
            origins: Vec::new(),
        };
        for answered in self
            .send_apart(self.outside(), Sending::Message(sql), span)
            .await?
        {
            if let Some(error) = answered.error() {
                let what = format!("the virtual clock cannot be set: {}", error.message);
                return Err(Trouble::Server(what));
            }
        }
        Ok(())
    }
}

/// A virtual clock, and what each session knows of it.
#[derive(Debug)]
struct Clock {
    now: VirtualTime,
    sessions: Vec<Told>,
}

/// What a session has been told, as far as it is certain.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    /// The time in its settings outside of a transaction.
    outside: Option<VirtualTime>,
    /// When its statement began, inside the transaction; `None` when a part of it may have been
    /// rolled back, and the setting with it.
    inside: Option<VirtualTime>,
    /// When the transaction that the last statement began by AND CHAIN did so.
    chained: Option<VirtualTime>,
}

impl Clock {
    /// A clock that so many sessions live by.
    fn new(now: VirtualTime, sessions: usize) -> Self {
        Self {
            now,
            sessions: vec![Told::default(); sessions],
        }
    }

    /// Moves the clock; the SQL that tells the server so, apart from what sessions are told.
    fn set(&mut self, now: VirtualTime) -> String {
        self.now = now;
        self.as_sql()
    }

    /// The SQL that tells the server what the time is now.
    fn as_sql(&self) -> String {
        let microseconds = self.now.microseconds();
        format!("SELECT pg_catalog.setval('lockstep_clock.clock', {microseconds});")
    }

    /// Forgets what a session was told: its connection is a new one.
    fn forget(&mut self, session: SessionIndex) {
        self.sessions[session.0] = Told::default();
    }

    /// What a session must be told before it runs `sql`, if anything.
    fn prelude(
        &mut self,
        session: SessionIndex,
        status: TransactionStatus,
        sql: &str,
    ) -> Option<String> {
        let told = &mut self.sessions[session.0];
        let prelude = told.prelude(self.now, status);
        told.note(self.now, sql);
        prelude
    }
}

impl Told {
    fn prelude(&mut self, now: VirtualTime, status: TransactionStatus) -> Option<String> {
        let transaction = format!("SET lockstep.transaction_start = '{now}';");
        let statement = format!("SET lockstep.statement_start = '{now}';");
        match status {
            TransactionStatus::Idle => {
                self.chained = None;
                self.inside = Some(now);
                let is_known = self.outside.replace(now) == Some(now);
                (!is_known).then(|| transaction + &statement)
            }
            TransactionStatus::InTransaction => {
                let chained = self.chained.take();
                if chained.is_none() && self.inside == Some(now) {
                    return None;
                }
                // A rollback takes it back, to a savepoint or to what stood before the transaction.
                self.inside = None;
                let began = chained.map(|at| format!("SET lockstep.transaction_start = '{at}';"));
                self.outside = None;
                Some(began.unwrap_or_default() + &statement)
            }
            // Only the end of the transaction is heeded.
            TransactionStatus::Failed => None,
        }
    }

    /// Notes what a statement does to what is known.
    fn note(&mut self, now: VirtualTime, sql: &str) {
        let words: Vec<String> = words(sql).collect();
        let names = |word: &str| words.iter().any(|other| other == word);
        if names("discard") || names("reset") || names("lockstep") {
            self.outside = None;
            self.inside = None;
        }
        if names("chain") && !words.windows(2).any(|pair| pair == ["no", "chain"]) {
            self.chained = Some(now);
        }
    }
}

/// The words of SQL in lower case, also those of its strings and comments: a word too many costs a
/// message, one too few gives a wrong time.
fn words(sql: &str) -> impl Iterator<Item = String> + '_ {
    sql.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionIndex = SessionIndex(0);

    fn at(seconds: i64) -> VirtualTime {
        VirtualTime::from_microseconds(seconds * 1_000_000).unwrap()
    }

    fn both(time: &str) -> Option<String> {
        Some(format!(
            "SET lockstep.transaction_start = '{time}';SET lockstep.statement_start = '{time}';"
        ))
    }

    fn statement(time: &str) -> Option<String> {
        Some(format!("SET lockstep.statement_start = '{time}';"))
    }

    #[test]
    fn a_session_is_told_once_while_the_clock_stands() {
        use TransactionStatus::{Idle, InTransaction};
        let mut clock = Clock::new(at(0), 1);
        assert_eq!(
            clock.prelude(A, Idle, "BEGIN"),
            both("1970-01-01 00:00:00+00")
        );
        assert_eq!(clock.prelude(A, InTransaction, "SELECT now()"), None);
        assert_eq!(clock.prelude(A, InTransaction, "COMMIT"), None);
        assert_eq!(clock.prelude(A, Idle, "SELECT 1"), None);
        clock.forget(A);
        assert!(clock.prelude(A, Idle, "SELECT 1").is_some());
    }

    #[test]
    fn inside_a_transaction_only_the_statement_start_moves() {
        use TransactionStatus::{Failed, Idle, InTransaction};
        let mut clock = Clock::new(at(0), 1);
        clock.prelude(A, Idle, "BEGIN");
        clock.set(at(60));
        assert_eq!(
            clock.prelude(A, InTransaction, "SELECT 1"),
            statement("1970-01-01 00:01:00+00")
        );
        // It may be taken back by a rollback to a savepoint, so it is said again.
        assert_eq!(
            clock.prelude(A, InTransaction, "SELECT 1"),
            statement("1970-01-01 00:01:00+00")
        );
        assert_eq!(clock.prelude(A, Failed, "ROLLBACK"), None);
        assert_eq!(
            clock.prelude(A, Idle, "SELECT 1"),
            both("1970-01-01 00:01:00+00")
        );
    }

    #[test]
    fn a_chained_transaction_begins_with_the_statement_that_chains_it() {
        use TransactionStatus::{Idle, InTransaction};
        let mut clock = Clock::new(at(0), 1);
        clock.prelude(A, Idle, "BEGIN");
        clock.prelude(A, InTransaction, "COMMIT AND CHAIN");
        clock.set(at(60));
        assert_eq!(
            clock.prelude(A, InTransaction, "SELECT now()").as_deref(),
            Some(
                "SET lockstep.transaction_start = '1970-01-01 00:00:00+00';\
                 SET lockstep.statement_start = '1970-01-01 00:01:00+00';"
            )
        );
        clock.prelude(A, InTransaction, "COMMIT AND NO CHAIN");
        assert_eq!(
            clock.prelude(A, Idle, "SELECT 1"),
            both("1970-01-01 00:01:00+00")
        );
    }

    #[test]
    fn what_resets_settings_is_noticed() {
        use TransactionStatus::Idle;
        let mut clock = Clock::new(at(0), 1);
        clock.prelude(A, Idle, "DISCARD ALL");
        assert!(clock.prelude(A, Idle, "SELECT 1").is_some());
    }

    #[test]
    fn the_functions_stand_before_pg_catalog_and_behind_the_sessions_own_schemas() {
        assert_eq!(
            search_path(None),
            "\"$user\", public, lockstep_clock, pg_catalog"
        );
        assert_eq!(search_path(Some("app")), "app, lockstep_clock, pg_catalog");
        assert_eq!(search_path(Some("")), "lockstep_clock, pg_catalog");
    }
}
