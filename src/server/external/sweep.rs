//! What dead runs have left on a server.
//!
//! Every run holds an advisory lock on its own number, which is in the names of all that it makes.
//! The lock is taken before anything is made and goes with the connection; the server lists such
//! locks whatever database they were taken in. So what bears the number of a lock that nobody holds
//! belongs to a run that is dead.

use tokio_postgres::Client;

use super::rights::drop_role;
use crate::server::Endpoint;
use crate::server::database::{drop_database, prefix};

/// Names and owners of the form that runs give, whose run is dead, as far as the role may drop
/// them. The databases are looked at before the locks: a run that begins in between is not seen.
const DEAD_DATABASES: &str = "
    WITH found AS MATERIALIZED (
        SELECT datname::text AS name, substr(datname, 10, 16) AS run, datdba
        FROM pg_database WHERE datname ~ '^lockstep_[0-9a-f]{16}_[0-9]+$')
    SELECT name FROM found JOIN pg_roles owner ON owner.oid = datdba
    WHERE (owner.rolname = current_user OR owner.rolname = 'lockstep_' || run)
      AND pg_has_role(datdba, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
          AND lpad(to_hex(classid::int8), 8, '0') || lpad(to_hex(objid::int8), 8, '0') = run)";

const DEAD_ROLES: &str = "
    WITH found AS MATERIALIZED (
        SELECT oid, substr(rolname, 10) AS run
        FROM pg_roles WHERE rolname ~ '^lockstep_[0-9a-f]{16}$' AND NOT rolsuper)
    SELECT run FROM found
    WHERE pg_has_role(oid, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_database WHERE datdba = oid)
      AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
          AND lpad(to_hex(classid::int8), 8, '0') || lpad(to_hex(objid::int8), 8, '0') = run)";

/// Says, for as long as the connection lives, that the run does.
pub(super) async fn announce(client: &Client, run: u64) -> Result<(), tokio_postgres::Error> {
    client
        .execute("SELECT pg_advisory_lock_shared($1)", &[&run.cast_signed()])
        .await
        .map(drop)
}

/// Drops what dead runs have left; gives how many databases that were.
///
/// What cannot be dropped stays: another run may be at the same, and rubbish is no reason to
/// replay nothing.
pub(super) async fn sweep(
    client: &Client,
    endpoint: &Endpoint,
) -> Result<usize, tokio_postgres::Error> {
    let mut count = 0;
    for row in client.query(DEAD_DATABASES, &[]).await? {
        if drop_database(client, endpoint, row.get(0)).await.is_ok() {
            count += 1;
        }
    }
    for row in client.query(DEAD_ROLES, &[]).await? {
        if let Ok(run) = u64::from_str_radix(row.get(0), 16) {
            drop_role(client, run).await.ok();
        }
    }
    Ok(count)
}

/// Drops the databases of the run itself; gives what was in the way.
pub(super) async fn drop_own(client: &Client, endpoint: &Endpoint) -> Result<(), String> {
    let own = client
        .query(
            "SELECT datname::text FROM pg_database WHERE starts_with(datname::text, $1)",
            &[&prefix(endpoint.run)],
        )
        .await
        .map_err(|error| crate::server::database::explain(&error))?;
    let mut trouble = Ok(());
    for row in own {
        if let Err(error) = drop_database(client, endpoint, row.get(0)).await {
            trouble = Err(error.to_string());
        }
    }
    trouble
}
