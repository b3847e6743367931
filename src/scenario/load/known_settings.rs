//! PostgreSQL's own settings, and who may set them.
//!
//! The list holds the settings that releases 13 to 18 know: those that `pg_settings` of 18 shows,
//! and the few a session could set in an earlier release and that are gone since.

/// Who may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Any session.
    User,
    /// A session of a superuser.
    Superuser,
    /// Nobody in a session: it is fixed when the server or the connection starts.
    Server,
}

/// Settings for superusers that are harmless in a scenario and that races need: how long the
/// server waits before it looks for a deadlock, and whether it writes long waits to its log. None
/// of them runs a program, reads a file, passes by a permission check, or changes what other
/// messages say. `log_min_messages` and its like only fill a log that nobody compares, and
/// `session_replication_role` switches off foreign keys, so they stay out.
pub const SUPERUSER_SETTINGS: &[&str] = &["deadlock_timeout", "log_lock_waits"];

/// Settings that a scenario may give a server of its own, which go beyond sessions and which races
/// need: how many prepared transactions and locks there is room for and when many predicate locks
/// become one, whether commits wait for a standby and have their times kept, whether and when
/// vacuum comes by itself. They hold numbers, `on` and `off`, and names that are compared with
/// those of standbys.
///
/// No setting that names a program, a library, a file, a folder, an address or a connection is
/// among them (`archive_command`, `shared_preload_libraries`, `log_directory`,
/// `listen_addresses`, `primary_conninfo`, …), none that says who gets in, and none that Lockstep's own
/// connections would feel (`search_path`, `default_transaction_read_only`, `max_connections`).
pub const SERVER_SETTINGS: &[&str] = &[
    "synchronous_standby_names",
    "max_prepared_transactions",
    "track_commit_timestamp",
    "autovacuum",
    "autovacuum_naptime",
    "autovacuum_vacuum_threshold",
    "autovacuum_vacuum_scale_factor",
    "max_locks_per_transaction",
    "max_pred_locks_per_transaction",
    "max_pred_locks_per_relation",
    "max_pred_locks_per_page",
];

const LIST: &str = include_str!("known_settings.txt");

fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.lines().filter_map(|line| line.split_once(' '))
}

/// Who may set a setting; `None` for one that PostgreSQL does not know.
pub(super) fn context(name: &str) -> Option<Context> {
    entries()
        .find(|(known, _)| *known == name)
        .map(|(_, context)| match context {
            "user" => Context::User,
            "superuser" => Context::Superuser,
            _ => Context::Server,
        })
}

/// The names of the settings that a scenario may change.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    LIST.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, context)| *context == "user" || SUPERUSER_SETTINGS.contains(name))
        .map(|(name, _)| name)
}
