//! Steps that a session owns, by name, for schedules to put in an order.

use std::rc::Rc;

use super::super::model::{Action, Reply, Role, Sending, SessionIndex, Step};
use super::super::source::{Spanned, SqlText};
use super::beside;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Entry, Kind, Node};
use super::sending::SENDING;
use super::steps::{Placed, Reader};
use super::values::{self, Fields, Keys};
use crate::schedule::StepPlace;

const HELP: &str = "name the steps: `steps: { s1r: \"SELECT …;\", s1c: COMMIT; }`";

/// The keys of a step that is more than its SQL.
const KEYS: Keys = Keys {
    of: "a step of a session",
    known: &[
        "use", "sql", "params", "prepare", "execute", "pipeline", "data", "more", "message",
        "label", "note", "expect",
    ],
    later: &[],
};

impl Reader<'_> {
    /// Reads the steps of one session, and says how many it has.
    pub(super) fn own_steps(&mut self, session: SessionIndex, steps: &Entry) -> usize {
        let Kind::Mapping(entries) = &steps.value.kind else {
            values::expected(
                self.mistakes,
                &steps.value,
                "a mapping of names to steps",
                HELP,
            );
            self.steps.complete = false;
            return 0;
        };
        if entries.is_empty() {
            self.mistakes.report(
                Mistake::new(steps.key_span, "a session without steps")
                    .label("no step here")
                    .help(HELP),
            );
        }
        self.sessions.acts(session);
        for (number, entry) in entries.iter().enumerate() {
            let name = Spanned {
                value: entry.key.clone(),
                span: entry.key_span,
            };
            self.identify(&name, false);
            let place = StepPlace {
                session: session.0,
                step: number,
            };
            let placed = self.own_step(session, place, name, entry);
            if placed.is_none() {
                self.steps.complete = false;
            }
            self.steps.push(placed);
        }
        entries.len()
    }

    fn own_step(
        &mut self,
        session: SessionIndex,
        place: StepPlace,
        name: Spanned<String>,
        entry: &Entry,
    ) -> Option<Placed> {
        let no_entries = Vec::new();
        let entries = match &entry.value.kind {
            Kind::Mapping(entries) => entries,
            _ => &no_entries,
        };
        let fields = Fields::of_entries(entries, entry.value.span);
        refuse_others(self.mistakes, &fields);
        let sending = self.own_sending(&entry.value, entries);
        let (sending, reply) = beside::of_session(self.mistakes, entry, &fields, sending);
        let label = self.words(&fields, "label");
        let note = self.words(&fields, "note");
        let expect = self.expect(&fields, Some(session));
        let markers = Vec::new();
        Some(Placed {
            step: Step {
                span: name.span,
                action: Action::Send {
                    session,
                    sending: sending?,
                    reply: reply.unwrap_or(Reply::Awaited),
                },
                role: Role::Owned { place, markers },
                id: Some(name),
                label,
                note,
                expect,
            },
            key: entry.key_span,
            value: entry.value.span,
        })
    }

    /// What the step sends: the keys that say so may stand beside others.
    fn own_sending(&mut self, node: &Rc<Node>, entries: &[Entry]) -> Option<Sending> {
        if let Kind::Scalar(scalar) = &node.kind
            && scalar.text.trim().is_empty()
            && !node.is_nothing()
        {
            return Some(Sending::Message(SqlText {
                text: String::new(),
                span: node.span,
                origins: Vec::new(),
            }));
        }
        if entries.is_empty() {
            return self.sending(node);
        }
        let is_sending = |entry: &Entry| SENDING.known.contains(&entry.key.as_str());
        if !entries.iter().any(is_sending) {
            self.mistakes.report(
                Mistake::new(
                    values::first_line(self.mistakes, node.span),
                    "a step of a session needs `sql`",
                )
                .label("nothing is sent here")
                .help("write `{ sql: SELECT 1;, message: true }`, or the SQL alone"),
            );
            return None;
        }
        self.sending(&node.only(entries, SENDING.known))
    }
}

fn refuse_others(mistakes: &mut Mistakes, fields: &Fields<'_>) {
    fields.refuse_others_with(mistakes, &KEYS, |key| match key {
        "id" => Some("the name of the step is its id".to_owned()),
        "async" => Some("a schedule goes on when the step has ended or waits; to report it later, write `report_after` in the schedule".to_owned()),
        "reply" => Some("what becomes of connections is a matter of scenarios with one order, `steps:`".to_owned()),
        _ => None,
    });
}
