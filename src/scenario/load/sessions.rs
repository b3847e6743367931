//! The sessions of a scenario.

use super::super::model::{Isolation, Session, SessionIndex};
use super::super::source::{Span, Spanned, SqlText};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::settings;
use super::sql;
use super::steps;
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "a session",
    known: &[
        "title",
        "isolation",
        "settings",
        "setup",
        "teardown",
        "role",
        "steps",
    ],
    later: &[],
};

const HELP: &str = "name the sessions: `sessions: [A, B]`";

/// The most sessions a scenario may have: a server takes about as many connections.
const MOST_SESSIONS: usize = 90;

/// The sessions, as the other parts of a scenario refer to them.
#[derive(Debug)]
pub(super) struct Sessions {
    list: Vec<Known>,
    /// Whether the list was read; if it was not, nothing is said of names.
    known: bool,
}

#[derive(Debug)]
struct Known {
    session: Session,
    used: bool,
    /// The steps of its own, which are read when the sessions are known.
    steps: Option<Entry>,
}

/// Reads the sessions.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Sessions {
    let mut sessions = Sessions {
        list: Vec::new(),
        known: true,
    };
    match &node.kind {
        Kind::List(items) => {
            for item in items {
                let help = "write a list of names, or a mapping: `sessions: { A: { isolation: serializable } }`";
                if let Some(name) = values::text(mistakes, item, "the name of a session", help) {
                    sessions.add(mistakes, name, item.span, None);
                } else {
                    sessions.known = false;
                }
            }
        }
        Kind::Mapping(entries) => {
            for entry in entries.iter().filter(|entry| !entry.key.is_empty()) {
                let options = (!entry.value.is_nothing()).then_some(&*entry.value);
                sessions.add(mistakes, entry.key.clone(), entry.key_span, options);
            }
        }
        Kind::Scalar(_) => {
            values::expected(mistakes, node, "a list of sessions", HELP);
            return Sessions::unknown();
        }
    }
    if sessions.list.len() > MOST_SESSIONS {
        let first = &sessions.list[MOST_SESSIONS].session.name;
        mistakes.report(
            Mistake::new(
                first.span,
                format!("a scenario has at most {MOST_SESSIONS} sessions"),
            )
            .label("this is one too many")
            .help("a server does not take more connections; a race needs few"),
        );
    }
    if sessions.list.is_empty() && sessions.known {
        mistakes.report(
            Mistake::new(node.span, "a scenario needs at least one session")
                .label("there is none here")
                .help(HELP),
        );
        sessions.known = false;
    }
    sessions
}

impl Sessions {
    /// Sessions that could not be read.
    pub(super) const fn unknown() -> Self {
        Self {
            list: Vec::new(),
            known: false,
        }
    }

    fn add(&mut self, mistakes: &mut Mistakes, name: String, span: Span, options: Option<&Node>) {
        // One more is kept, to be shown.
        if self.list.len() > MOST_SESSIONS {
            self.known = false;
            return;
        }
        let name = Spanned { value: name, span };
        let (session, steps) = session(mistakes, name, options);
        let name = &session.name;
        if steps::is_step_key(&name.value) {
            mistakes.report(
                Mistake::new(span, format!("a session cannot be called `{}`", name.value))
                    .label("a step has a key of this name")
                    .help("choose another name"),
            );
        } else if !names::is_name(&name.value) {
            mistakes.report(
                Mistake::new(
                    span,
                    format!(
                        "a session cannot be called `{}`",
                        values::shown(&name.value)
                    ),
                )
                .label("not a name")
                .help(names::NAME_RULE),
            );
        }
        if let Some(first) = self
            .list
            .iter()
            .find(|other| other.session.name.value == name.value)
        {
            mistakes.report(
                Mistake::new(span, format!("two sessions are called `{}`", name.value))
                    .label("again here")
                    .related(first.session.name.span, "first here")
                    .help("give each session a name of its own"),
            );
            return;
        }
        let used = session.setup.is_some();
        self.list.push(Known {
            session,
            used,
            steps,
        });
    }

    /// Whether it is known which sessions there are.
    pub(super) const fn are_known(&self) -> bool {
        self.known
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list
            .iter()
            .map(|known| known.session.name.value.as_str())
    }

    /// The position of a session, without a word if there is none.
    pub(super) fn position(&self, name: &str) -> Option<SessionIndex> {
        self.names()
            .position(|known| known == name)
            .map(SessionIndex)
    }

    /// The session of a name that is used at a place; reports one that is not there.
    pub(super) fn find(
        &self,
        mistakes: &mut Mistakes,
        name: &str,
        at: Span,
    ) -> Option<SessionIndex> {
        if let Some(index) = self.position(name) {
            return Some(index);
        }
        if self.known {
            let shown = values::shown(name);
            let help = names::suggestion(mistakes, name, self.names(), "the sessions are");
            mistakes.report(
                Mistake::new(at, format!("no session is called `{shown}`"))
                    .label("unknown session")
                    .maybe_help(help),
            );
        }
        None
    }

    /// What a session is called.
    pub(super) fn name(&self, index: SessionIndex) -> &str {
        &self.list[index.0].session.name.value
    }

    /// What each of them runs before the first step.
    pub(super) fn setups(&self) -> impl Iterator<Item = Option<&SqlText>> {
        self.list.iter().map(|known| known.session.setup.as_ref())
    }

    /// The steps that sessions own, with whose they are.
    pub(super) fn own_steps(&self) -> Vec<(SessionIndex, Entry)> {
        let sessions = self.list.iter().enumerate();
        sessions
            .filter_map(|(at, known)| Some((SessionIndex(at), known.steps.clone()?)))
            .collect()
    }

    /// Notes that a session acts.
    pub(super) fn acts(&mut self, index: SessionIndex) {
        self.list[index.0].used = true;
    }

    /// Reports the sessions that do nothing.
    pub(super) fn refuse_unused(&self, mistakes: &mut Mistakes) {
        for known in self.list.iter().filter(|known| !known.used && self.known) {
            let name = &known.session.name;
            mistakes.report(
                Mistake::new(
                    name.span,
                    format!("the session `{}` does nothing", name.value),
                )
                .label("no step is its own")
                .help(format!(
                    "give it a step, `- {}: SQL`, or take it out",
                    name.value
                )),
            );
        }
    }

    pub(super) fn into_model(self) -> Vec<Session> {
        self.list.into_iter().map(|known| known.session).collect()
    }
}

fn session(
    mistakes: &mut Mistakes,
    name: Spanned<String>,
    options: Option<&Node>,
) -> (Session, Option<Entry>) {
    let mut session = Session {
        name,
        title: None,
        isolation: None,
        settings: Vec::new(),
        setup: None,
        teardown: None,
        role: None,
    };
    let Some(options) = options else {
        return (session, None);
    };
    let help = "write its keys: `A: { isolation: serializable }`";
    let Some(fields) = Fields::of(mistakes, options, "the options of a session", help) else {
        return (session, None);
    };
    fields.refuse_others_with(mistakes, &KEYS, |key| {
        settings::may_be_set(key).then(|| {
            format!("a setting of the server stands under `settings`: `settings: {{ {key}: … }}`")
        })
    });
    session.title = fields
        .get("title")
        .and_then(|node| values::text(mistakes, node, "a title", "write a longer name as text"));
    session.isolation = fields
        .get("isolation")
        .and_then(|node| isolation(mistakes, node));
    session.settings = fields
        .get("settings")
        .map(|node| settings::of_session(mistakes, node))
        .unwrap_or_default();
    session.setup = fields
        .get("setup")
        .and_then(|node| sql::script(mistakes, node));
    session.teardown = fields
        .get("teardown")
        .and_then(|node| sql::script(mistakes, node));
    session.role = fields.get("role").and_then(|node| {
        values::text(
            mistakes,
            node,
            "the name of a role",
            "write the name of a role that `setup:` makes",
        )
        .map(|value| Spanned {
            value,
            span: node.span,
        })
    });
    (session, fields.entry("steps").cloned())
}

fn isolation(mistakes: &mut Mistakes, node: &Node) -> Option<Isolation> {
    const LEVELS: [Isolation; 4] = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];
    let written = values::text(
        mistakes,
        node,
        "an isolation level",
        "write `read committed`, `repeatable read` or `serializable`",
    )?;
    let words = written
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let level = LEVELS.into_iter().find(|level| level.as_sql() == words);
    if level.is_none() {
        let spaced = words.replace(['-', '_'], " ");
        mistakes.report(
            Mistake::new(
                node.span,
                format!("`{}` is not an isolation level", values::shown(&written)),
            )
            .label("unknown isolation level")
            .maybe_help(names::suggestion(
                mistakes,
                &spaced,
                LEVELS.iter().map(|level| level.as_sql()),
                "the isolation levels are",
            )),
        );
    }
    level
}
