//! Why a server that somebody else runs cannot be used.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_rustls::rustls::{self, CertificateError};

use super::server::WantedRelease;
use super::url::UrlMistake;
use crate::server::database::explain;
use crate::server::{Address, DatabaseError, Release, TlsError};

/// A server that somebody else runs cannot be used. Reads well after "failed to use …:".
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ExternalError {
    kind: Box<ExternalErrorKind>,
}

/// Why a server that somebody else runs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExternalErrorKind {
    /// The URL, or what the environment adds to it, is wrong.
    #[error(transparent)]
    Url(#[from] UrlMistake),
    /// Encryption cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The password file cannot be used.
    #[error("the password file `{}` cannot be used: {cause}", .path.display())]
    PasswordFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: io::Error,
    },
    /// There is no answer.
    #[error("{address} does not answer within {} s", .limit.as_secs())]
    TooSlow {
        /// Where the server was looked for.
        address: Address,
        /// How long it had.
        limit: Duration,
    },
    /// The server does not let the role in, or there is none.
    #[error("connecting to {address} as `{user}`: {}", explain(.cause))]
    Connect {
        /// Where the server was looked for.
        address: Address,
        /// The role.
        user: String,
        /// What went wrong.
        cause: tokio_postgres::Error,
    },
    /// The release is too old to be supported.
    #[error("the server is PostgreSQL {0}; Lockstep needs 13 or later")]
    TooOld(Release),
    /// Another release was asked for.
    #[error("the server is PostgreSQL {runs}, and {asked} was asked for")]
    OtherRelease {
        /// What `--pg` says.
        asked: WantedRelease,
        /// What runs.
        runs: Release,
    },
    /// Nothing can be written there.
    #[error("the server is a standby, on which no database can be created")]
    Standby,
    /// The role has too few rights.
    #[error("the role `{0}` may not create databases")]
    MayNotCreate(String),
    /// Scenarios would have to run as a role that may do too much.
    #[error(
        "scenarios would run as `{role}`, which may run programs or read files on the server's \
         machine, or let itself do so; no role of their own can be made: {why_not}"
    )]
    TooPowerful {
        /// The role.
        role: String,
        /// Why scenarios have no role of their own.
        why_not: String,
    },
    /// The role that a superuser made for the scenarios is not let in.
    #[error("the server does not let in the role that was made for the scenarios: {0}")]
    ScriptedRefused(String),
    /// A pooler answers in the server's place.
    #[error("what answers is a connection pooler: the backend it names does not serve the session")]
    Pooler,
    /// The server refuses something.
    #[error("{what}: {}", explain(.cause))]
    Refused {
        /// What was to be done.
        what: &'static str,
        /// What the server said.
        cause: tokio_postgres::Error,
    },
    /// A database could not be created or dropped.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A scripted connection broke.
    #[error("the first connection of a scenario's role: {0}")]
    Broken(String),
}

impl<E: Into<ExternalErrorKind>> From<E> for ExternalError {
    fn from(kind: E) -> Self {
        Self {
            kind: Box::new(kind.into()),
        }
    }
}

impl ExternalError {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ExternalErrorKind {
        &self.kind
    }

    /// Whether the command line, or the environment, is to be changed, rather than the server.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        matches!(
            *self.kind,
            ExternalErrorKind::Url(_)
                | ExternalErrorKind::Tls(_)
                | ExternalErrorKind::PasswordFile { .. }
                | ExternalErrorKind::OtherRelease { .. }
        )
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match &*self.kind {
            ExternalErrorKind::Connect { cause, .. } => return help_to_connect(cause),
            ExternalErrorKind::OtherRelease { .. } => {
                "without `--pg` the server's own release counts"
            }
            ExternalErrorKind::MayNotCreate(role) => {
                let role = crate::server::database::identifier(role);
                return Some(format!(
                    "a superuser can grant it: ALTER ROLE {role} CREATEDB; (and CREATEROLE, so that \
                     scenarios run as a role of their own)"
                ));
            }
            ExternalErrorKind::ScriptedRefused(_) | ExternalErrorKind::TooPowerful { .. } => {
                "scenarios must not run as a role that may do everything: let roles named lockstep_… log in with a \
                 password in pg_hba.conf, or connect as a role that has CREATEDB and little else"
            }
            ExternalErrorKind::Pooler => "give the address of the server itself",
            ExternalErrorKind::TooSlow { .. } => {
                "check host and port; `connect_timeout=SECONDS` in the URL gives it more time"
            }
            ExternalErrorKind::Tls(TlsError::NoAuthorities(_)) => {
                "name the authority's certificate: `sslrootcert=FILE` in the URL"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }
}

fn help_to_connect(cause: &tokio_postgres::Error) -> Option<String> {
    let help = match cause.code() {
        Some(&SqlState::INVALID_PASSWORD) => {
            "the password is taken from the URL, else from PGPASSWORD, else from ~/.pgpass or the \
             file that PGPASSFILE names"
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            "name a database that exists at the end of the URL; Lockstep makes its own from there"
        }
        Some(_) => return None,
        None => return help_to_encrypt(cause),
    };
    Some(help.to_owned())
}

fn help_to_encrypt(cause: &tokio_postgres::Error) -> Option<String> {
    // The driver has no kinds for these.
    let said = explain(cause);
    if said.ends_with("server does not support TLS") {
        return Some(
            "`sslmode=disable` in the URL goes on without encryption; everything can be read on \
             the way then"
                .to_owned(),
        );
    }
    if said.ends_with("password missing") {
        return Some("set PGPASSWORD, or write the password into ~/.pgpass".to_owned());
    }
    let rustls = cause
        .source()?
        .downcast_ref::<io::Error>()?
        .get_ref()?
        .downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(why) = rustls else {
        return None;
    };
    Some(match why {
        CertificateError::UnknownIssuer => {
            "the certificate's authority is not trusted; `sslrootcert=FILE` in the URL names the \
             authority's certificate"
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another host (only its subjectAltName counts); name the host as \
             it does, or ask for less with `sslmode=verify-ca`"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server needs a new certificate".to_owned()
        }
        CertificateError::Other(_) => {
            "a certificate that signs itself cannot be verified; have it signed by an authority of \
             your own, or give up verification with `sslmode=require`"
                .to_owned()
        }
        _ => return None,
    })
}
