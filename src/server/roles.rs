//! The roles of the servers that Lockstep starts itself.

use tokio_postgres::Client;

use super::verifier::verifier;

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

/// Gives both roles the passwords of this run, after running `first`.
pub(super) async fn set_passwords(
    client: &Client,
    first: &str,
    superuser: &str,
    scripted: &str,
) -> Result<(), tokio_postgres::Error> {
    let sql = format!(
        "{first} ALTER ROLE {SUPERUSER} PASSWORD '{}'; ALTER ROLE {SCRIPTED} PASSWORD '{}';",
        verifier(superuser),
        verifier(scripted)
    );
    client.batch_execute(&sql).await
}
