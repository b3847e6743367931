//! Whose backends and transactions the numbers of one run are.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::cells;
use super::names::short_xid;
use crate::scenario::SessionIndex;
use crate::transcript::answer::{Answer, ResultSet};
use crate::transcript::event::{EventKind, Transcript};

/// Who is waited for holds what is waited for.
static BLOCKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"on (?:transaction (\d+)|virtual transaction (\d+/\d+)); blocked by process (\d+)")
        .expect("it is a pattern")
});

/// Functions that give the transaction of the session that calls them.
const OWN_TRANSACTION: [&str; 4] = [
    "txid_current",
    "txid_current_if_assigned",
    "pg_current_xact_id",
    "pg_current_xact_id_if_assigned",
];

/// The sessions of backends, transactions and virtual transactions, by their numbers.
#[derive(Default)]
pub(super) struct Owners {
    backends: HashMap<String, SessionIndex>,
    transactions: HashMap<String, SessionIndex>,
    virtual_transactions: HashMap<String, SessionIndex>,
}

impl Owners {
    /// What the runner has learned and what the answers themselves say.
    pub(super) fn of(transcript: &Transcript) -> Self {
        let mut owners = Self::default();
        for (pid, session) in &transcript.backends {
            owners.backends.insert(pid.to_string(), *session);
        }
        for event in &transcript.events {
            if let EventKind::Answered {
                session, answers, ..
            } = &event.kind
            {
                let actor = session.unwrap_or(SessionIndex(transcript.sessions.len()));
                for answer in answers {
                    owners.learn(actor, answer);
                }
            }
        }
        for (xid, session) in &transcript.transactions {
            owners.add_transaction(&xid.to_string(), *session);
        }
        for (vxid, session) in &transcript.virtual_transactions {
            owners.virtual_transactions.insert(vxid.clone(), *session);
        }
        owners
    }

    pub(super) fn of_backend(&self, pid: &str) -> Option<SessionIndex> {
        self.backends.get(pid).copied()
    }

    pub(super) fn of_transaction(&self, short_xid: &str) -> Option<SessionIndex> {
        self.transactions.get(short_xid).copied()
    }

    pub(super) fn of_virtual_transaction(&self, vxid: &str) -> Option<SessionIndex> {
        self.virtual_transactions.get(vxid).copied()
    }

    fn learn(&mut self, actor: SessionIndex, answer: &Answer) {
        match answer {
            Answer::Rows(result) => self.learn_from_rows(actor, result),
            Answer::Error(error) => {
                for found in BLOCKED.captures_iter(error.detail.as_deref().unwrap_or_default()) {
                    let Some(owner) = self.of_backend(&found[3]) else {
                        continue;
                    };
                    if let Some(xid) = found.get(1) {
                        self.add_transaction(xid.as_str(), owner);
                    }
                    if let Some(vxid) = found.get(2) {
                        self.virtual_transactions
                            .insert(vxid.as_str().to_owned(), owner);
                    }
                }
            }
            _ => {}
        }
    }

    fn learn_from_rows(&mut self, actor: SessionIndex, result: &ResultSet) {
        let named = |name: &str| result.columns.iter().position(|column| column.name == name);
        let pid = named("pid").filter(|at| cells::is_pid(&result.columns[*at]));
        let (vxid, xid) = (named("virtualtransaction"), named("backend_xid"));
        for row in &result.rows {
            let cell = |at: Option<usize>| row.get(at?)?.as_deref();
            if let Some(owner) = cell(pid).and_then(|pid| self.of_backend(pid)) {
                if let Some(vxid) = cell(vxid) {
                    self.virtual_transactions.insert(vxid.to_owned(), owner);
                }
                if let Some(xid) = cell(xid) {
                    self.add_transaction(xid, owner);
                }
            }
            for (column, value) in result.columns.iter().zip(row) {
                if let Some(value) = value
                    && OWN_TRANSACTION.contains(&column.name.as_str())
                {
                    self.add_transaction(value, actor);
                }
            }
        }
    }

    fn add_transaction(&mut self, xid: &str, owner: SessionIndex) {
        if let Some(short) = short_xid(xid) {
            self.transactions.insert(short, owner);
        }
    }
}
