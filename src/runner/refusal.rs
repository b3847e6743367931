//! What a scenario asks of the server when its sessions connect, and the server does not give.

use super::failure;
use super::outcome::Trouble;
use super::trouble::tell;
use crate::scenario::{Diagnostic, SUPERUSER_SETTINGS, Scenario, Session, Setting, Spanned};
use crate::server::DatabaseError;
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
        .unwrap_or_else(|| failure::trouble(error.refusal().map(|said| &*said.code), tell(error)))
}

/// A setting that only a superuser may set, where Lockstep's role is none, or whose value is bad.
pub(crate) fn denied(
    scenario: &Scenario,
    session: Option<&Session>,
    error: &DatabaseError,
) -> Trouble {
    let reserved = session
        .into_iter()
        .flat_map(|session| &session.settings)
        .find(|setting| SUPERUSER_SETTINGS.contains(&setting.name.value.as_str()));
    match (error.denial(), reserved) {
        (Some(message), Some(setting)) => Trouble::Invalid(Diagnostic {
            source: scenario.source.clone(),
            message,
            span: setting.name.span,
            label: "this needs a server on which Lockstep is a superuser".to_owned(),
            related: Vec::new(),
            help: Some(format!(
                "connect as a superuser, or leave it out; on PostgreSQL 15 and later a superuser \
                 can also allow it: GRANT SET ON PARAMETER {} TO the role of the URL",
                setting.name.value
            )),
        }),
        _ => error
            .refusal()
            .and_then(|said| refused_setting(scenario, session, said.message(), said.hint()))
            .unwrap_or_else(|| Trouble::Server(error.to_string())),
    }
}

/// The setting of a session that the server's message names between its quotes.
fn refused_setting(
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
