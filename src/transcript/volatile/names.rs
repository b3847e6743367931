//! What is shown in the place of a value.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::owners::Owners;
use crate::scenario::SessionIndex;
use crate::transcript::event::Transcript;

/// The first oid that a server gives to what its users make; those below are the same in each run.
const FIRST_USER_OID: u32 = 16384;

/// The first transaction id that a transaction can have; those below have fixed meanings.
const FIRST_XID: u64 = 3;

/// What a number names. Two that are equal are shown alike, and two that differ are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// A backend.
    Pid,
    /// A transaction.
    Xid,
    /// A virtual transaction.
    Vxid,
    /// An object.
    Oid,
    /// A place in the write-ahead log.
    Lsn,
}

impl Identity {
    const fn word(self) -> &'static str {
        match self {
            Self::Pid => "pid",
            Self::Xid => "xid",
            Self::Vxid => "vxid",
            Self::Oid => "oid",
            Self::Lsn => "lsn",
        }
    }
}

/// What stands in a transcript's text for values of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::transcript) struct Replaced {
    /// What is shown.
    pub shown: String,
    /// The values that it was shown for.
    pub raw: Vec<String>,
}

/// Gives numbers their names, and remembers them.
pub(super) struct Names<'a> {
    sessions: &'a [String],
    owners: Owners,
    /// The names that were given, in the order in which the values came to be shown.
    given: RefCell<HashMap<(Identity, String), String>>,
    counts: RefCell<HashMap<(Identity, Option<SessionIndex>), usize>>,
    used: RefCell<BTreeMap<String, BTreeSet<String>>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(transcript: &'a Transcript) -> Self {
        Self {
            sessions: &transcript.sessions,
            owners: Owners::of(transcript),
            given: RefCell::default(),
            counts: RefCell::default(),
            used: RefCell::default(),
        }
    }

    /// The name of a backend of the case. Nobody else's is replaced: it may be any number.
    pub(super) fn backend(&self, pid: &str) -> Option<String> {
        let owner = self.owners.of_backend(pid)?;
        Some(self.give(Identity::Pid, pid.to_owned(), pid, Some(owner)))
    }

    /// The name of a transaction, by its number of 32 or 64 bits.
    pub(super) fn transaction(&self, xid: &str) -> Option<String> {
        let key = short_xid(xid)?;
        let owner = self.owners.of_transaction(&key);
        Some(self.give(Identity::Xid, key, xid, owner))
    }

    /// The name of a transaction that has been shown or whose session is known, by a number that
    /// may be anything else.
    pub(super) fn known_transaction(&self, xid: &str) -> Option<String> {
        let key = (Identity::Xid, short_xid(xid)?);
        let is_known =
            self.given.borrow().contains_key(&key) || self.owners.of_transaction(&key.1).is_some();
        is_known.then(|| self.transaction(xid))?
    }

    /// The name of a virtual transaction, `3/17`. A prepared transaction has none and is shown as
    /// `-1/` and its transaction id.
    pub(super) fn virtual_transaction(&self, vxid: &str) -> Option<String> {
        let (backend, number) = vxid.split_once('/')?;
        if backend == "-1" {
            return Some(format!("-1/{}", self.transaction(number)?));
        }
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !are_digits(backend) || !are_digits(number) {
            return None;
        }
        let owner = self.owners.of_virtual_transaction(vxid);
        Some(self.give(Identity::Vxid, vxid.to_owned(), vxid, owner))
    }

    /// The name of an object that is no part of every database.
    pub(super) fn object(&self, oid: &str) -> Option<String> {
        let number: u32 = oid.parse().ok()?;
        (number >= FIRST_USER_OID).then(|| self.give(Identity::Oid, oid.to_owned(), oid, None))
    }

    /// The name of a place in the write-ahead log.
    pub(super) fn log_place(&self, lsn: &str) -> Option<String> {
        (lsn != "0/0").then(|| self.give(Identity::Lsn, lsn.to_owned(), lsn, None))
    }

    /// Puts text in the place of a value that was measured.
    pub(super) fn put(&self, shown: &str, raw: &str) -> String {
        self.note(shown, raw);
        shown.to_owned()
    }

    pub(super) fn used(self) -> Vec<Replaced> {
        self.used
            .into_inner()
            .into_iter()
            .map(|(shown, raw)| Replaced {
                shown,
                raw: raw.into_iter().collect(),
            })
            .collect()
    }

    fn give(
        &self,
        identity: Identity,
        key: String,
        raw: &str,
        owner: Option<SessionIndex>,
    ) -> String {
        let mut given = self.given.borrow_mut();
        let name = given.entry((identity, key)).or_insert_with(|| {
            let mut counts = self.counts.borrow_mut();
            let count = counts.entry((identity, owner)).or_default();
            *count += 1;
            let number = if *count == 1 {
                String::new()
            } else {
                format!(" {count}")
            };
            let whose = owner.map_or_else(String::new, |owner| {
                let session = self.sessions.get(owner.0);
                format!(" of {}", session.map_or("the observer", String::as_str))
            });
            format!("<{}{number}{whose}>", identity.word())
        });
        self.note(name, raw);
        name.clone()
    }

    pub(super) fn note(&self, shown: &str, raw: &str) {
        let mut used = self.used.borrow_mut();
        used.entry(shown.to_owned())
            .or_default()
            .insert(raw.to_owned());
    }
}

/// The lower half of a transaction id, which is all that most places show; nothing for the few that
/// have a fixed meaning.
pub(super) fn short_xid(xid: &str) -> Option<String> {
    let number: u64 = xid.parse().ok()?;
    (number >= FIRST_XID).then(|| (number & u64::from(u32::MAX)).to_string())
}
