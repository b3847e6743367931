//! The roles of the servers that Lockstep starts itself.

use tokio_postgres::Client;

use super::release::Release;

/// Lockstep's own superuser.
pub(crate) const SUPERUSER: &str = "lockstep_admin";

/// The role of everything a scenario brings.
pub(crate) const SCRIPTED: &str = "lockstep";

/// Statements, on one line, that make the scripted role.
pub(super) fn make_scripted() -> String {
    format!(
        "CREATE ROLE {SCRIPTED} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION \
         NOBYPASSRLS; GRANT pg_monitor TO {SCRIPTED};"
    )
}

/// Makes deriving a password cheap, where the release lets it be chosen.
///
/// The passwords are as hard to guess as keys, so that deriving them slowly, which shields weak
/// ones, would only make each connection slow.
pub(super) fn quick_scram(release: Release) -> &'static str {
    if release.major >= 16 {
        "SET scram_iterations = 1; "
    } else {
        ""
    }
}

/// Gives both roles the passwords of this run, which need no quoting, after running `first`.
pub(super) async fn set_passwords(
    client: &Client,
    release: Release,
    first: &str,
    superuser: &str,
    scripted: &str,
) -> Result<(), tokio_postgres::Error> {
    // The statements must not be seen in pg_stat_activity, which the scripted role may read.
    let sql = format!(
        "SET track_activities = off; {}{first}\
         ALTER ROLE {SUPERUSER} PASSWORD '{superuser}'; \
         ALTER ROLE {SCRIPTED} PASSWORD '{scripted}';",
        quick_scram(release)
    );
    client.batch_execute(&sql).await
}
