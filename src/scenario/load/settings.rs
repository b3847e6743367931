//! Server settings of a session.

use std::collections::HashMap;

use super::super::model::Setting;
use super::super::source::{Span, Spanned};
use super::known_settings::{self, Context};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::values;

/// Settings that have a key of their own, or that the runner needs for itself.
const ELSEWHERE: &[(&str, &str)] = &[
    ("role", "write `role: name` beside `settings:`"),
    (
        "session_authorization",
        "write `role: name` beside `settings:`",
    ),
    (
        "transaction_isolation",
        "write `isolation: repeatable read` beside `settings:`",
    ),
    (
        "default_transaction_isolation",
        "write `isolation: repeatable read` beside `settings:`",
    ),
    ("client_encoding", "transcripts are UTF-8: leave it out"),
];

/// Whether a word is the name of a setting that a session may set.
pub(super) fn may_be_set(word: &str) -> bool {
    known_settings::names().any(|name| name == word)
}

/// Reads the `settings:` of a session.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Vec<Setting> {
    let Kind::Mapping(entries) = &node.kind else {
        values::expected(
            mistakes,
            node,
            "a mapping of settings to values",
            "write `settings: { lock_timeout: 2s }`",
        );
        return Vec::new();
    };
    let mut settings: Vec<Setting> = Vec::new();
    let mut places: HashMap<String, Span> = HashMap::new();
    for entry in entries.iter().filter(|entry| !entry.key.is_empty()) {
        let Some(setting) = setting(mistakes, entry) else {
            continue;
        };
        // YAML's keys differ by case, the server's do not.
        let name = setting.name.clone();
        if let Some(first) = places.insert(name.value, name.span) {
            mistakes.report(
                Mistake::new(
                    setting.name.span,
                    format!("`{}` is set twice", setting.name.value),
                )
                .label("again here")
                .related(first, "first here")
                .help("keep one of them"),
            );
            continue;
        }
        settings.push(setting);
    }
    settings
}

fn setting(mistakes: &mut Mistakes, entry: &Entry) -> Option<Setting> {
    let name = entry.key.to_ascii_lowercase();
    let allowed = check_name(mistakes, entry, &name);
    let help = "write the value as `SET` takes it: `lock_timeout: 2s`";
    let value = match &entry.value.kind {
        // An empty text between quotes is a value that some settings take.
        Kind::Scalar(scalar) if !entry.value.is_nothing() => Some(scalar.text.clone()),
        Kind::List(_) => {
            values::expected(
                mistakes,
                &entry.value,
                "a value",
                "write a list of names as one text: `search_path: \"app, public\"`",
            );
            None
        }
        _ => {
            values::expected(mistakes, &entry.value, "a value", help);
            None
        }
    };
    Some(Setting {
        name: Spanned {
            value: allowed.then_some(name)?,
            span: entry.key_span,
        },
        value: value?,
    })
}

fn check_name(mistakes: &mut Mistakes, entry: &Entry, name: &str) -> bool {
    let refuse = |mistakes: &mut Mistakes, message: String, label: &str, help: Option<String>| {
        mistakes.report(
            Mistake::new(entry.key_span, message)
                .label(label)
                .maybe_help(help),
        );
        false
    };
    let shown = values::shown(&entry.key);
    let well_formed = name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    });
    if !well_formed {
        return refuse(
            mistakes,
            format!("`{shown}` cannot be the name of a setting"),
            "not a setting",
            Some(
                "a setting is named like `lock_timeout`, or `myapp.user` for one of your own"
                    .to_owned(),
            ),
        );
    }
    if let Some((_, help)) = ELSEWHERE.iter().find(|(other, _)| *other == name) {
        return refuse(
            mistakes,
            format!("`{name}` is not set here"),
            "this has another place",
            Some((*help).to_owned()),
        );
    }
    if name.contains('.') {
        return true;
    }
    match known_settings::context(name) {
        Some(Context::User) => true,
        Some(Context::Superuser) if known_settings::SUPERUSER_SETTINGS.contains(&name) => true,
        Some(Context::Superuser) => refuse(
            mistakes,
            format!("only a superuser may set `{name}`"),
            "scenarios run without superuser rights",
            Some(format!(
                "of these settings a scenario may change {}",
                names::listed(known_settings::SUPERUSER_SETTINGS.iter().copied())
            )),
        ),
        Some(Context::Server) => refuse(
            mistakes,
            format!("`{name}` belongs to the whole server"),
            "a session cannot set it",
            Some("every server starts alike; leave it out".to_owned()),
        ),
        None => refuse(
            mistakes,
            format!("PostgreSQL has no setting `{shown}`"),
            "unknown setting",
            names::closest(mistakes, name, known_settings::names())
                .map(|name| format!("did you mean `{name}`?"))
                .or_else(|| {
                    Some("a setting of your own has a dot in its name: `myapp.user`".to_owned())
                }),
        ),
    }
}
