//! The connections that specs are played on.

use std::time::Duration;

use super::line::Line;
use super::spec::Place;
use crate::isolation::environment::session_settings;
use crate::isolation::spec::Spec;
use crate::runner::{Trouble, tell};
use crate::server::literal;
use crate::wire::{self, Startup};

/// How long the server may take to close connections that have said goodbye.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// How long the server may take to make connections as new.
const CLEARS_WITHIN: Duration = Duration::from_secs(5);

/// One row if a database holds anything but what each database has from the beginning: the oid of
/// what users make is at least 16384 (`FirstNormalObjectId`).
const LEFTOVERS: &str = "SELECT FROM pg_class WHERE oid >= 16384 \
     UNION ALL SELECT FROM pg_type WHERE oid >= 16384 \
     UNION ALL SELECT FROM pg_proc WHERE oid >= 16384 \
     UNION ALL SELECT FROM pg_namespace WHERE oid >= 16384 LIMIT 1";

/// Connections to one database.
#[derive(Debug, Default)]
pub(crate) struct Connections(Vec<Line>);

impl Connections {
    /// Gives the connections that are there the names of a spec's sessions. Whether that succeeds:
    /// they may have been lost meanwhile.
    pub(crate) async fn rename(&mut self, spec: &Spec) -> bool {
        let renamed = async {
            let names = names(spec);
            for (line, name) in self.0.iter_mut().zip(&names) {
                let set = format!("SET application_name = {}", literal(name));
                line.send(&set).await.ok()?;
            }
            self.settle().await
        };
        in_time(renamed).await.is_some()
    }

    /// Those of all sessions of a spec, and the control connection as the last one. What is missing
    /// is connected, all at once.
    pub(super) async fn serve(
        &mut self,
        spec: &Spec,
        place: &Place<'_>,
    ) -> Result<&mut [Line], Trouble> {
        let names = names(spec);
        let mut tasks = Vec::new();
        for name in names.iter().skip(self.0.len()) {
            let startup = Startup {
                user: place.endpoint.user.clone(),
                password: place.endpoint.password.clone(),
                database: place.database.to_owned(),
                application_name: name.clone(),
                options: session_settings(),
            };
            let (address, tls) = (place.endpoint.address.clone(), place.endpoint.tls.clone());
            let limit = place.limit;
            tasks.push(tokio::spawn(async move {
                let connection = wire::connect_with_tls(&address, &tls, &startup);
                tokio::time::timeout(limit, connection).await
            }));
        }
        for task in tasks {
            let made = task
                .await
                .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            let (sender, receiver) = made
                .map_err(|_| Trouble::Server("the server does not answer".to_owned()))?
                .map_err(|error| Trouble::Server(format!("failed to {}", tell(&error))))?;
            self.0.push(Line::new(sender, receiver));
        }
        Ok(&mut self.0[..names.len()])
    }

    /// Makes the connections as new, and looks whether the database is as empty as a new one.
    /// Whether both is so.
    pub(crate) async fn clear(&mut self) -> bool {
        if !self.0.iter().all(Line::is_idle) {
            return false;
        }
        let cleared = async {
            for (at, line) in self.0.iter_mut().enumerate() {
                line.send("DISCARD ALL").await.ok()?;
                if at == 0 {
                    line.send(LEFTOVERS).await.ok()?;
                }
            }
            self.settle().await
        };
        in_time(cleared).await == Some(0)
    }

    /// Waits until all that was sent has ended well. How many rows came of it.
    async fn settle(&mut self) -> Option<usize> {
        let mut rows = 0;
        for line in &mut self.0 {
            rows += line.settle().await?;
        }
        Some(rows)
    }

    /// Says goodbye on all connections, so that the database can be dropped at once.
    pub(crate) async fn leave(mut self) {
        for line in &mut self.0 {
            line.close().await;
        }
        let gone = async {
            for line in &mut self.0 {
                if !line.in_flight() {
                    line.gone().await;
                }
            }
        };
        // Who stays is thrown out with the database.
        let _ = tokio::time::timeout(LEAVES_WITHIN, gone).await;
    }
}

/// What comes of something that readies connections; nothing if that takes too long.
async fn in_time(readied: impl Future<Output = Option<usize>>) -> Option<usize> {
    let readied = tokio::time::timeout(CLEARS_WITHIN, readied).await;
    readied.ok().flatten()
}

/// What the connections of a spec are called.
fn names(spec: &Spec) -> Vec<String> {
    let sessions = spec.sessions.iter().map(|session| &*session.name.value);
    sessions
        .chain(["control connection"])
        .map(|name| format!("isolation/{}/{name}", spec.name()))
        .collect()
}
