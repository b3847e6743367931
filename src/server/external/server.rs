//! Using a server for one run.

use std::fmt;
use std::str::FromStr;

use tokio_postgres::Client;

use super::environment::Environment;
use super::error::{ExternalError, ExternalErrorKind};
use super::rights::{Rights, drop_role, make_role, refused};
use super::sweep;
use super::target::Target;
use super::url::ConnectionUrl;
use crate::server::{CaseDatabase, Databases, Endpoint, Release, settings};
use crate::transcript::Answer;
use crate::wire::{self, Incoming, Startup};

/// A server that somebody else runs, in use for one run.
///
/// [`Server::stop`] removes what the run has made there. Dropping it does not: the next run on the
/// server does then.
#[derive(Debug)]
pub struct Server {
    release: Release,
    endpoint: Endpoint,
    scripted: Endpoint,
    control: Client,
    notes: Vec<String>,
}

/// The release that somebody asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedRelease {
    /// Any of a major version.
    Major(u32),
    /// One exact version.
    Exact(Release),
}

impl WantedRelease {
    fn includes(self, release: Release) -> bool {
        match self {
            Self::Major(major) => release.major == major,
            Self::Exact(exact) => release == exact,
        }
    }
}

impl FromStr for WantedRelease {
    type Err = crate::server::ParseReleaseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(major) => Ok(Self::Major(major)),
            Err(_) => text.parse().map(Self::Exact),
        }
    }
}

impl fmt::Display for WantedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Major(major) => major.fmt(f),
            Self::Exact(release) => release.fmt(f),
        }
    }
}

/// Connects to a server that somebody else runs, clears away what dead runs have left there, and
/// makes a role for the scenarios where that is possible.
///
/// # Errors
///
/// Each [`ExternalErrorKind`] is one; [`ExternalError::help`] says what to do about it.
pub async fn start(
    url: &ConnectionUrl,
    asked: Option<WantedRelease>,
    environment: &Environment,
) -> Result<Server, ExternalError> {
    let Target { endpoint, timeout } = Target::resolve(url, environment)?;
    let connected = tokio::time::timeout(timeout, endpoint.connect(&endpoint.database)).await;
    let control = match connected {
        Ok(Ok(client)) => client,
        Ok(Err(cause)) => {
            return Err(ExternalErrorKind::Connect {
                address: endpoint.address,
                user: endpoint.user,
                cause,
            }
            .into());
        }
        Err(_) => {
            return Err(ExternalErrorKind::TooSlow {
                address: endpoint.address,
                limit: timeout,
            }
            .into());
        }
    };
    let (release, number) = release(&control).await?;
    if let Some(asked) = asked
        && !asked.includes(release)
    {
        return Err(ExternalErrorKind::OtherRelease {
            asked,
            runs: release,
        }
        .into());
    }
    let rights = Rights::of(&control).await?;
    if !rights.create_databases {
        return Err(ExternalErrorKind::MayNotCreate(endpoint.user).into());
    }
    let mut notes = Vec::new();
    sweep::announce(&control, endpoint.run)
        .await
        .map_err(refused("announcing the run"))?;
    let swept = sweep::sweep(&control, &endpoint)
        .await
        .map_err(refused("looking for what dead runs have left"))?;
    if swept > 0 {
        notes.push(format!(
            "removed what dead runs had left: {swept} databases"
        ));
    }
    let differing = settings::differing(&control)
        .await
        .map_err(refused("asking for settings"))?;
    if !differing.is_empty() {
        notes.push(format!(
            "the server's settings differ, and cannot be changed from here: {}",
            differing.join(", ")
        ));
    }
    let scripted = scripted(&control, &endpoint, rights, number, &mut notes).await?;
    Ok(Server {
        release,
        endpoint,
        scripted,
        control,
        notes,
    })
}

/// The server's release, also as the number it gives itself.
async fn release(control: &Client) -> Result<(Release, i32), ExternalError> {
    let row = control
        .query_one(
            "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery()",
            &[],
        )
        .await
        .map_err(refused("asking for the release"))?;
    let number: i32 = row.get(0);
    let of = |part: i32| u32::try_from(part).unwrap_or(0);
    let release = Release {
        major: of(number / 10_000),
        minor: of(number % 10_000),
    };
    if release.major < 13 {
        return Err(ExternalErrorKind::TooOld(release).into());
    }
    if row.get(1) {
        return Err(ExternalErrorKind::Standby.into());
    }
    Ok((release, number))
}

/// The role for the scenarios, which has been seen to work: one of the run's own if possible, else
/// Lockstep's own, unless that is a superuser.
async fn scripted(
    control: &Client,
    endpoint: &Endpoint,
    rights: Rights,
    number: i32,
    notes: &mut Vec<String>,
) -> Result<Endpoint, ExternalError> {
    let mut why_not = "it may not create roles".to_owned();
    if rights.create_roles {
        let made = match make_role(control, endpoint, rights, number).await {
            Ok(made) => try_out(endpoint, &made).await.map(|()| made),
            Err(error) => Err(error),
        };
        match made {
            Ok(made) => return Ok(made),
            Err(error) => {
                drop_role(control, endpoint.run).await.ok();
                let is_about_role = matches!(
                    error.kind(),
                    ExternalErrorKind::ScriptedRefused(_)
                        | ExternalErrorKind::Refused { .. }
                        | ExternalErrorKind::Database(_)
                );
                if rights.superuser || !is_about_role {
                    return Err(error);
                }
                why_not = error.to_string();
            }
        }
    }
    if Rights::reach_the_machine(control).await? {
        return Err(ExternalErrorKind::TooPowerful {
            role: endpoint.user.clone(),
            why_not,
        }
        .into());
    }
    try_out(endpoint, endpoint).await?;
    notes.push(format!(
        "scenarios run as `{}` itself, for which no role of their own can be made: {why_not}",
        endpoint.user
    ));
    let own_settings = control
        .query_one(
            "SELECT array_to_string(rolconfig, ', ') FROM pg_roles WHERE rolname = current_user",
            &[],
        )
        .await
        .map_err(refused("asking for the role's settings"))?;
    if let Some(settings) = own_settings.get::<_, Option<String>>(0) {
        notes.push(format!("the role's own settings hold: {settings}"));
    }
    Ok(endpoint.clone())
}

/// Makes a database and logs in as a scenario does, to see whether that is possible, and who
/// answers.
async fn try_out(endpoint: &Endpoint, scripted: &Endpoint) -> Result<(), ExternalError> {
    let databases = Databases::connect(endpoint, &scripted.user).await?;
    let database = databases.create().await?;
    let logged_in = log_in(scripted, &database).await;
    let removed = databases.remove(&database).await;
    logged_in?;
    Ok(removed?)
}

async fn log_in(scripted: &Endpoint, database: &CaseDatabase) -> Result<(), ExternalError> {
    let startup = Startup {
        user: scripted.user.clone(),
        password: scripted.password.clone(),
        database: database.name.clone(),
        application_name: "lockstep".to_owned(),
        options: Vec::new(),
    };
    let (mut sender, mut receiver) =
        wire::connect_with_tls(&scripted.address, &scripted.tls, &startup)
            .await
            .map_err(|error| ExternalErrorKind::ScriptedRefused(error.kind.to_string()))?;
    let broken = |error: &dyn fmt::Display| ExternalErrorKind::Broken(error.to_string());
    sender
        .query("SELECT pg_backend_pid();")
        .await
        .map_err(|error| broken(&error))?;
    let named = sender.pid().to_string();
    let mut serving = None;
    loop {
        match receiver.next().await {
            Some(Incoming::Answer(Answer::Rows(rows))) => {
                serving = rows.rows.into_iter().flatten().next().flatten();
            }
            Some(Incoming::Answer(_)) => {}
            Some(Incoming::Ready(_)) => break,
            Some(Incoming::Closed(closing)) => return Err(broken(&closing).into()),
            None => break,
        }
    }
    if serving.is_none_or(|serving| serving != named) {
        return Err(ExternalErrorKind::Pooler.into());
    }
    Ok(())
}

impl Server {
    /// The release that runs.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The role of the URL, which Lockstep itself uses.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The role of everything a scenario brings. It is no superuser.
    #[must_use]
    pub fn scripted_endpoint(&self) -> &Endpoint {
        &self.scripted
    }

    /// What is worth knowing about this server before the results.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Why the server can be used no more; `None` while it can.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.control
            .is_closed()
            .then(|| format!("the connection to {} is lost", self.endpoint.address))
    }

    /// Removes what the run has made.
    ///
    /// # Errors
    ///
    /// What could not be removed, and why. The next run on the server tries again.
    pub async fn stop(self) -> Result<(), String> {
        sweep::drop_own(&self.control, &self.endpoint).await?;
        if self.scripted.user == self.endpoint.user {
            return Ok(());
        }
        drop_role(&self.control, self.endpoint.run)
            .await
            .map_err(|error| crate::server::database::explain(&error))
    }
}
