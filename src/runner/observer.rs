//! The connection that asks the server who waits for whom.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};

use super::blocking::{SeenBlocker, Sighting};
use super::cast::Cast;
use crate::scenario::Blocker;
use crate::scenario::SessionIndex;
use crate::server::Endpoint;

/// For each backend asked about: its direct blockers by lock and by safe snapshot, and its wait.
/// The look is at exactly the backends asked about.
const LOOK: &str = "
    SELECT pid, pg_blocking_pids(pid), pg_safe_snapshot_blocking_pids(pid),
           (SELECT wait_event FROM pg_stat_get_activity(pid)
            WHERE wait_event IN ('SyncRep', 'BufferPin'))
    FROM unnest($1::int[]) AS pid";

/// What the server says a backend is doing.
const DOING: &str = "
    SELECT state, wait_event_type || '/' || wait_event FROM pg_stat_get_activity($1::int)";

/// The first version whose DROP DATABASE waits for all backends.
const BARRIER_SINCE: i32 = 150_000;

/// How long a nap of 2 s may take.
const NAP_LIMIT: Duration = Duration::from_secs(30);

/// How to stop a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// As Ctrl-C in psql does.
    Cancel,
    /// By ending the backend.
    Terminate,
}

/// A connection of the runner's own, beside those of the scenario.
pub(crate) struct Observer {
    pub(super) client: Client,
    look: Statement,
    /// A database that is made only to be dropped, where the server makes that a barrier.
    barrier: Option<String>,
}

impl Observer {
    /// Connects to the server's maintenance database, so that nothing the observer does can be
    /// seen in a case's own.
    pub(crate) async fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let client = endpoint.connect(&endpoint.database).await?;
        let look = client.prepare_typed(LOOK, &[Type::INT4_ARRAY]).await?;
        let version: i32 = client
            .query_one("SELECT current_setting('server_version_num')::int4", &[])
            .await?
            .try_get(0)?;
        let pid: i32 = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await?
            .try_get(0)?;
        Ok(Self {
            client,
            look,
            barrier: (version >= BARRIER_SINCE).then(|| format!("lockstep_barrier_{pid}")),
        })
    }

    /// Waits until every backend has heeded the signals that were sent to it so far.
    ///
    /// A backend that was told to cancel or to end still counts as waiting until it wakes up, and
    /// nothing it shares says that it was told. But before DROP DATABASE removes files it waits until
    /// every backend has said that it closed them, which a backend does where it also heeds signals,
    /// and not before those. Servers before 15 do without, so there a look may come too early.
    pub(crate) async fn have_signals_heeded(&self) -> Result<(), Error> {
        let Some(name) = &self.barrier else {
            return Ok(());
        };
        // Copied files need no log records; that is quicker.
        self.client
            .batch_execute(&format!(
                "CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy"
            ))
            .await?;
        self.client
            .batch_execute(&format!("DROP DATABASE {name}"))
            .await
    }

    /// Asks about the given sessions of a cast, all in one question.
    pub(crate) async fn look(
        &self,
        cast: &Cast,
        at: &[SessionIndex],
    ) -> Result<Vec<Sighting>, Error> {
        let pids: Vec<i32> = at.iter().filter_map(|session| cast.pid(*session)).collect();
        let rows = self.client.query(&self.look, &[&pids]).await?;
        let mut seen = Vec::with_capacity(rows.len());
        for row in &rows {
            let by_lock: Vec<i32> = row.try_get(1)?;
            let by_snapshot: Vec<i32> = row.try_get(2)?;
            let waits_for: Option<String> = row.try_get(3)?;
            let mut blockers: Vec<SeenBlocker> = by_lock
                .into_iter()
                .chain(by_snapshot)
                .map(|pid| cast.blocker(pid))
                .collect();
            // An absent standby holds no lock and a pin is none, so no process is named.
            if let Some(event) = waits_for {
                blockers.push(SeenBlocker::Known(Blocker::WaitEvent(event)));
            }
            if let Some(session) = cast.session(row.try_get(0)?) {
                seen.push(Sighting { session, blockers });
            }
        }
        Ok(seen)
    }

    /// Stops what a backend does.
    pub(crate) async fn stop(&self, pid: i32, how: Stop) -> Result<(), Error> {
        let sql = match how {
            Stop::Cancel => "SELECT pg_cancel_backend($1)",
            Stop::Terminate => "SELECT pg_terminate_backend($1)",
        };
        self.client
            .query_typed(sql, &[(&pid, Type::INT4)])
            .await
            .map(drop)
    }

    /// What a backend is doing, in the server's words: `active, Timeout/PgSleep`.
    pub(crate) async fn doing(&self, pid: i32) -> Result<Option<String>, Error> {
        let row = self
            .client
            .query_typed_opt(DOING, &[(&pid, Type::INT4)])
            .await?;
        let Some(row) = row else { return Ok(None) };
        let words: [Option<String>; 2] = [row.try_get(0)?, row.try_get(1)?];
        Ok(Some(
            words.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ))
    }

    /// Whether the server goes on although a connection ended without a word. When a backend
    /// crashes, the server ends all others; so does this one, then, in the middle of its nap.
    pub(crate) async fn outlives_a_crash(&self) -> bool {
        let nap = self.client.simple_query("SELECT pg_sleep(2)");
        // One that does not even wake up again has not outlived it.
        matches!(tokio::time::timeout(NAP_LIMIT, nap).await, Ok(Ok(_)))
    }

    /// Whether the server still answers.
    pub(crate) async fn answers(&self) -> bool {
        self.client.simple_query("").await.is_ok()
    }
}
