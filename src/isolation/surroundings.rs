//! What a spec finds in isolationtester's surroundings and a scenario does not, unless it asks for it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::environment::session_settings;
use super::spec::Spec;
use crate::scenario::{SUPERUSER_SETTINGS, reaches_beyond_its_database};

/// The server that a spec needs for itself. Plans depend on statistics, and since PostgreSQL 18
/// CREATE INDEX makes some only where autovacuum is on; it need not ever come by.
pub(super) fn server(spec: &Spec) -> Option<&'static str> {
    let mut sql = spec.all_sql();
    if mentions(spec, "explain") {
        Some("server:\n  own: true\n  settings: { autovacuum: on, autovacuum_naptime: 2147483s }\n")
    } else if sql.any(|sql| reaches_beyond_its_database(&sql.value)) {
        Some("server: own\n")
    } else {
        None
    }
}

/// A setting of the server, and its value.
pub(super) type Setting = (String, String);

/// A set-up without the harmless settings that only a superuser may set, and these: as settings of
/// the session anybody may have them.
pub(super) fn hoisted(setup: &str) -> (String, Vec<Setting>) {
    let mut settings = Vec::new();
    let rest = SUPERUSER_SETS.replace_all(setup, |set: &Captures<'_>| {
        settings.push((set[1].to_ascii_lowercase(), set[2].to_owned()));
        String::new()
    });
    (rest.trim().to_owned(), settings)
}

static SUPERUSER_SETS: LazyLock<Regex> = LazyLock::new(|| {
    let names = SUPERUSER_SETTINGS.join("|");
    let set =
        format!(r"(?i)\bset\s+(?:session\s+)?({names})\s*(?:=|\bto\b)\s*'?([^;']*?)'?\s*;\s*");
    Regex::new(&set).expect("a name has no special characters")
});

/// What sessions of specs begin with and those of scenarios do not, where times are shown.
pub(super) fn settings(spec: &Spec) -> Vec<Setting> {
    let shows_time = spec.all_sql().any(|sql| TIMES.is_match(&sql.value));
    let of_times = |name: &str| ["TimeZone", "DateStyle", "IntervalStyle"].contains(&name);
    let settings = session_settings().into_iter();
    settings
        .filter(|(name, _)| shows_time && of_times(name))
        .collect()
}

static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)\b(?:timestamp(?:tz)?|date|time|interval|now|clock_timestamp|current_\w+)\b";
    Regex::new(words).expect("the words are a regular expression")
});

/// Whether a word is part of some SQL of a spec.
pub(super) fn mentions(spec: &Spec, word: &str) -> bool {
    let mut sql = spec.all_sql();
    sql.any(|sql| sql.value.to_ascii_lowercase().contains(word))
}
