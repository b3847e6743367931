//! Streams of COPY that a step leaves open: whether the server has taken in what was written.

use tokio_postgres::Error;
use tokio_postgres::types::{ToSql, Type};

use super::cast::{Backend, Cast};
use super::live::LiveSession;
use super::observer::Observer;
use super::replay::Replay;

/// The first version that counts the bytes a COPY has read.
const COUNTS_SINCE: i32 = 140_000;

/// A stream that is open behind the step its session is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenStream {
    /// Whose it is.
    pub backend: Backend,
    /// How many bytes the server has read, by its own count, once it has taken in all of them.
    pub written: u64,
}

/// The question that tells, of each backend asked about: how many bytes its COPY has read; what its
/// process does; and whether it waits for its client, which counts as so where nobody is told.
///
/// The columns are asked for in this order. A wait for the client lasts until the backend runs again,
/// so right after data has come for it the backend still seems to be at the wait before. One that is
/// seen waiting after it has read the data, or after its process was seen asleep although there was
/// data to wake it up, is at a new one: it has done all it can do with what it has got.
pub(super) fn question(version: i32, sees_processes: bool) -> String {
    let read = if version >= COUNTS_SINCE {
        "(SELECT bytes_processed FROM pg_stat_progress_copy AS copy WHERE copy.pid = asked.pid)"
    } else {
        "NULL::bigint"
    };
    let process = if sees_processes {
        // In parentheses stands the name of the program; the letter behind it says what it does.
        r"substring(pg_read_file('/proc/' || pid || '/stat', 0, 1000, true) FROM '\) ([A-Za-z]) ')"
    } else {
        "NULL"
    };
    format!(
        "SELECT pid, {read}, {process} = 'S',
                (SELECT coalesce(wait_event = 'ClientRead', state IS NULL)
                 FROM pg_stat_get_activity(pid))
         FROM unnest($1::int[]) AS asked (pid)"
    )
}

/// What the server says of a backend whose stream is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    /// How many bytes its COPY has read, if they are counted. They are not where the COPY has failed,
    /// nor where what it fires has shown progress of its own.
    read: Option<i64>,
    /// Whether its process sleeps, where that can be seen.
    is_asleep: Option<bool>,
    awaits_client: Option<bool>,
}

impl Reading {
    /// Whether all that was written has been taken in: nothing happens until more comes.
    fn has_taken_in(self, written: u64) -> bool {
        self.awaits_client == Some(true)
            && self.is_asleep != Some(false)
            && self
                .read
                .is_none_or(|read| u64::try_from(read).is_ok_and(|read| read >= written))
    }
}

impl Observer {
    /// Of these streams, those of which the server has taken in all that was written.
    pub(super) async fn look_at_streams(
        &self,
        cast: &Cast,
        streams: &[OpenStream],
    ) -> Result<Vec<Backend>, Error> {
        let pid_of = |stream: &OpenStream| cast.pid_of(stream.backend);
        let pids: Vec<i32> = streams.iter().filter_map(pid_of).collect();
        let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(&pids, Type::INT4_ARRAY)];
        let rows = match self.client.query_typed(&self.streams, &parameters).await {
            // Of a process that has just ended the system tells nothing.
            Err(error) if error.as_db_error().is_some() => return Ok(Vec::new()),
            rows => rows?,
        };
        let mut taken = Vec::new();
        for row in &rows {
            let pid: i32 = row.try_get(0)?;
            let reading = Reading {
                read: row.try_get(1)?,
                is_asleep: row.try_get(2)?,
                awaits_client: row.try_get(3)?,
            };
            let stream = streams.iter().find(|stream| pid_of(stream) == Some(pid));
            taken.extend(
                stream
                    .filter(|stream| reading.has_taken_in(stream.written))
                    .map(|stream| stream.backend),
            );
        }
        Ok(taken)
    }
}

impl Replay<'_> {
    /// The streams that are left open by the steps that sessions are at.
    pub(super) fn open_streams(&self) -> Vec<OpenStream> {
        self.everybody()
            .filter_map(|session| {
                Some(OpenStream {
                    backend: Backend::Of(session),
                    written: self.live[session.0].as_ref()?.written()?,
                })
            })
            .collect()
    }

    /// Ends the steps of those whose data the server has taken in; whether there were any.
    pub(super) fn end_taken(&mut self, taken: &[Backend]) -> bool {
        for backend in taken {
            let live = self.live[backend.session().0].as_mut();
            live.map(LiveSession::leave_open);
        }
        !taken.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: Reading = Reading {
        read: Some(7),
        is_asleep: Some(true),
        awaits_client: Some(true),
    };

    #[test]
    fn data_is_taken_in_when_it_is_read_and_the_client_is_waited_for() {
        assert!(TAKEN.has_taken_in(7));
        assert!(!TAKEN.has_taken_in(8));
        for not_yet in [Some(false), None] {
            let reading = Reading {
                awaits_client: not_yet,
                ..TAKEN
            };
            assert!(!reading.has_taken_in(7));
        }
    }

    #[test]
    fn a_process_that_is_awake_has_something_to_do() {
        let awake = Reading {
            is_asleep: Some(false),
            ..TAKEN
        };
        assert!(!awake.has_taken_in(7));
    }

    #[test]
    fn what_cannot_be_seen_is_not_asked_for() {
        let unseen = Reading {
            read: None,
            is_asleep: None,
            ..TAKEN
        };
        assert!(unseen.has_taken_in(7));
    }
}
