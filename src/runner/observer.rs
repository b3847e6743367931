//! The connection that asks the server who waits for whom.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};

use super::blocking::{SeenBlocker, Sighting};
use super::cast::{Backend, Cast};
use super::streams;
use crate::server::Endpoint;

/// For each backend asked about: its direct blockers by lock and by safe snapshot; then, if it is
/// still there, the event of a wait that is for no lock, which may be none. The look is at exactly
/// the backends asked about.
const LOOK: &str = "
    SELECT pid, pg_blocking_pids(pid), pg_safe_snapshot_blocking_pids(pid),
           ARRAY(SELECT CASE WHEN wait_event_type <> 'Lock' THEN wait_event END
                 FROM pg_stat_get_activity(pid))
    FROM unnest($1::int[]) AS pid";

/// For each backend asked about that runs a VACUUM which is about to cut off the end of a table: who
/// else has a lock on the table; 0 is a prepared transaction.
const TRUNCATIONS: &str = "
    SELECT vacuum.pid, array_agg(DISTINCT coalesce(held.pid, 0))
    FROM pg_stat_progress_vacuum AS vacuum
         JOIN pg_locks AS held ON held.locktype = 'relation' AND held.granted
              AND held.database = vacuum.datid AND held.relation = vacuum.relid
              AND held.pid IS DISTINCT FROM vacuum.pid
    WHERE vacuum.pid = ANY ($1::int[]) AND vacuum.phase = 'truncating heap'
    GROUP BY 1";

/// What the server says a backend is doing.
const DOING: &str = "
    SELECT state, wait_event_type || '/' || wait_event FROM pg_stat_get_activity($1::int)";

/// The version of the server, the process that serves the observer, and whether it may read what the
/// system says of the server's processes.
const ABOUT: &str = "
    SELECT current_setting('server_version_num')::int4, pg_backend_pid(),
           pg_has_role('pg_read_server_files', 'MEMBER')
           AND has_function_privilege('pg_read_file(text, bigint, bigint, boolean)', 'EXECUTE')";

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

/// What a look at backends has seen.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// What each waits for.
    pub seen: Vec<Sighting>,
    /// Those that have ended: the server takes a backend off its list only after it has rolled back
    /// and let go of all locks.
    pub gone: Vec<Backend>,
    /// Those whose stream is open, and who have taken in all that was written to it.
    pub taken: Vec<Backend>,
}

/// A connection of the runner's own, beside those of the scenario.
pub(crate) struct Observer {
    pub(super) client: Client,
    look: Statement,
    truncations: Statement,
    /// Asks about streams that are open.
    pub(super) streams: String,
    /// A database that is made only to be dropped, where the server makes that a barrier.
    barrier: Option<String>,
}

impl Observer {
    /// Connects to the server's maintenance database, so that nothing the observer does can be
    /// seen in a case's own.
    pub(crate) async fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let client = endpoint.connect(&endpoint.database).await?;
        let look = client.prepare_typed(LOOK, &[Type::INT4_ARRAY]).await?;
        let truncations = client
            .prepare_typed(TRUNCATIONS, &[Type::INT4_ARRAY])
            .await?;
        let about = client.query_one(ABOUT, &[]).await?;
        let version: i32 = about.try_get(0)?;
        let pid: i32 = about.try_get(1)?;
        Ok(Self {
            client,
            look,
            truncations,
            streams: streams::question(version, about.try_get(2)?),
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

    /// Asks about the given backends of a cast, all in one question. Of waits that are for no lock,
    /// those count whose event `is_wait` says do.
    pub(crate) async fn look(
        &self,
        cast: &Cast,
        at: &[Backend],
        is_wait: impl Fn(Backend, &str) -> bool,
    ) -> Result<Look, Error> {
        let pids: Vec<i32> = at.iter().filter_map(|at| cast.pid_of(*at)).collect();
        let rows = self.client.query(&self.look, &[&pids]).await?;
        let mut look = Look::default();
        for row in &rows {
            let Some(backend) = cast.backend(row.try_get(0)?) else {
                continue;
            };
            let by_lock: Vec<i32> = row.try_get(1)?;
            let by_snapshot: Vec<i32> = row.try_get(2)?;
            let event: Vec<Option<String>> = row.try_get(3)?;
            if event.is_empty() {
                look.gone.push(backend);
            }
            let mut blockers: Vec<SeenBlocker> = by_lock
                .into_iter()
                .chain(by_snapshot)
                .map(|pid| cast.blocker(pid))
                .collect();
            // An absent standby holds no lock and a pin is none, so no process is named.
            if blockers.is_empty() {
                let event = event.into_iter().flatten();
                blockers.extend(
                    event
                        .filter(|event| is_wait(backend, event))
                        .map(SeenBlocker::Event),
                );
            }
            look.seen.push(Sighting { backend, blockers });
        }
        Ok(look)
    }

    /// Adds to a look who waits to cut off the end of a table. Whoever does takes the lock only
    /// if it is free, and tries again and again, so it is in nobody's queue.
    pub(crate) async fn look_at_truncations(
        &self,
        cast: &Cast,
        look: &mut Look,
    ) -> Result<(), Error> {
        let at = look.seen.iter();
        let pids: Vec<i32> = at.filter_map(|seen| cast.pid_of(seen.backend)).collect();
        for row in &self.client.query(&self.truncations, &[&pids]).await? {
            let vacuum = cast.backend(row.try_get(0)?);
            let holders: Vec<i32> = row.try_get(1)?;
            let holders = holders.into_iter().filter_map(|pid| match pid {
                0 => Some(None),
                pid => cast.backend(pid).map(Some),
            });
            let vacuum = look
                .seen
                .iter_mut()
                .find(|seen| Some(seen.backend) == vacuum);
            if let Some(vacuum) = vacuum {
                vacuum
                    .blockers
                    .push(SeenBlocker::Truncation(holders.collect()));
            }
        }
        Ok(())
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

    /// Whether its connection still stands.
    pub(crate) fn is_alive(&self) -> bool {
        !self.client.is_closed()
    }

    /// Whether the server still answers.
    pub(crate) async fn answers(&self) -> bool {
        self.client.simple_query("").await.is_ok()
    }
}
