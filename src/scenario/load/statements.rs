//! The SQL under `statements:`, which steps use by name.

use indexmap::IndexMap;

use super::super::source::{Span, SqlText};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Kind, Node};
use super::sql;
use super::values;

/// The named statements of a scenario.
#[derive(Debug, Default)]
pub(super) struct Statements {
    named: IndexMap<String, Named>,
}

#[derive(Debug)]
struct Named {
    name_span: Span,
    /// `None` when it has a mistake of its own.
    sql: Option<SqlText>,
    used: bool,
}

impl Statements {
    pub(super) fn read(mistakes: &mut Mistakes, node: Option<&Node>) -> Self {
        let Some(node) = node else {
            return Self::default();
        };
        let Kind::Mapping(entries) = &node.kind else {
            values::expected(
                mistakes,
                node,
                "a mapping of names to SQL",
                "write `name: SQL`, one a line",
            );
            return Self::default();
        };
        let named = entries
            .iter()
            .filter(|entry| !entry.key.is_empty())
            .map(|entry| {
                if !names::is_name(&entry.key) {
                    mistakes.report(
                        Mistake::new(
                            entry.key_span,
                            format!("`{}` cannot be a name", values::shown(&entry.key)),
                        )
                        .label("not a name")
                        .help(names::NAME_RULE),
                    );
                }
                let named = Named {
                    name_span: entry.key_span,
                    sql: sql::text(mistakes, &entry.value),
                    used: false,
                };
                (entry.key.clone(), named)
            })
            .collect();
        Self { named }
    }

    /// The SQL of a name that a step uses.
    pub(super) fn take(
        &mut self,
        mistakes: &mut Mistakes,
        name: &str,
        at: Span,
    ) -> Option<SqlText> {
        if let Some(named) = self.named.get_mut(name) {
            named.used = true;
            return named.sql.clone();
        }
        let known = self.named.keys().map(String::as_str);
        let help = names::suggestion(mistakes, name, known.clone(), "`statements:` has")
            .unwrap_or_else(|| {
                let shown = values::shown(name);
                format!("write it under `statements:` as `{shown}: SQL`")
            });
        // The one that was meant is not also "never used".
        let meant = names::closest(mistakes, name, known).map(str::to_owned);
        if let Some(named) = meant.and_then(|meant| self.named.get_mut(&meant)) {
            named.used = true;
        }
        mistakes.report(
            Mistake::new(
                at,
                format!("no statement is called `{}`", values::shown(name)),
            )
            .label("unknown statement")
            .help(help),
        );
        None
    }

    /// Reports the statements that no step uses.
    pub(super) fn refuse_unused(&self, mistakes: &mut Mistakes) {
        for (name, named) in self.named.iter().filter(|(_, named)| !named.used) {
            mistakes.report(
                Mistake::new(
                    named.name_span,
                    format!("the statement `{name}` is never used"),
                )
                .label("no step uses it")
                .help(format!(
                    "use it in a step, `- A: {{ use: {name} }}`, or take it out"
                )),
            );
        }
    }
}
