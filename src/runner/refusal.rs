//! What a scenario asks of the server when its sessions connect, and the server does not give.

use super::outcome::Trouble;
use super::trouble::tell;
use crate::scenario::{Diagnostic, Scenario, Session, Setting, Spanned};
use crate::transcript::ServerMessage;
use crate::wire::ConnectError;

/// A connection that the server refuses because of what the scenario asks of it is the scenario's
/// fault; any other is not.
pub(crate) fn refused(
    scenario: &Scenario,
    session: Option<&Session>,
    error: &ConnectError,
) -> Trouble {
    error
        .refusal()
        .and_then(|refusal| {
            refused_setting(scenario, session, &refusal.message, refusal.hint.as_deref())
        })
        .unwrap_or_else(|| Trouble::Server(tell(error)))
}

/// The setting of a session that the server's message names between its quotes.
pub(crate) fn refused_setting(
    scenario: &Scenario,
    session: Option<&Session>,
    message: &str,
    hint: Option<&str>,
) -> Option<Trouble> {
    // The server keeps some names in mixed case: "DateStyle".
    let lower = message.to_ascii_lowercase();
    let names = |setting: &&Setting| lower.contains(&format!("\"{}\"", setting.name.value));
    let setting = session?.settings.iter().find(names)?;
    Some(Trouble::Invalid(Diagnostic {
        source: scenario.source.clone(),
        message: message.to_owned(),
        span: setting.name.span,
        label: "the server refuses this setting".to_owned(),
        related: Vec::new(),
        help: hint.map(str::to_owned),
    }))
}

pub(crate) fn refused_role(
    scenario: &Scenario,
    role: &Spanned<String>,
    error: &ServerMessage,
) -> Trouble {
    Trouble::Invalid(Diagnostic {
        source: scenario.source.clone(),
        message: error.message.clone(),
        span: role.span,
        label: "the server refuses this role".to_owned(),
        related: Vec::new(),
        help: error.hint.clone(),
    })
}
