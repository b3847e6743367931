//! The SQL under `statements:`, which steps use by name.

use super::super::source::{Span, SqlText};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::sql;
use super::tree::{Kind, Node};
use super::values;

/// The named statements of a scenario.
#[derive(Debug, Default)]
pub(super) struct Statements {
    named: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    name: String,
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
                Named {
                    name: entry.key.clone(),
                    name_span: entry.key_span,
                    sql: sql::script(mistakes, &entry.value),
                    used: false,
                }
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
        if let Some(named) = self.named.iter_mut().find(|named| named.name == name) {
            named.used = true;
            return named.sql.clone();
        }
        let known: Vec<&str> = self.named.iter().map(|named| named.name.as_str()).collect();
        let help = names::suggestion(name, known.iter().copied(), "`statements:` has")
            .unwrap_or_else(|| {
                format!(
                    "write it under `statements:` as `{}: SQL`",
                    values::shown(name)
                )
            });
        let meant = names::closest(name, known).map(str::to_owned);
        if let Some(named) = self
            .named
            .iter_mut()
            .find(|named| Some(&named.name) == meant.as_ref())
        {
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
        for named in self.named.iter().filter(|named| !named.used) {
            mistakes.report(
                Mistake::new(
                    named.name_span,
                    format!("the statement `{}` is never used", named.name),
                )
                .label("no step uses it")
                .help(format!(
                    "use it in a step, `- A: {{ use: {} }}`, or take it out",
                    named.name
                )),
            );
        }
    }
}
