//! The steps of a scenario.

use indexmap::IndexMap;

use super::super::model::{Action, Expectation, Role, SessionIndex, Step};
use super::super::source::{Span, Spanned};
use super::actions::ACTING;
use super::beside::{self, BESIDE};
use super::clock::Clock;
use super::expect::{self, Expecting};
use super::matrix::Combination;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::sessions::Sessions;
use super::statements::Statements;
use super::values::{self, Fields};

const HELP: &str = "write one step a line: `- A: SELECT 1;`";

/// Whether a word is a key of a step, and so no name for a session.
pub(crate) fn is_step_key(word: &str) -> bool {
    ACTING.contains(&word) || BESIDE.known.contains(&word)
}

/// The steps, as claims refer to them.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// `None` stands for a step with a mistake.
    list: Vec<Option<Placed>>,
    ids: IndexMap<String, Identified>,
    /// Whether it is known of every step who acts with which SQL.
    pub(super) complete: bool,
    /// The first step that stops the server.
    pub(super) stops_server: Option<Span>,
}

/// A step, and where its first key and the value of that are written.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) step: Step,
    pub(super) key: Span,
    pub(super) value: Span,
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

    /// Adds a step, and what it is called.
    pub(super) fn push(&mut self, placed: Option<Placed>) {
        self.list.push(placed);
    }

    /// The steps without mistakes.
    pub(super) fn placed(&self) -> impl Iterator<Item = &Placed> {
        self.list.iter().flatten()
    }

    pub(super) fn into_model(self) -> Vec<Step> {
        let steps = self.list.into_iter().flatten();
        steps.map(|placed| placed.step).collect()
    }
}

/// Reads the steps.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node) {
    let Some(items) = values::list(reader.mistakes, node, "a list of steps", HELP) else {
        reader.steps.complete = false;
        return;
    };
    for item in items {
        let step = reader.step(item);
        reader.steps.push(step);
    }
    let acts = |placed: &Option<Placed>| {
        placed
            .as_ref()
            .is_none_or(|placed| !matches!(placed.step.action, Action::Say(_)))
    };
    if !reader.steps.list.iter().any(acts) {
        let place = values::first_line(reader.mistakes, node.span);
        reader.mistakes.report(
            Mistake::new(
                place,
                "a scenario needs at least one step that does something",
            )
            .label("nothing happens here")
            .help(HELP),
        );
        reader.steps = Steps::default();
    }
}

/// Reads one step after another.
pub(super) struct Reader<'a> {
    pub(super) mistakes: &'a mut Mistakes,
    pub(super) sessions: &'a mut Sessions,
    pub(super) statements: &'a mut Statements,
    /// Where the virtual clock stands.
    pub(super) clock: Clock,
    combination: Combination<'a>,
    pub(super) steps: Steps,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        mistakes: &'a mut Mistakes,
        sessions: &'a mut Sessions,
        statements: &'a mut Statements,
        clock: Clock,
        combination: Combination<'a>,
    ) -> Self {
        Self {
            mistakes,
            sessions,
            statements,
            clock,
            combination,
            steps: Steps {
                complete: true,
                ..Steps::default()
            },
        }
    }
}

impl Reader<'_> {
    fn step(&mut self, node: &Node) -> Option<Placed> {
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
        let Some((first, others)) = entries.split_first() else {
            values::expected(self.mistakes, node, "a step", HELP);
            self.steps.complete = false;
            return None;
        };
        let fields = Fields::of_entries(entries, node.span);
        let action = self.action(first, others, &fields);
        if action.is_none() {
            self.steps.complete = false;
        }
        self.refuse_beside(first, others);

        let is_prose = first.key == "say";
        let id = self.id(&fields, is_prose);
        let label = self.words(&fields, "label");
        let note = self.words(&fields, "note");
        let expect = self.expect(&fields, action.as_ref().and_then(actor));
        beside::refuse_pointless(self.mistakes, first, &fields, action.as_ref());
        Some(Placed {
            step: Step {
                span: node.span,
                action: action?,
                role: Role::Ordered,
                id,
                label,
                note,
                expect,
            },
            key: first.key_span,
            value: first.value.span,
        })
    }

    /// A few words under a key.
    pub(super) fn words(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        values::text(self.mistakes, node, "text", "write a few words")
    }

    /// What must come out of a step of a session.
    pub(super) fn expect(
        &mut self,
        fields: &Fields<'_>,
        actor: Option<SessionIndex>,
    ) -> Vec<Expectation> {
        let expecting = Expecting {
            sessions: self.sessions,
            actor,
            combination: self.combination,
        };
        fields
            .get("expect")
            .map(|node| expect::read(self.mistakes, node, &expecting))
            .unwrap_or_default()
    }

    /// What the first key of a step says.
    fn action(&mut self, first: &Entry, others: &[Entry], fields: &Fields<'_>) -> Option<Action> {
        let key = first.key.as_str();
        if ACTING.contains(&key) {
            return self.act(first);
        }
        if BESIDE.known.contains(&key) {
            self.refuse_order(first, others);
            return None;
        }
        if let Some(session) = self.sessions.position(key) {
            self.sessions.acts(session);
            let sending = self.sending(&first.value);
            let (sending, reply) = beside::of_session(self.mistakes, first, fields, sending);
            return Some(Action::Send {
                session,
                sending: sending?,
                reply: reply?,
            });
        }
        // The tree refused a key of this kind.
        if !key.is_empty() {
            self.refuse_unknown(first);
        }
        None
    }

    fn refuse_unknown(&mut self, first: &Entry) {
        let key = first.key.as_str();
        // The SQL is looked at all the same: it may have mistakes, and name a statement.
        let _ = self.sending(&first.value);
        let shown = values::shown(key);
        if let Some(meant) = names::closest(self.mistakes, key, self.sessions.names())
            .and_then(|name| self.sessions.position(name))
        {
            self.sessions.acts(meant);
            self.sessions.find(self.mistakes, key, first.key_span);
        } else if let Some(meant) = names::closest(self.mistakes, key, ACTING.iter().copied()) {
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
    }

    fn id(&mut self, fields: &Fields<'_>, is_prose: bool) -> Option<Spanned<String>> {
        let node = fields.get("id")?;
        let id = values::text(
            self.mistakes,
            node,
            "an id",
            "write a short name: `id: a-claims`",
        )?;
        let id = Spanned {
            value: id,
            span: node.span,
        };
        self.identify(&id, is_prose);
        Some(id)
    }

    /// Notes what the step that comes next is called.
    pub(super) fn identify(&mut self, id: &Spanned<String>, is_prose: bool) {
        let Spanned { value: id, span } = id;
        if !names::is_name(id) {
            self.mistakes.report(
                Mistake::new(*span, format!("`{}` cannot be an id", values::shown(id)))
                    .label("not a name")
                    .help(names::NAME_RULE),
            );
        }
        let position = self.steps.list.len();
        if let Some(first) = self.steps.ids.get(id) {
            self.mistakes.report(
                Mistake::new(
                    *span,
                    format!("two steps have the id `{}`", values::shown(id)),
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
                    span: *span,
                    is_prose,
                },
            );
        }
    }

    /// Reports keys beside the acting one that are unknown, or act themselves.
    fn refuse_beside(&mut self, first: &Entry, others: &[Entry]) {
        for entry in others {
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
                let help = beside::belongs_within(&first.key, key);
                values::refuse_other(self.mistakes, entry, &BESIDE, help);
            }
        }
    }

    fn acts(&self, key: &str) -> bool {
        ACTING.contains(&key) || self.sessions.position(key).is_some()
    }

    /// A step that begins with a key which should stand second.
    fn refuse_order(&mut self, first: &Entry, others: &[Entry]) {
        let acting = others.iter().find(|entry| self.acts(&entry.key));
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
}

/// The session whose own step it is.
const fn actor(action: &Action) -> Option<SessionIndex> {
    match action {
        Action::Send { session, .. } => Some(*session),
        _ => None,
    }
}
