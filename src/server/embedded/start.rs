//! Starting and stopping a server.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::NoTls;

use super::account::Account;
use super::cache::{cache_folder, check_owner, check_reach};
use super::environment::Environment;
use super::error::{ServerError, ServerErrorKind};
use super::folder::{self, Order, PORT};
use super::keeper::{Duty, Keeper};
use super::programs::Programs;
use super::progress::Reporter;
use super::{programs, random, secret, sweep, template};
use crate::scenario::Shutdown;
use crate::server::database::explain;
use crate::server::roles::{self, SCRIPTED, SUPERUSER};
use crate::server::{Address, Endpoint, Pin, Release};

/// How long a start may take once the programs and the template are there; it takes a tenth of a
/// second.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server, all of whose processes and files end with it.
///
/// Dropping it ends it too, and blocks for the few hundredths of a second which that takes;
/// prefer [`Server::stop`]. When Lockstep dies without doing either, even of SIGKILL, the server
/// notices at once and ends.
#[derive(Debug)]
pub struct Server {
    release: Release,
    /// The folder of its programs.
    programs: PathBuf,
    environment: Environment,
    endpoint: Endpoint,
    scripted: Endpoint,
    keeper: Keeper,
    /// Keeps its programs from being removed; behind the keeper, which ends first.
    _programs: Option<File>,
}

/// Fetches a pinned release into the cache, unless it is there or installed on the machine, and
/// gives the folder of its programs.
///
/// # Errors
///
/// The release can be neither found nor fetched.
pub async fn fetch(
    pin: &Pin,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<PathBuf, ServerError> {
    let programs = programs::obtain(pin, &cache_folder(environment), environment, report).await?;
    Ok(programs.folder)
}

/// Makes all that a start of a pinned release takes, so that it needs neither a network nor a cache
/// that can be written, and gives the folder of the programs.
///
/// # Errors
///
/// The release can be neither found nor fetched, or does not run here.
pub async fn prepare(
    pin: &Pin,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<PathBuf, ServerError> {
    let cache = cache_folder(environment);
    check_reach(&cache)?;
    let programs = programs::obtain(pin, &cache, environment, report).await?;
    check_reach(&programs.folder)?;
    template::obtain(pin.release, &programs.folder, &cache, environment, report).await?;
    Ok(programs.folder)
}

/// Whether a server of a pinned release can be had without fetching anything.
pub async fn is_at_hand(pin: &Pin, environment: &Environment) -> bool {
    programs::find(pin, &cache_folder(environment), environment)
        .await
        .is_some()
}

/// Starts a server of a pinned release, for one run.
///
/// What the machine does not have yet is fetched and made, and `report` is told. What dead runs
/// left behind is cleared away.
///
/// # Examples
///
/// ```no_run
/// use lockstep::server::embedded::{self, Environment};
/// use lockstep::server::{Databases, Pins, Reach};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = Environment {
///     cache: Some("/var/cache/lockstep".into()),
///     xdg_cache_home: None,
///     home: None,
///     path: "/usr/local/bin:/usr/bin:/bin".into(),
///     temp: "/tmp".into(),
///     servers: None,
/// };
/// let pin = Pins::built_in().major(18).ok_or("not pinned")?;
/// let server = embedded::start(pin, &environment, &|progress| eprintln!("-- {progress} …")).await?;
///
/// let (superuser, scripted) = (server.endpoint(), server.scripted_endpoint());
/// let databases = Databases::connect(superuser, scripted, Reach::Database).await?;
/// let database = databases.create().await?;
/// // Sessions connect to `database.name` as `database.role`.
/// databases.remove(&database).await?;
/// server.stop().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Each [`ServerErrorKind`] is one; [`ServerError::help`] says what to do about it.
pub async fn start(
    pin: &Pin,
    environment: &Environment,
    report: Reporter<'_>,
) -> Result<Server, ServerError> {
    swept(environment, async {
        let cache = cache_folder(environment);
        check_reach(&cache)?;
        let programs = programs::obtain(pin, &cache, environment, report).await?;
        start_server(pin.release, programs, &cache, environment, &[], report).await
    })
    .await
}

/// Starts a server of programs that are somewhere on the machine, for one run, as [`start`] does.
/// `programs` is the folder with `postgres` and `initdb`, which are release `release`. It may have
/// settings that other servers do not have: they go before those of databases and roles only, as if
/// they stood in the configuration file. A server that does not take one says so in its log, which
/// [`ServerErrorKind::Failed`] holds.
///
/// # Errors
///
/// Each [`ServerErrorKind`] is one; [`ServerError::help`] says what to do about it.
pub async fn start_installed(
    release: Release,
    programs: &Path,
    environment: &Environment,
    settings: &[(String, String)],
    report: Reporter<'_>,
) -> Result<Server, ServerError> {
    swept(environment, async {
        let cache = cache_folder(environment);
        check_reach(&cache)?;
        check_owner(&cache)?;
        let programs = Programs::installed(programs.to_owned());
        start_server(release, programs, &cache, environment, settings, report).await
    })
    .await
}

/// Clears away what dead runs left behind, while something starts.
async fn swept<T>(environment: &Environment, starting: impl Future<Output = T>) -> T {
    let bases = folder::bases(environment);
    let sweeping = tokio::task::spawn_blocking(move || {
        for base in bases {
            sweep::sweep(&base);
        }
    });
    let started = starting.await;
    // A sweep that fails leaves rubbish, which is no reason to have no server.
    let _ = sweeping.await;
    started
}

async fn start_server(
    release: Release,
    programs: Programs,
    cache: &Path,
    environment: &Environment,
    settings: &[(String, String)],
    report: Reporter<'_>,
) -> Result<Server, ServerError> {
    check_reach(&programs.folder)?;
    let template = template::obtain(release, &programs.folder, cache, environment, report).await?;

    let (superuser, scripted) = (secret(), secret());
    let mut arguments = vec![
        programs.folder.clone().into_os_string(),
        template.cluster.clone().into_os_string(),
    ];
    for (name, value) in settings {
        arguments.extend(["-c".into(), format!("{name}={value}").into()]);
    }
    let keeper = keep(&arguments, environment).await?;
    // It has been copied.
    drop(template);
    wait_until_ready(&keeper, Duty::Serve.what()).await?;

    let address = Address::Unix {
        directory: keeper.folder().to_owned(),
        port: PORT,
    };
    let endpoint = |user: &str, password| Endpoint::new(address.clone(), user, password);
    let initial = endpoint(SUPERUSER, template::PASSWORD.to_owned());
    tokio::time::timeout(LIMIT, set_passwords(&initial, &superuser, &scripted))
        .await
        .map_err(|_| ServerErrorKind::Refused("it does not answer".to_owned()))?
        .map_err(|error| ServerErrorKind::Refused(explain(&error)))?;
    Ok(Server {
        release,
        programs: programs.folder.clone(),
        environment: environment.clone(),
        endpoint: endpoint(SUPERUSER, superuser),
        scripted: endpoint(SCRIPTED, scripted),
        keeper,
        _programs: programs.into_hold(),
    })
}

/// Starts the keeper under the right account.
async fn keep(arguments: &[OsString], environment: &Environment) -> Result<Keeper, ServerError> {
    let order = |account| Order {
        duty: Duty::Serve,
        arguments,
        account,
        line: "",
        environment,
        limit: LIMIT,
    };
    let caller = Account::caller();
    if !caller.is_root() {
        return order(caller).place().await;
    }
    match order(Account::of_its_own(random())).place().await {
        // A container may have been given too few numbers for that; it has nobody's.
        Err(error) if matches!(error.kind(), ServerErrorKind::Keeper { .. }) => {
            order(Account::nobody()).place().await
        }
        other => other,
    }
}

/// Gives the server the passwords of this run.
///
/// Up to here the superuser has the template's password, which is no secret; that nobody else can
/// use it before is because nobody else can enter the folder of the socket.
async fn set_passwords(
    initial: &Endpoint,
    superuser: &str,
    scripted: &str,
) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = initial.config("postgres").connect(NoTls).await?;
    let connection = tokio::spawn(connection);
    roles::set_passwords(&client, "", superuser, scripted).await?;
    drop(client);
    match connection.await {
        Ok(ended) => ended,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Waits until the postmaster has written that it accepts connections.
///
/// Its file is read instead of trying to connect: an attempt that comes too early costs the server
/// a process. The file gives no signal, so it is looked at again after 1 ms, later less often.
async fn wait_until_ready(keeper: &Keeper, what: &'static str) -> Result<(), ServerError> {
    let file = keeper.folder().join("data").join("postmaster.pid");
    let looking = async {
        let mut pause = Duration::from_millis(1);
        loop {
            let ready = std::fs::read_to_string(&file).is_ok_and(|text| {
                text.lines()
                    .nth(7)
                    .is_some_and(|line| line.trim() == "ready")
            });
            if ready {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(Duration::from_millis(20));
        }
    };
    tokio::select! {
        () = looking => Ok(()),
        () = keeper.over() => Err(failed(what, keeper)),
        () = tokio::time::sleep(LIMIT) => Err(too_slow(what, keeper)),
    }
}

fn failed(what: &'static str, keeper: &Keeper) -> ServerError {
    let log = keeper.last_words();
    ServerErrorKind::Failed { what, log }.into()
}

fn too_slow(what: &'static str, keeper: &Keeper) -> ServerError {
    let (limit, log) = (LIMIT, keeper.last_words());
    ServerErrorKind::TooSlow { what, limit, log }.into()
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The folder of its programs.
    pub(in crate::server) fn programs(&self) -> &Path {
        &self.programs
    }

    /// The machine it was started on.
    pub(in crate::server) const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The superuser that Lockstep itself uses. Nothing that a scenario brings may run as it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The role of everything a scenario brings: it is no superuser, can neither run programs nor
    /// read files, and may read the monitoring views.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        &self.scripted
    }

    /// Why the server has ended by itself, with the end of its log; `None` while it runs.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.keeper.stage().is_over().then(|| self.failure())
    }

    /// Waits until the server has ended by itself, and says why. To be raced against a replay.
    pub async fn wait_for_failure(&self) -> String {
        self.keeper.over().await;
        self.failure()
    }

    /// The end of the server's log.
    #[must_use]
    pub fn last_words(&self) -> String {
        self.keeper.last_words()
    }

    /// Shuts the server down and starts it again, with the same settings, on the same data and in
    /// the same folder. Returns when it takes connections again, after recovery if it needs any.
    /// The keeper does it, so that nothing is left behind whenever Lockstep dies.
    ///
    /// # Errors
    ///
    /// The server does not shut down, or not start again; the error holds its last words.
    pub async fn restart(&mut self, how: Shutdown) -> Result<(), ServerError> {
        const WHAT: &str = "restarting the server";
        match tokio::time::timeout(LIMIT, self.keeper.restart(how)).await {
            Ok(true) => wait_until_ready(&self.keeper, WHAT).await,
            Ok(false) => Err(failed(WHAT, &self.keeper)),
            Err(_) => Err(too_slow(WHAT, &self.keeper)),
        }
    }

    /// Ends the server and removes its files.
    pub async fn stop(self) {
        blocking(move || drop(self)).await;
    }

    fn failure(&self) -> String {
        let log = self.keeper.last_words();
        format!("the server ended by itself; its log ends:\n{log}")
    }
}

/// Runs what blocks beside the asynchronous tasks.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
