//! What is said before the first statement.

use std::fmt;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::error::ConnectErrorKind;

/// Who connects, and to what.
#[derive(Clone, PartialEq, Eq)]
pub struct Startup {
    /// The role.
    pub user: String,
    /// Its password; not sent unless the server asks for it.
    pub password: String,
    /// The database.
    pub database: String,
    /// The name shown in `pg_stat_activity`.
    pub application_name: String,
    /// Settings the session begins with (`RESET` comes back to them), in order. The role must be
    /// allowed to change them.
    pub options: Vec<(String, String)>,
}

impl Startup {
    /// The first message.
    pub(super) fn message(&self) -> Result<BytesMut, ConnectErrorKind> {
        let fixed = [
            ("user", self.user.as_str()),
            ("database", self.database.as_str()),
            ("application_name", self.application_name.as_str()),
            ("client_encoding", "UTF8"),
        ];
        let options = self
            .options
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let mut message = BytesMut::new();
        // Its only complaint is a NUL byte in a name or a value.
        frontend::startup_message(fixed.into_iter().chain(options), &mut message)
            .map_err(|_| ConnectErrorKind::NulByte)?;
        Ok(message)
    }
}

impl fmt::Debug for Startup {
    /// Leaves the password out: it must never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Startup")
            .field("user", &self.user)
            .field("database", &self.database)
            .field("application_name", &self.application_name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
