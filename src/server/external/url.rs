//! Connection URLs, as `psql` takes them.

use std::fmt;

/// A connection URL. It may hold a password, so it shows only its beginning.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionUrl(String);

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

impl ConnectionUrl {
    /// Takes a text that begins as a connection URL does. What is wrong with the rest shows when
    /// it is used: so no message about it repeats the password.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        SCHEMES
            .iter()
            .any(|scheme| text.starts_with(scheme))
            .then(|| Self(text.to_owned()))
    }

    /// Takes it apart.
    pub(super) fn parts(&self) -> Result<UrlParts, UrlMistake> {
        UrlParts::of(&self.0)
    }
}

impl fmt::Display for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.0))
    }
}

impl fmt::Debug for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionUrl({self})")
    }
}

/// A text without what may be secret in the URLs in it: who logs in, and any `password=`. Where a
/// URL names no host after a `@`, all of it is left out. Rather too much than too little goes.
#[must_use]
pub fn redact(text: &str) -> String {
    text.split_inclusive('\n').map(redact_line).collect()
}

fn redact_line(line: &str) -> String {
    let Some(begin) = line.find("://").map(|at| at + 3) else {
        return line.to_owned();
    };
    let (scheme, rest) = line.split_at(begin);
    let rest = rest.rfind('@').map_or_else(
        || {
            let end = rest
                .find(|c: char| c.is_whitespace() || "'\"`".contains(c))
                .unwrap_or(rest.len());
            let after = &rest[end..];
            // Without a login, all that can be secret is among the parameters, or a password is
            // where a port should be.
            let harmless = rest[..end]
                .split_once('?')
                .map_or(&rest[..end], |(before, _)| before);
            if harmless.contains(':') {
                format!("…{after}")
            } else {
                format!("{harmless}{after}")
            }
        },
        |at| format!("…{}", &rest[at..]),
    );
    let rest = match rest.find("password=") {
        Some(at) => {
            let value = at + "password=".len();
            let end = rest[value..]
                .find(|c: char| c.is_whitespace() || "'\"`&".contains(c))
                .map_or(rest.len(), |end| value + end);
            format!("{}…{}", &rest[..value], &rest[end..])
        }
        None => rest,
    };
    format!("{scheme}{rest}")
}

/// What is wrong with a connection URL. Nothing of the URL is repeated but the names of known
/// parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the connection URL is wrong: {0}")]
pub struct UrlMistake(pub(super) String);

fn mistake<T>(what: &str) -> Result<T, UrlMistake> {
    Err(UrlMistake(what.to_owned()))
}

/// What a connection URL says; `None` is left to the environment and the defaults.
#[derive(Default, PartialEq, Eq)]
pub(super) struct UrlParts {
    pub host: Option<String>,
    pub port: Option<String>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: Option<String>,
    pub ssl_mode: Option<String>,
    pub ssl_root_cert: Option<String>,
    pub ssl_cert: Option<String>,
    pub ssl_key: Option<String>,
    pub connect_timeout: Option<String>,
}

impl UrlParts {
    fn of(url: &str) -> Result<Self, UrlMistake> {
        let rest = SCHEMES
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| UrlMistake("it begins with `postgresql://`".to_owned()))?;
        let mut parts = Self::default();
        let (place, parameters) = match rest.split_once('?') {
            Some((place, parameters)) => (place, parameters),
            None => (rest, ""),
        };
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        if database.contains(['@', '/']) || parameters.contains('@') {
            return mistake(
                "a `/`, `?`, `@` or `:` in a name or a password is written in percent code, such \
                 as %2F for `/`",
            );
        }
        let host = match authority.rsplit_once('@') {
            Some((login, host)) => {
                let (user, password) = match login.split_once(':') {
                    Some((user, password)) => (user, Some(password)),
                    None => (login, None),
                };
                parts.user = filled(user)?;
                parts.password = password.map(filled).transpose()?.flatten();
                host
            }
            None => authority,
        };
        parts.place(host)?;
        parts.database = filled(database)?;
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            parts.parameter(parameter)?;
        }
        Ok(parts)
    }

    fn place(&mut self, text: &str) -> Result<(), UrlMistake> {
        if text.contains(',') {
            return mistake("it names several hosts; name the one to replay on");
        }
        let (host, port) = if let Some(bracketed) = text.strip_prefix('[') {
            let Some((host, after)) = bracketed.split_once(']') else {
                return mistake("the `[` before the IPv6 address has no `]`");
            };
            match after.strip_prefix(':') {
                Some(port) => (host, port),
                None if after.is_empty() => (host, ""),
                None => return mistake("after the IPv6 address comes `:` and the port"),
            }
        } else {
            text.split_once(':').unwrap_or((text, ""))
        };
        self.host = filled(host)?;
        self.port = filled(port)?;
        Ok(())
    }

    fn parameter(&mut self, text: &str) -> Result<(), UrlMistake> {
        let Some((name, value)) = text.split_once('=') else {
            return mistake("a parameter after the `?` has no `=`");
        };
        let place = match name {
            "host" => &mut self.host,
            "port" => &mut self.port,
            "user" => &mut self.user,
            "password" => &mut self.password,
            "dbname" => &mut self.database,
            "sslmode" => &mut self.ssl_mode,
            "sslrootcert" => &mut self.ssl_root_cert,
            "sslcert" => &mut self.ssl_cert,
            "sslkey" => &mut self.ssl_key,
            "connect_timeout" => &mut self.connect_timeout,
            // Lockstep's connections have names of their own.
            "application_name" | "fallback_application_name" => return Ok(()),
            _ if name.len() < 32 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
                return mistake(&format!("the parameter `{name}` is not supported"));
            }
            _ => return mistake("a parameter after the `?` has a name that is none"),
        };
        if let Some(value) = filled(value)? {
            *place = Some(value);
        }
        Ok(())
    }
}

/// A value without its percent codes; `None` when it is empty.
fn filled(text: &str) -> Result<Option<String>, UrlMistake> {
    let wrong = || {
        UrlMistake("a `%` is followed by two hexadecimal digits, and stands for UTF-8".to_owned())
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = after.split_at_checked(2).ok_or_else(wrong)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(wrong);
        let value = digit(digits[0])? * 16 + digit(digits[1])?;
        bytes.push(u8::try_from(value).map_err(|_| wrong())?);
        rest = after;
    }
    if bytes.contains(&0) {
        return mistake("a name or a value holds a NUL byte");
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<UrlParts, String> {
        ConnectionUrl::from_text(text)
            .expect("a URL")
            .parts()
            .map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn takes_a_url_apart() {
        let all = parts(
            "postgres://an%40na:s%3Acret@db.example:5433/my%20db?sslmode=require&connect_timeout=3\
             &application_name=x",
        )
        .unwrap();
        assert_eq!(all.user.as_deref(), Some("an@na"));
        assert_eq!(all.password.as_deref(), Some("s:cret"));
        assert_eq!(all.host.as_deref(), Some("db.example"));
        assert_eq!(all.port.as_deref(), Some("5433"));
        assert_eq!(all.database.as_deref(), Some("my db"));
        assert_eq!(all.ssl_mode.as_deref(), Some("require"));
        assert_eq!(all.connect_timeout.as_deref(), Some("3"));

        let six = parts("postgresql://[::1]:5433").unwrap();
        assert_eq!(six.host.as_deref(), Some("::1"));
        assert_eq!(six.port.as_deref(), Some("5433"));
        for socket in [
            "postgresql:///db?host=/run/postgresql",
            "postgresql://%2Frun%2Fpostgresql/db",
        ] {
            let socket = parts(socket).unwrap();
            assert_eq!(socket.host.as_deref(), Some("/run/postgresql"));
            assert_eq!(socket.database.as_deref(), Some("db"));
        }
        assert!(parts("postgresql://").unwrap() == UrlParts::default());
    }

    #[test]
    fn no_mistake_repeats_the_password() {
        for wrong in [
            "postgres://u:hunter2/x@h/db",
            "postgres://u:hunter2?@h/db",
            "postgres://u:hunter2%@h/db",
            "postgres://u:hunter2%zz@h/db",
            "postgres://u:hunter2@h,h2/db",
            "postgres://u:hunter2@[::1/db",
            "postgres://u@h/db?password=hunter2&what=1",
            "postgres://u@h/db?hunter2",
            "postgres://u@h/db?Hunter2=1",
        ] {
            let said = parts(wrong).err().expect(wrong);
            assert!(!said.to_lowercase().contains("hunter2"), "{said}");
        }
    }

    #[test]
    fn what_may_be_secret_is_not_shown() {
        for (text, shown) in [
            ("postgres://u:hunter2@h/db", "postgres://…@h/db"),
            ("x 'postgrs://u:hun ter2@h/db' y", "x 'postgrs://…@h/db' y"),
            ("postgres://u:hunter2", "postgres://…"),
            ("postgres://h/db?password=hunter2", "postgres://h/db"),
            (
                "postgres://u@h/db?password=hunter2&a=b",
                "postgres://…@h/db?password=…&a=b",
            ),
            ("no url: 1", "no url: 1"),
        ] {
            assert_eq!(redact(text), shown);
        }
        let url = ConnectionUrl::from_text("postgres://u:hunter2@h/db").unwrap();
        assert_eq!(format!("{url:?}"), "ConnectionUrl(postgres://…@h/db)");
    }
}
