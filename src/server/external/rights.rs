//! Whom the scenarios log in as.

use tokio_postgres::Client;

use super::error::{ExternalError, ExternalErrorKind};
use crate::server::Endpoint;
use crate::server::database::identifier;
use crate::server::randomness::secret;
use crate::server::verifier::verifier;

/// What Lockstep's role may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rights {
    pub superuser: bool,
    pub create_databases: bool,
    pub create_roles: bool,
}

impl Rights {
    /// Asks the server.
    pub(super) async fn of(client: &Client) -> Result<Self, ExternalError> {
        let row = client
            .query_one(
                "SELECT rolsuper, rolsuper OR rolcreatedb, rolsuper OR rolcreaterole
                 FROM pg_roles WHERE rolname = current_user",
                &[],
            )
            .await
            .map_err(refused("asking what the role may do"))?;
        Ok(Self {
            superuser: row.get(0),
            create_databases: row.get(1),
            create_roles: row.get(2),
        })
    }

    /// Whether the role, though no superuser, may run programs or read files on the server's
    /// machine, or give itself the right to: until 15, CREATEROLE is enough for that.
    pub(super) async fn reach_the_machine(client: &Client) -> Result<bool, ExternalError> {
        let row = client
            .query_one(
                "SELECT rolsuper
                    OR rolcreaterole AND current_setting('server_version_num')::int4 < 160000
                    OR pg_has_role('pg_execute_server_program', 'MEMBER')
                    OR pg_has_role('pg_read_server_files', 'MEMBER')
                    OR pg_has_role('pg_write_server_files', 'MEMBER')
                 FROM pg_roles WHERE rolname = current_user",
                &[],
            )
            .await
            .map_err(refused("asking what the role may do"))?;
        Ok(row.get(0))
    }
}

/// Makes a role of the run's own that is no superuser, and may read the monitoring views if that
/// can be granted.
pub(super) async fn make_role(
    client: &Client,
    endpoint: &Endpoint,
    rights: Rights,
    release_number: i32,
) -> Result<Endpoint, ExternalError> {
    let name = role_name(endpoint.run);
    let mut scripted = endpoint.clone();
    scripted.user.clone_from(&name);
    scripted.password = secret();
    // What the server is told, and may log, is not the password.
    let verifier = verifier(&scripted.password);
    client
        .batch_execute(&format!(
            "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION \
             NOBYPASSRLS PASSWORD '{verifier}'"
        ))
        .await
        .map_err(refused("making a role for the scenarios"))?;
    if !rights.superuser {
        // To own databases for it, end its transactions and its statements.
        let how = if release_number >= 160_000 {
            " WITH INHERIT TRUE, SET TRUE"
        } else {
            ""
        };
        let me = identifier(&endpoint.user);
        let granted = client
            .batch_execute(&format!("GRANT {name} TO {me}{how}"))
            .await;
        if let Err(cause) = granted {
            drop_role(client, &role_name(endpoint.run)).await.ok();
            return Err(refused("becoming a member of the scenarios' role")(cause));
        }
    }
    // A role that is no superuser may seldom grant it, and most scenarios do without.
    client
        .batch_execute(&format!("GRANT pg_monitor TO {name}"))
        .await
        .ok();
    Ok(scripted)
}

/// Drops a role that a run has made, if it has. Its name needs no quoting.
pub(super) async fn drop_role(client: &Client, name: &str) -> Result<(), tokio_postgres::Error> {
    client
        .batch_execute(&format!("DROP ROLE IF EXISTS {name}"))
        .await
}

/// The name of the role that a run makes; it needs no quoting.
pub(super) fn role_name(run: u64) -> String {
    format!("lockstep_{run:016x}")
}

/// An error of the server, and what was to be done.
pub(super) fn refused(what: &'static str) -> impl FnOnce(tokio_postgres::Error) -> ExternalError {
    move |cause| ExternalErrorKind::Refused { what, cause }.into()
}
