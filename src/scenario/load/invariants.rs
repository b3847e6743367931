//! What must hold after the last step, in whatever order the steps came.

use super::super::model::{Action, Expect, Expectation, ReleaseRange, Role, Step};
use super::super::source::Span;
use super::mistakes::Mistake;
use super::node::{Kind, Node};
use super::steps::{Placed, Reader};
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "an invariant",
    known: &["name", "sql", "use"],
    later: &[],
};

const HELP: &str = "write a name and SQL that must return no row: `- { name: no job is claimed twice, sql: \"SELECT …\" }`";

/// Reads `invariants:`; each becomes a step behind all others.
pub(super) fn read(reader: &mut Reader<'_>, node: Option<&Node>) {
    let Some(node) = node else {
        return;
    };
    let Some(items) = values::list(reader.mistakes, node, "a list of invariants", HELP) else {
        return;
    };
    let mut names: Vec<(String, Span)> = Vec::new();
    for item in items {
        let Some(placed) = reader.invariant(item) else {
            reader.steps.complete = false;
            continue;
        };
        if let Role::Invariant(name) = &placed.step.role {
            if let Some((_, first)) = names.iter().find(|(known, _)| known == name) {
                reader.mistakes.report(
                    Mistake::new(
                        placed.key,
                        format!("two invariants are called `{}`", values::shown(name)),
                    )
                    .label("again here")
                    .related(*first, "first here")
                    .help("give each a name of its own"),
                );
            }
            names.push((name.clone(), placed.key));
        }
        reader.steps.push(Some(placed));
    }
}

impl Reader<'_> {
    fn invariant(&mut self, node: &Node) -> Option<Placed> {
        let fields = Fields::of(self.mistakes, node, "an invariant", HELP)?;
        fields.refuse_others(self.mistakes, &KEYS);
        let named = fields.require(self.mistakes, "name", &KEYS, HELP);
        let name = named.and_then(|node| {
            values::text(
                self.mistakes,
                node,
                "a name",
                "say in a few words what holds",
            )
        });
        if fields.entry("sql").is_none() && fields.entry("use").is_none() {
            let _ = fields.require(self.mistakes, "sql", &KEYS, HELP);
            return None;
        }
        let Kind::Mapping(entries) = &node.kind else {
            return None;
        };
        let sql = self.check(&node.only(entries, &["sql", "use"]))?;
        let place = named.map_or(node.span, |node| node.span);
        Some(Placed {
            step: Step {
                span: place,
                action: Action::Check(sql),
                role: Role::Invariant(name?),
                id: None,
                label: None,
                note: None,
                expect: vec![Expectation {
                    releases: ReleaseRange::default(),
                    outcomes: vec![Expect::no_row(place)],
                }],
            },
            key: place,
            value: node.span,
        })
    }
}
