//! The locks of a case's sessions after each step, and the transactions that hold them.

use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};

use super::observer::Observer;
use super::options::ReplayOptions;
use super::replay::{Halt, Replay, answered};
use crate::scenario::{Isolation, Scenario, SessionIndex};
use crate::server::Endpoint;
use crate::transcript::{EventKind, Lock, LockTarget};

/// What the backends asked about hold and await, whatever database it is in. (A lock on what all
/// databases share has none.)
const LOOK: &str = "
    SELECT pid, mode, granted, locktype, relation, page, tuple, transactionid::text, virtualxid,
           classid, objid, objsubid, virtualtransaction
    FROM pg_locks WHERE pid = ANY($1)";

/// The names of relations, as SQL in the database would write them.
const NAMES: &str = "SELECT oid, oid::regclass::text FROM pg_class WHERE oid = ANY($1)";

/// Whether a backend is still there.
const IS_THERE: &str = "SELECT EXISTS (SELECT FROM pg_stat_get_activity($1::int))";

/// How long to let a backend that was told to end be before asking again whether it has.
const ENDS_SOON: Duration = Duration::from_millis(1);

/// Words in SQL that may show a transaction by its number.
const TELLTALES: [&str; 9] = [
    "xid",
    "xmin",
    "xmax",
    "xact",
    "snapshot",
    "pg_locks",
    "virtual",
    "client_min_messages",
    "serializable",
];

/// How locks are looked at: only of cases that are to show them, or the numbers of transactions.
#[derive(Clone)]
pub(crate) struct LockView {
    endpoint: Endpoint,
    database: String,
    /// Whether the transcript gets them.
    are_shown: bool,
}

/// A lock, with the relation it is on by its oid.
struct Seen {
    relation: Option<u32>,
    lock: Lock,
}

impl LockView {
    /// The view that a case needs, if it needs one.
    pub(crate) fn of(
        scenario: &Scenario,
        options: ReplayOptions,
        endpoint: &Endpoint,
        database: &str,
    ) -> Option<Self> {
        (options.locks || shows_transactions(scenario)).then(|| Self {
            endpoint: endpoint.clone(),
            database: database.to_owned(),
            are_shown: options.locks,
        })
    }

    /// The same after the server was restarted.
    pub(crate) fn on(self, endpoint: &Endpoint) -> Self {
        Self {
            endpoint: endpoint.clone(),
            ..self
        }
    }

    /// Asks for the names of relations, on a connection to the case's database. It is gone before
    /// the next step, so that no step can see it.
    async fn names(
        &self,
        relations: &[u32],
        observer: &Observer,
    ) -> Result<HashMap<u32, String>, Error> {
        let mut names = HashMap::new();
        if relations.is_empty() {
            return Ok(names);
        }
        let client = self.endpoint.connect(&self.database).await?;
        let pid: i32 = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await?
            .try_get(0)?;
        for row in client
            .query_typed(NAMES, &[(&relations, Type::OID_ARRAY)])
            .await?
        {
            names.insert(row.try_get(0)?, row.try_get(1)?);
        }
        drop(client);
        while observer
            .client
            .query_typed(IS_THERE, &[(&pid, Type::INT4)])
            .await?
            .iter()
            .any(|row| row.get(0))
        {
            tokio::time::sleep(ENDS_SOON).await;
        }
        Ok(names)
    }
}

impl Replay<'_> {
    /// Notes which locks the sessions hold and await after a step, and which transactions are
    /// theirs.
    pub(crate) async fn look_at_locks(&mut self, step: usize) -> Result<(), Halt> {
        let Some(view) = self.locks.clone() else {
            return Ok(());
        };
        let locks = answered(self.deadline(), self.ask_for_locks(&view)).await?;
        if view.are_shown {
            self.push(step, EventKind::Locks(locks));
        }
        Ok(())
    }

    async fn ask_for_locks(&mut self, view: &LockView) -> Result<Vec<Lock>, Error> {
        let pids: Vec<i32> = self
            .transcript
            .backends
            .iter()
            .map(|(pid, _)| *pid)
            .collect();
        let rows = self
            .observer
            .client
            .query_typed(LOOK, &[(&pids, Type::INT4_ARRAY)])
            .await?;
        let mut seen = Vec::with_capacity(rows.len());
        for row in &rows {
            let pid: i32 = row.try_get(0)?;
            let backends = &self.transcript.backends;
            let Some((_, session)) = backends.iter().rev().find(|(other, _)| *other == pid) else {
                continue;
            };
            let session = *session;
            self.learn(session, row)?;
            if let Some(found) = read(session, row)? {
                seen.push(found);
            }
        }
        if !view.are_shown {
            return Ok(Vec::new());
        }
        let mut relations: Vec<u32> = seen.iter().filter_map(|found| found.relation).collect();
        relations.sort_unstable();
        relations.dedup();
        let names = view.names(&relations, &self.observer).await?;
        let named = seen.into_iter().map(|mut found| {
            if let Some(name) = found.relation.and_then(|oid| names.get(&oid)) {
                found.lock.target = found.lock.target.on(name);
            }
            found.lock
        });
        let mut locks: Vec<Lock> = named.collect();
        locks.sort();
        Ok(locks)
    }

    /// A transaction, and each part of it that can be rolled back by itself, holds the exclusive
    /// lock on its own number.
    fn learn(&mut self, session: SessionIndex, row: &Row) -> Result<(), Error> {
        let (mode, granted): (&str, bool) = (row.try_get(1)?, row.try_get(2)?);
        if mode != "ExclusiveLock" || !granted {
            return Ok(());
        }
        let xid: Option<&str> = row.try_get(7)?;
        if let Some(xid) = xid.and_then(|xid| xid.parse().ok()) {
            let entry = (xid, session);
            if !self.transcript.transactions.contains(&entry) {
                self.transcript.transactions.push(entry);
            }
        }
        let (vxid, own): (Option<&str>, &str) = (row.try_get(8)?, row.try_get(12)?);
        if vxid == Some(own) {
            let entry = (own.to_owned(), session);
            if !self.transcript.virtual_transactions.contains(&entry) {
                self.transcript.virtual_transactions.push(entry);
            }
        }
        Ok(())
    }
}

impl LockTarget {
    /// The same, with the name of the relation.
    fn on(&self, name: &str) -> Self {
        match self {
            Self::Relation(_) => Self::Relation(name.to_owned()),
            Self::Tuple { page, tuple, .. } => Self::Tuple {
                relation: name.to_owned(),
                page: *page,
                tuple: *tuple,
            },
            Self::Other(what) => Self::Other(format!("{what} of {name}")),
            other => other.clone(),
        }
    }
}

/// A row of the look; nothing for the lock of a virtual transaction on itself, which each has.
fn read(session: SessionIndex, row: &Row) -> Result<Option<Seen>, Error> {
    let kind: &str = row.try_get(3)?;
    let relation: Option<u32> = row.try_get(4)?;
    let page: Option<i32> = row.try_get(5)?;
    let tuple: Option<i16> = row.try_get(6)?;
    let xid: Option<&str> = row.try_get(7)?;
    let vxid: Option<&str> = row.try_get(8)?;
    let own: &str = row.try_get(12)?;
    let number = relation.map_or_else(String::new, |oid| oid.to_string());
    let target = match kind {
        "relation" => LockTarget::Relation(number),
        "tuple" => LockTarget::Tuple {
            relation: number,
            page: page.unwrap_or_default(),
            tuple: tuple.unwrap_or_default(),
        },
        "transactionid" => LockTarget::Transaction {
            xid: xid.and_then(|xid| xid.parse().ok()).unwrap_or_default(),
        },
        "virtualxid" if vxid == Some(own) => return Ok(None),
        "virtualxid" => LockTarget::VirtualTransaction(vxid.unwrap_or_default().to_owned()),
        "advisory" => LockTarget::Advisory(advisory_key(row)?),
        "page" => LockTarget::Other(format!("page {}", page.unwrap_or_default())),
        "object" => {
            let (class, object): (Option<u32>, Option<u32>) = (row.try_get(9)?, row.try_get(10)?);
            LockTarget::Other(format!(
                "object {} of class {}",
                object.unwrap_or_default(),
                class.unwrap_or_default()
            ))
        }
        other => LockTarget::Other(other.to_owned()),
    };
    Ok(Some(Seen {
        relation,
        lock: Lock {
            session,
            granted: row.try_get(2)?,
            mode: row.try_get(1)?,
            target,
        },
    }))
}

/// The key as the scenario gave it: `pg_advisory_lock(7)` is stored as two halves with 1 behind
/// them, and `pg_advisory_lock(3, 4)` as two numbers with 2.
fn advisory_key(row: &Row) -> Result<Vec<i64>, Error> {
    let (high, low): (Option<u32>, Option<u32>) = (row.try_get(9)?, row.try_get(10)?);
    let (high, low) = (high.unwrap_or_default(), low.unwrap_or_default());
    let form: Option<i16> = row.try_get(11)?;
    Ok(if form == Some(1) {
        vec![((u64::from(high) << 32) | u64::from(low)).cast_signed()]
    } else {
        vec![i64::from(high.cast_signed()), i64::from(low.cast_signed())]
    })
}

fn shows_transactions(scenario: &Scenario) -> bool {
    let names_one = |text: &str| {
        let text = text.to_ascii_lowercase();
        TELLTALES.iter().any(|word| text.contains(word))
    };
    scenario.all_sql().any(|sql| names_one(&sql.text))
        || scenario.sessions.iter().any(|session| {
            session.isolation == Some(Isolation::Serializable)
                || session
                    .settings
                    .iter()
                    .any(|setting| names_one(&setting.name.value) || names_one(&setting.value))
        })
}
