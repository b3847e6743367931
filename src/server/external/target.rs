//! From a URL, the environment and the defaults to one server and one role.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::environment::Environment;
use super::error::{ExternalError, ExternalErrorKind};
use super::password_file::{Wanted, look_up};
use super::url::{ConnectionUrl, UrlMistake, UrlParts};
use crate::server::{Address, Endpoint, Tls, TlsFiles, Verification};

const DEFAULT_PORT: &str = "5432";
const DEFAULT_DATABASE: &str = "postgres";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server as the user means it.
#[derive(Debug)]
pub(super) struct Target {
    pub endpoint: Endpoint,
    /// How long connecting may take.
    pub timeout: Duration,
}

/// What `sslmode` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SslMode {
    Disable,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Target {
    /// What a URL says goes first, then the environment, then the defaults.
    pub(super) fn resolve(
        url: &ConnectionUrl,
        environment: &Environment,
    ) -> Result<Self, ExternalError> {
        let parts = url.parts()?;
        let host = or(&parts.host, &environment.host).ok_or_else(|| {
            wrong("it names no host, nor does PGHOST; a Unix socket is `?host=/run/postgresql`")
        })?;
        let port_text =
            or(&parts.port, &environment.port).unwrap_or_else(|| DEFAULT_PORT.to_owned());
        let port: u16 = port_text
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| wrong("the port is a number from 1 to 65535"))?;
        let user = or(&parts.user, &environment.user)
            .ok_or_else(|| wrong("it names no user, nor does PGUSER: `postgresql://USER@HOST/`"))?;
        let database = or(&parts.database, &environment.database)
            .unwrap_or_else(|| DEFAULT_DATABASE.to_owned());
        let timeout = timeout(&parts, environment)?;

        let password = match or(&parts.password, &environment.password) {
            Some(password) => password,
            None => from_file(
                environment,
                &Wanted {
                    host: &host,
                    port: &port_text,
                    database: &database,
                    user: &user,
                },
            )?,
        };
        let is_socket = host.starts_with('/');
        let tls = if is_socket {
            Tls::off()
        } else {
            tls(&parts, environment, &host)?
        };
        let address = if is_socket {
            Address::Unix {
                directory: PathBuf::from(host),
                port,
            }
        } else {
            Address::Tcp { host, port }
        };
        let mut endpoint = Endpoint::new(address, &user, password);
        endpoint.tls = tls;
        endpoint.database = database;
        Ok(Self { endpoint, timeout })
    }
}

fn or(said: &Option<String>, default: &Option<String>) -> Option<String> {
    said.as_ref().or(default.as_ref()).cloned()
}

fn wrong(what: &str) -> ExternalError {
    UrlMistake(what.to_owned()).into()
}

fn timeout(parts: &UrlParts, environment: &Environment) -> Result<Duration, ExternalError> {
    let Some(text) = or(&parts.connect_timeout, &environment.connect_timeout) else {
        return Ok(DEFAULT_TIMEOUT);
    };
    text.parse()
        .ok()
        .filter(|seconds| (1..=3600).contains(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| wrong("`connect_timeout` is a number of seconds from 1 to 3600"))
}

fn from_file(environment: &Environment, wanted: &Wanted<'_>) -> Result<String, ExternalError> {
    let Some(path) = &environment.password_file else {
        return Ok(String::new());
    };
    match look_up(path, wanted) {
        Ok(password) => Ok(password.unwrap_or_default()),
        Err(cause) => Err(ExternalErrorKind::PasswordFile {
            path: path.clone(),
            cause,
        }
        .into()),
    }
}

fn tls(parts: &UrlParts, environment: &Environment, host: &str) -> Result<Tls, ExternalError> {
    let mode = match or(&parts.ssl_mode, &environment.ssl_mode).as_deref() {
        None if is_loopback(host) => SslMode::Disable,
        None | Some("verify-full") => SslMode::VerifyFull,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("require") => SslMode::Require,
        Some("disable") => SslMode::Disable,
        Some("allow" | "prefer") => {
            return Err(wrong(
                "`sslmode` allow and prefer leave it to whoever is on the way whether anything is \
                 encrypted; write disable, require, verify-ca or verify-full",
            ));
        }
        Some(_) => {
            return Err(wrong(
                "`sslmode` is disable, require, verify-ca or verify-full",
            ));
        }
    };
    let authorities = or(&parts.ssl_root_cert, &environment.ssl_root_cert);
    let own = (
        or(&parts.ssl_cert, &environment.ssl_cert),
        or(&parts.ssl_key, &environment.ssl_key),
    );
    let files = TlsFiles {
        authorities: authorities
            .as_ref()
            .filter(|named| *named != "system")
            .map(PathBuf::from),
        own: match own {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => return Err(wrong("`sslcert` and `sslkey` go together")),
        },
    };
    let verification = match mode {
        SslMode::Disable => return Ok(Tls::off()),
        // Who names an authority wants it asked.
        SslMode::Require if authorities.is_none() => Verification::Nothing,
        SslMode::Require | SslMode::VerifyCa => Verification::Authority,
        SslMode::VerifyFull => Verification::Full,
    };
    Ok(Tls::required(verification, &files)?)
}

/// Whether what is sent to a host cannot leave the machine.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(url: &str, environment: &Environment) -> Result<Target, String> {
        let url = ConnectionUrl::from_text(url).expect("a URL");
        Target::resolve(&url, environment).map_err(|error| error.to_string())
    }

    #[test]
    fn the_environment_fills_what_the_url_leaves_out() {
        let environment = Environment {
            host: Some("elsewhere".to_owned()),
            port: Some("6000".to_owned()),
            user: Some("eva".to_owned()),
            password: Some("secret".to_owned()),
            database: Some("work".to_owned()),
            ssl_mode: Some("disable".to_owned()),
            ..Environment::default()
        };
        let told = resolve("postgresql://anna@db:1/x", &environment).unwrap();
        assert_eq!(told.endpoint.user, "anna");
        assert_eq!(told.endpoint.password, "secret");
        assert_eq!(told.endpoint.database, "x");
        assert_eq!(told.endpoint.address.to_string(), "db:1");
        let left_out = resolve("postgresql://", &environment).unwrap();
        assert_eq!(left_out.endpoint.address.to_string(), "elsewhere:6000");
        assert_eq!(left_out.endpoint.user, "eva");
        assert_eq!(left_out.endpoint.database, "work");
        assert!(!format!("{environment:?} {told:?}").contains("secret"));
    }

    #[test]
    fn only_what_stays_on_the_machine_goes_without_encryption_unasked() {
        let none = Environment::default();
        for (url, encrypted) in [
            ("postgres://u@localhost", false),
            ("postgres://u@127.0.0.2", false),
            ("postgres://u@[::1]", false),
            ("postgres://u@/?host=/run/postgresql", false),
            (
                "postgres://u@/?host=/run/postgresql&sslmode=verify-full",
                false,
            ),
            ("postgres://u@10.0.0.1?sslmode=disable", false),
            ("postgres://u@10.0.0.1?sslmode=require", true),
            ("postgres://u@localhost?sslmode=require", true),
        ] {
            let target = resolve(url, &none).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(target.endpoint.tls.is_on(), encrypted, "{url}");
        }
        for (url, said) in [
            ("postgres://u@h?sslmode=prefer", "whoever is on the way"),
            ("postgres://u@h?sslmode=yes", "verify-full"),
            ("postgres://u@h?sslmode=require&sslcert=/x", "go together"),
            ("postgres://u@h?sslrootcert=/no/such", "cannot be read"),
            ("postgres://h", "no user"),
            ("postgres://u@", "no host"),
            ("postgres://u@h:0", "1 to 65535"),
        ] {
            let error = resolve(url, &none).expect_err(url);
            assert!(error.contains(said), "{url}: {error}");
        }
    }
}
