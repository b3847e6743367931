//! Databases made ahead, and dropped behind: no case waits for either.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;

use super::database::{CaseDatabase, DatabaseError, Databases};

/// How long dropping a database may take; it takes some milliseconds.
const DROPPED_WITHIN: Duration = Duration::from_secs(60);

/// Databases made ahead of the cases that need them, and dropped behind those that have ended.
///
/// Cases share nothing by it: each database is handed out once, and is as fresh as one made on
/// demand. Dropping the pool stops it at once; what it has made stays on the server, unlike with
/// [`Pool::close`].
#[derive(Debug)]
pub struct Pool {
    databases: Arc<Databases>,
    ready: tokio::sync::Mutex<Receiver<Result<CaseDatabase, DatabaseError>>>,
    finished: Sender<CaseDatabase>,
    /// A failure to drop a database, until somebody is told.
    failure: Arc<Mutex<Option<DatabaseError>>>,
    tasks: JoinSet<()>,
}

impl Pool {
    /// Begins to make so many databases as are `wanted` in all; at most `ahead` of them wait to be
    /// taken.
    #[must_use]
    pub fn new(databases: Databases, wanted: usize, ahead: usize) -> Self {
        let databases = Arc::new(databases);
        let failure = Arc::default();
        let ahead = ahead.max(1);
        let (make, ready) = mpsc::channel(ahead);
        // Whoever is faster than the dropping is slowed down before the disk is full.
        let (finished, finishing) = mpsc::channel(2 * ahead);
        let mut tasks = JoinSet::new();
        tasks.spawn(make_ahead(
            Arc::clone(&databases),
            wanted,
            make,
            finished.clone(),
        ));
        tasks.spawn(drop_behind(
            Arc::clone(&databases),
            finishing,
            Arc::clone(&failure),
        ));
        Self {
            databases,
            ready: tokio::sync::Mutex::new(ready),
            finished,
            failure,
            tasks,
        }
    }

    /// What makes the databases; it also changes them.
    #[must_use]
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// Whether its connections to the server still stand.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.databases.is_alive()
    }

    /// A fresh database, in the order in which they are asked for.
    ///
    /// # Errors
    ///
    /// The server refused to make it, or to drop an earlier one.
    pub async fn take(&self) -> Result<CaseDatabase, DatabaseError> {
        if let Some(failure) = take_failure(&self.failure) {
            return Err(failure);
        }
        let made = self.ready.lock().await.recv().await;
        match made {
            Some(made) => made,
            // As many as were wanted have been made.
            None => self.databases.create().await,
        }
    }

    /// Gives a database back to be dropped; whoever is still connected is thrown out. That takes
    /// the server 100 ms, since it looks again only then, so everybody better has left before. A
    /// failure is told by the next [`Pool::take`], or by [`Pool::close`].
    pub async fn give_back(&self, database: CaseDatabase) {
        // The task that drops it ends only after this sender is gone.
        let _ = self.finished.send(database).await;
    }

    /// Drops all databases that are left, and waits until they are gone.
    ///
    /// # Errors
    ///
    /// The server refused to drop one of them.
    pub async fn close(self) -> Result<(), DatabaseError> {
        let Self {
            databases,
            ready,
            finished,
            failure,
            mut tasks,
        } = self;
        let mut ready = ready.into_inner();
        ready.close();
        while let Some(made) = ready.recv().await {
            if let Ok(database) = made {
                let _ = finished.send(database).await;
            }
        }
        drop(finished);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        if let Some(databases) = Arc::into_inner(databases) {
            databases.close().await?;
        }
        take_failure(&failure).map_or(Ok(()), Err)
    }
}

async fn make_ahead(
    databases: Arc<Databases>,
    wanted: usize,
    make: Sender<Result<CaseDatabase, DatabaseError>>,
    finished: Sender<CaseDatabase>,
) {
    for _ in 0..wanted {
        // With a place for it, it is not one too many.
        let Ok(place) = make.reserve().await else {
            return;
        };
        let made = databases.create().await;
        if make.is_closed() {
            if let Ok(database) = made {
                let _ = finished.send(database).await;
            }
            return;
        }
        place.send(made);
    }
}

async fn drop_behind(
    databases: Arc<Databases>,
    mut finishing: Receiver<CaseDatabase>,
    failure: Arc<Mutex<Option<DatabaseError>>>,
) {
    while let Some(database) = finishing.recv().await {
        let removed = tokio::time::timeout(DROPPED_WITHIN, databases.remove(&database)).await;
        // A server that hangs has more wrong with it than what is left there; nobody waits for it.
        let Ok(removed) = removed else { return };
        if let Err(error) = removed {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

fn take_failure(failure: &Mutex<Option<DatabaseError>>) -> Option<DatabaseError> {
    failure
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
}
