//! A private folder for a server, and the keeper in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::statvfs;

use super::account::Account;
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind};
use super::keeper::{Duty, Keeper, Stage, not_started};
use super::sweep;

/// The port in the name of the socket, which nobody else's server can have in a private folder.
pub(super) const PORT: u16 = 5432;

/// The longest path of a Unix socket: the system's field less its end mark.
const SOCKET_PATH_LIMIT: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// How much memory must be free before a server is put there: a cluster of 40 MB, 8 MB for each
/// case's database, 256 MB of write-ahead log.
const ROOM_IN_MEMORY: u64 = 512 << 20;

/// How often a new folder may be swept by another run in the instant before it is locked.
const ATTEMPTS: usize = 5;

/// The folders that servers' folders are made in, best first.
pub(super) fn bases(environment: &Environment) -> Vec<PathBuf> {
    let wanted = match &environment.servers {
        Some(told) => vec![told.clone()],
        None => vec![
            PathBuf::from("/dev/shm"),
            environment.temp.clone(),
            PathBuf::from("/tmp"),
        ],
    };
    let mut bases = Vec::new();
    for base in wanted {
        // What the system says of a server's processes is the real path.
        let base = base.canonicalize().unwrap_or(base);
        if !bases.contains(&base) {
            bases.push(base);
        }
    }
    bases
}

/// What a keeper is wanted for.
pub(super) struct Order<'a> {
    pub(super) duty: Duty,
    /// The arguments of its script behind the folder.
    pub(super) arguments: &'a [OsString],
    pub(super) account: Account,
    /// The line that its script waits for.
    pub(super) line: &'a str,
    pub(super) environment: &'a Environment,
    pub(super) limit: Duration,
}

/// Why a base will not do; the next is tried.
struct Unfit(String);

impl Order<'_> {
    /// Starts a keeper in the first base that will do, and waits until it is going.
    pub(super) async fn place(&self) -> Result<Keeper, ServerError> {
        let mut tried = Vec::new();
        for base in bases(self.environment) {
            let placed = match suits(&base, self.environment) {
                Ok(()) => self.place_in(&base).await?,
                Err(unfit) => Err(unfit),
            };
            match placed {
                Ok(keeper) => return Ok(keeper),
                Err(Unfit(why)) => tried.push((base, why)),
            }
        }
        Err(ServerErrorKind::NoFolder { tried }.into())
    }

    async fn place_in(&self, base: &Path) -> Result<Result<Keeper, Unfit>, ServerError> {
        let mut keeper = match self.found_in(base).await? {
            Ok(keeper) => keeper,
            Err(unfit) => return Ok(Err(unfit)),
        };
        // A keeper that died meanwhile is noticed below.
        let _ = keeper.send(self.line);
        let stage = tokio::time::timeout(self.limit, keeper.reach(Stage::Going))
            .await
            .map_err(|_| ServerErrorKind::TooSlow {
                what: self.duty.what(),
                limit: self.limit,
                log: keeper.last_words(),
            })?;
        if stage == Stage::Going {
            return Ok(Ok(keeper));
        }
        let log = keeper.last_words();
        if log.contains("No space left on device") {
            return Ok(Err(Unfit("no space is left there".to_owned())));
        }
        Err(ServerErrorKind::Failed {
            what: self.duty.what(),
            log,
        }
        .into())
    }

    /// Starts a keeper and locks its folder.
    async fn found_in(&self, base: &Path) -> Result<Result<Keeper, Unfit>, ServerError> {
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            let folder = base.join(sweep::folder_name(super::random()));
            let mut keeper = Keeper::start(
                self.duty,
                &folder,
                self.arguments,
                self.account,
                self.environment,
            )
            .map_err(not_started)?;
            let made = tokio::time::timeout(self.limit, keeper.reach(Stage::Made)).await;
            if made != Ok(Stage::Made) {
                let mut why = keeper.last_words();
                if why.is_empty() {
                    why = "its process was killed at once".to_owned();
                }
                return Ok(Err(Unfit(why)));
            }
            match keeper.lock() {
                Ok(true) => return Ok(Ok(keeper)),
                Ok(false) => "another run swept it away".clone_into(&mut why),
                Err(error) => why = error.to_string(),
            }
        }
        Ok(Err(Unfit(why)))
    }
}

/// Whether a base will do, as far as can be seen before it is tried.
fn suits(base: &Path, environment: &Environment) -> Result<(), Unfit> {
    let unfit = |why: &str| Err(Unfit(why.to_owned()));
    let socket = base
        .join(sweep::folder_name(0))
        .join(format!(".s.PGSQL.{PORT}"));
    if socket.as_os_str().len() > SOCKET_PATH_LIMIT {
        return unfit("its path is too long for a Unix socket");
    }
    if !base.is_dir() {
        return unfit("it is no folder");
    }
    if environment.servers.is_none() && base == Path::new("/dev/shm") {
        if !is_memory(base) {
            return unfit("it is not in memory");
        }
        let free = statvfs(base).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
        if free < ROOM_IN_MEMORY {
            return unfit(&format!("only {} MB are free there", free >> 20));
        }
    }
    Ok(())
}

/// Whether a folder's files live in memory.
#[cfg(target_os = "linux")]
fn is_memory(folder: &Path) -> bool {
    // The number of tmpfs, as `statfs(2)` lists it.
    rustix::fs::statfs(folder).is_ok_and(|stat| stat.f_type == 0x0102_1994)
}

/// Whether a folder's files live in memory.
#[cfg(not(target_os = "linux"))]
fn is_memory(_folder: &Path) -> bool {
    false
}
