//! The steps of a scenario.

use indexmap::IndexMap;

use super::super::model::{Action, Expectation, ReleaseRange, Reply, Sending, Step};
use super::super::source::{Span, Spanned, SqlText};
use super::expect;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::sessions::Sessions;
use super::sql;
use super::statements::Statements;
use super::values::{self, Fields, Keys};

/// Keys that say what happens, apart from the names of sessions.
const ACTING: &[&str] = &["say", "check", "wait_for"];
/// Acting keys of the design that are not done yet.
const ACTING_LATER: &[&str] = &[
    "advance",
    "sleep",
    "disconnect",
    "connect",
    "cancel",
    "terminate",
    "restart",
    "crash",
];

/// Keys that stand beside the acting one.
const BESIDE: Keys = Keys {
    of: "a step",
    known: &["id", "label", "note", "expect"],
    later: &["async", "reply", "pipeline", "message", "params"],
};

const SQL_KEYS: Keys = Keys {
    of: "a statement",
    known: &["use", "sql"],
    later: &["params"],
};

const HELP: &str = "write one step a line: `- A: SELECT 1;`";

/// Whether a word is a key of a step, and so no name for a session.
pub(super) fn is_step_key(word: &str) -> bool {
    [ACTING, ACTING_LATER, BESIDE.known, BESIDE.later]
        .iter()
        .any(|keys| keys.contains(&word))
}

/// The steps, as claims refer to them.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// `None` stands for a step with a mistake.
    list: Vec<Option<Step>>,
    ids: IndexMap<String, Identified>,
    /// Whether it is known of every step who acts with which SQL.
    pub(super) complete: bool,
}

/// A step that has an id.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identified {
    /// Its position among the steps.
    pub(super) position: usize,
    /// Where the id is written.
    pub(super) span: Span,
    /// Whether it is prose, which demonstrates nothing.
    pub(super) is_prose: bool,
}

impl Steps {
    /// Steps that could not be read.
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    /// Whether there are steps to speak of at all.
    pub(super) fn is_unknown(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn identified(&self, id: &str) -> Option<Identified> {
        self.ids.get(id).copied()
    }

    /// The ids of the steps that can demonstrate something, in the order of the steps.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.ids
            .iter()
            .filter(|(_, step)| !step.is_prose)
            .map(|(id, _)| id.as_str())
    }

    pub(super) fn into_model(self) -> Vec<Step> {
        self.list.into_iter().flatten().collect()
    }
}

/// Reads the steps.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    sessions: &mut Sessions,
    statements: &mut Statements,
) -> Steps {
    let Some(items) = values::list(mistakes, node, "a list of steps", HELP) else {
        return Steps::unknown();
    };
    let mut reader = Reader {
        mistakes,
        sessions,
        statements,
        steps: Steps {
            complete: true,
            ..Steps::default()
        },
    };
    for item in items {
        let step = reader.step(item);
        reader.steps.list.push(step);
    }
    let Reader { steps, .. } = reader;
    let acts = |step: &Option<Step>| {
        step.as_ref()
            .is_none_or(|step| !matches!(step.action, Action::Say(_)))
    };
    if !steps.list.iter().any(acts) {
        mistakes.report(
            Mistake::new(
                values::first_line(mistakes, node.span),
                "a scenario needs at least one step that does something",
            )
            .label("nothing happens here")
            .help(HELP),
        );
        return Steps::unknown();
    }
    steps
}

struct Reader<'a> {
    mistakes: &'a mut Mistakes,
    sessions: &'a mut Sessions,
    statements: &'a mut Statements,
    steps: Steps,
}

impl Reader<'_> {
    fn step(&mut self, node: &Node) -> Option<Step> {
        let Kind::Mapping(entries) = &node.kind else {
            let help = match node.as_plain().and_then(|text| text.split_once(':')) {
                Some((key, sql)) if self.acts(key) => {
                    let sql = values::shown(sql);
                    format!("write a space behind the colon: `- {key}: {sql}`")
                }
                _ => HELP.to_owned(),
            };
            values::expected(self.mistakes, node, "a step", &help);
            self.steps.complete = false;
            return None;
        };
        let Some((first, beside)) = entries.split_first() else {
            values::expected(self.mistakes, node, "a step", HELP);
            self.steps.complete = false;
            return None;
        };
        let fields = Fields::of_entries(entries, node.span);
        let action = self.action(first, beside);
        if action.is_none() {
            self.steps.complete = false;
        }
        self.refuse_beside(first, beside);

        let is_prose = first.key == "say";
        let id = self.id(&fields, is_prose);
        let text = |mistakes: &mut Mistakes, key: &str| {
            let node = fields.get(key)?;
            values::text(mistakes, node, "text", "write a few words")
        };
        let label = text(self.mistakes, "label");
        let note = text(self.mistakes, "note");
        let actor = match &action {
            Some(Action::Send { session, .. }) => Some(*session),
            _ => None,
        };
        let expectation = fields
            .get("expect")
            .and_then(|node| expect::read(self.mistakes, node, self.sessions, actor));
        if let Some(entry) = fields.entry("expect") {
            self.refuse_pointless(first, entry);
        }
        Some(Step {
            span: node.span,
            action: action?,
            id,
            label,
            note,
            expect: expectation
                .map(|expect| Expectation {
                    releases: ReleaseRange::default(),
                    outcomes: vec![expect],
                })
                .into_iter()
                .collect(),
        })
    }

    /// What the first key of a step says.
    fn action(&mut self, first: &Entry, beside: &[Entry]) -> Option<Action> {
        let key = first.key.as_str();
        let value = &*first.value;
        match key {
            // The tree refused a key of this kind.
            "" => None,
            "say" => values::text(self.mistakes, value, "prose", "write Markdown").map(Action::Say),
            "check" => self.sql(value).map(Action::Check),
            "wait_for" => {
                let name = values::text(
                    self.mistakes,
                    value,
                    "the name of a session",
                    "name the session whose statement must end: `wait_for: A`",
                )?;
                let session = self.sessions.find(self.mistakes, &name, value.span)?;
                Some(Action::WaitFor(session))
            }
            _ if ACTING_LATER.contains(&key) => {
                values::not_yet(self.mistakes, first);
                None
            }
            _ if BESIDE.known.contains(&key) || BESIDE.later.contains(&key) => {
                self.refuse_order(first, beside);
                None
            }
            _ => self.statement(first),
        }
    }

    fn statement(&mut self, first: &Entry) -> Option<Action> {
        let key = first.key.as_str();
        if let Some(session) = self.sessions.position(key) {
            self.sessions.acts(session);
            let sql = self.sql(&first.value)?;
            return Some(Action::Send {
                session,
                sending: Sending::Statements(sql),
                reply: Reply::Awaited,
            });
        }
        // The SQL is looked at all the same: it may have mistakes, and name a statement.
        let _ = self.sql(&first.value);
        let acting = ACTING.iter().chain(ACTING_LATER).copied();
        let shown = values::shown(key);
        if let Some(meant) = names::closest(self.mistakes, key, self.sessions.names())
            .and_then(|name| self.sessions.position(name))
        {
            self.sessions.acts(meant);
            self.sessions.find(self.mistakes, key, first.key_span);
        } else if let Some(meant) = names::closest(self.mistakes, key, acting) {
            self.mistakes.report(
                Mistake::new(
                    first.key_span,
                    format!("a step cannot begin with `{shown}`"),
                )
                .label("neither a session nor an action")
                .help(format!("did you mean `{meant}`?")),
            );
        } else if self.sessions.are_known() {
            let sessions = names::listed(self.sessions.names());
            self.mistakes.report(
                Mistake::new(first.key_span, format!("no session is called `{shown}`"))
                    .label("unknown session")
                    .help(format!(
                        "the sessions are {sessions}; a step may also begin with {}",
                        names::listed(ACTING.iter().copied())
                    )),
            );
        }
        None
    }

    /// SQL, in one of the forms that a step may write it.
    fn sql(&mut self, node: &Node) -> Option<SqlText> {
        if !matches!(node.kind, Kind::Mapping(_)) {
            return sql::script(self.mistakes, node);
        }
        let fields = Fields::of(self.mistakes, node, "SQL", "write SQL")?;
        fields.refuse_others(self.mistakes, &SQL_KEYS);
        match (fields.entry("use"), fields.entry("sql")) {
            (Some(named), None) => {
                let help = "name a statement of `statements:`: `{ use: claim }`";
                let name =
                    values::text(self.mistakes, &named.value, "the name of a statement", help)?;
                self.statements.take(self.mistakes, &name, named.value.span)
            }
            (None, Some(written)) => sql::script(self.mistakes, &written.value),
            (Some(named), Some(written)) => {
                self.mistakes.report(
                    Mistake::new(written.key_span, "a step runs either `use` or `sql`")
                        .label("the second one")
                        .related(named.key_span, "the first one")
                        .help("keep one of them; two statements are two steps"),
                );
                None
            }
            (None, None) => {
                // Another key was refused already.
                if fields.is_empty() {
                    self.mistakes.report(
                        Mistake::new(node.span, "no SQL to run")
                            .label("neither `use` nor `sql`")
                            .help("write the SQL itself, `{ use: name }` or `{ sql: … }`"),
                    );
                }
                None
            }
        }
    }

    fn id(&mut self, fields: &Fields<'_>, is_prose: bool) -> Option<Spanned<String>> {
        let node = fields.get("id")?;
        let id = values::text(
            self.mistakes,
            node,
            "an id",
            "write a short name: `id: a-claims`",
        )?;
        let span = node.span;
        if !names::is_name(&id) {
            self.mistakes.report(
                Mistake::new(span, format!("`{}` cannot be an id", values::shown(&id)))
                    .label("not a name")
                    .help(names::NAME_RULE),
            );
        }
        let position = self.steps.list.len();
        if let Some(first) = self.steps.ids.get(&id) {
            self.mistakes.report(
                Mistake::new(
                    span,
                    format!("two steps have the id `{}`", values::shown(&id)),
                )
                .label("again here")
                .related(first.span, "first here")
                .help("give each step an id of its own"),
            );
        } else {
            self.steps.ids.insert(
                id.clone(),
                Identified {
                    position,
                    span,
                    is_prose,
                },
            );
        }
        Some(Spanned { value: id, span })
    }

    /// Reports keys beside the acting one that are unknown, not done yet, or act themselves.
    fn refuse_beside(&mut self, first: &Entry, beside: &[Entry]) {
        for entry in beside {
            let key = entry.key.as_str();
            let acts = self.acts(key);
            if acts && self.acts(&first.key) {
                self.mistakes.report(
                    Mistake::new(entry.key_span, "a step does one thing")
                        .label(format!("`{key}` is a second one"))
                        .related(
                            first.key_span,
                            format!("`{}` is the first", values::shown(&first.key)),
                        )
                        .help(format!("begin a new step: `- {key}: …`")),
                );
            } else if !acts {
                values::refuse_other(self.mistakes, entry, &BESIDE, None);
            }
        }
    }

    fn acts(&self, key: &str) -> bool {
        ACTING.contains(&key)
            || ACTING_LATER.contains(&key)
            || self.sessions.position(key).is_some()
    }

    /// A step that begins with a key which should stand second.
    fn refuse_order(&mut self, first: &Entry, beside: &[Entry]) {
        let acting = beside.iter().find(|entry| self.acts(&entry.key));
        let mistake = Mistake::new(
            first.key_span,
            "the first key of a step says who or what acts",
        )
        .label(format!("`{}` stands beside it", first.key));
        self.mistakes.report(match acting {
            Some(entry) => mistake
                .related(entry.key_span, "this one acts")
                .help(format!(
                    "put `{}:` first and `{}:` after it",
                    entry.key, first.key
                )),
            None => mistake
                .help("begin with a session, `- A: SQL`, or with `say:`, `check:` or `wait_for:`"),
        });
    }

    /// An expectation where nothing can come out.
    fn refuse_pointless(&mut self, first: &Entry, expect: &Entry) {
        let (message, help) = match first.key.as_str() {
            "say" => (
                "prose has nothing to expect",
                "put it on the step that runs the SQL",
            ),
            "wait_for" => (
                "a `wait_for` step sends nothing, so nothing comes out of it",
                "put it on the step that sent the statement",
            ),
            _ => return,
        };
        self.mistakes.report(
            Mistake::new(expect.key_span, message)
                .label("this expectation")
                .related(first.key_span, "on this step")
                .help(help),
        );
    }
}
