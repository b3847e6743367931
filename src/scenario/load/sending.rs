//! What a session sends, in each of the forms in which a step may write it.

use super::super::model::{Bound, Param, Sending};
use super::super::source::{Spanned, SqlText};
use super::super::sql as lexical;
use super::mistakes::Mistake;
use super::names;
use super::node::{Entry, Kind, Node};
use super::sql::{self, Purpose};
use super::steps::Reader;
use super::text;
use super::values::{self, Fields, Keys};

/// The keys of the mapping behind a session's name.
pub(super) const SENDING: Keys = Keys {
    of: "a statement",
    known: &[
        "use", "sql", "params", "prepare", "execute", "pipeline", "data", "more",
    ],
    later: &[],
};

const CHECK_KEYS: Keys = Keys {
    of: "a check",
    known: &["use", "sql"],
    later: &[],
};

const PIPELINED_KEYS: Keys = Keys {
    of: "a statement of a pipeline",
    known: &["use", "sql", "params"],
    later: &[],
};

/// A form, by the key that tells it, with the other keys it may have.
const FORMS: &[(&str, &[&str])] = &[
    ("pipeline", &[]),
    ("execute", &["params"]),
    ("prepare", &["use", "sql"]),
    ("data", &["use", "sql", "more"]),
    ("params", &["use", "sql"]),
];

const PARAMS: &str = "write the values of `$1`, `$2`, …: `params: [1, done, null]`";
const DATA: &str =
    "write the lines as they are sent: `data: \"1\\tdone\\n\"`, or `|` and one row a line";

impl Reader<'_> {
    /// What the outside observer asks.
    pub(super) fn check(&mut self, node: &Node) -> Option<SqlText> {
        let sql = if matches!(node.kind, Kind::Mapping(_)) {
            let fields = Fields::of(self.mistakes, node, "SQL", "write SQL")?;
            fields.refuse_others(self.mistakes, &CHECK_KEYS);
            self.one_sql(&fields, node)?
        } else {
            sql::text(self.mistakes, node)?
        };
        sql::refuse_copy(self.mistakes, &sql, Purpose::Check);
        Some(sql)
    }

    /// What a session sends.
    pub(super) fn sending(&mut self, node: &Node) -> Option<Sending> {
        if !matches!(node.kind, Kind::Mapping(_)) {
            let sql = sql::text(self.mistakes, node)?;
            sql::refuse_copy(self.mistakes, &sql, Purpose::Step);
            return Some(Sending::Statements(sql));
        }
        let fields = Fields::of(self.mistakes, node, "SQL", "write SQL")?;
        fields.refuse_others(self.mistakes, &SENDING);
        let form = FORMS
            .iter()
            .find_map(|(key, others)| Some((fields.entry(key)?, *others)));
        let Some((telling, others)) = form else {
            self.refuse_more_alone(&fields);
            let sql = self.one_sql(&fields, node)?;
            sql::refuse_copy(self.mistakes, &sql, Purpose::Step);
            return Some(Sending::Statements(sql));
        };
        self.refuse_keys_of_other_forms(&fields, telling, others);
        match telling.key.as_str() {
            "pipeline" => self.pipeline(&telling.value),
            "execute" => self.execute(&telling.value, &fields),
            "prepare" => self.prepare(&telling.value, &fields, node),
            "data" => self.copy(&telling.value, &fields, node),
            _ => self.bound(&fields, node).map(Sending::Bound),
        }
    }

    fn refuse_keys_of_other_forms(
        &mut self,
        fields: &Fields<'_>,
        telling: &Entry,
        others: &[&str],
    ) {
        let strangers = SENDING
            .known
            .iter()
            .filter(|key| **key != telling.key && !others.contains(key))
            .filter_map(|key| fields.entry(key));
        for entry in strangers {
            let help = match (telling.key.as_str(), entry.key.as_str()) {
                ("prepare", "params") => {
                    "the values come when it runs: `{ execute: name, params: [ … ] }`"
                }
                ("execute", "use" | "sql") => {
                    "`execute` runs what `{ prepare: name, sql: … }` has prepared before"
                }
                ("pipeline", _) => {
                    "write it within the list: `pipeline: [ { sql: …, params: [ … ] } ]`"
                }
                _ => "make two steps of it",
            };
            self.mistakes.report(
                Mistake::new(
                    entry.key_span,
                    format!("`{}` does not go with `{}`", entry.key, telling.key),
                )
                .label("not here")
                .related(telling.key_span, "because of this")
                .help(help),
            );
        }
    }

    fn refuse_more_alone(&mut self, fields: &Fields<'_>) {
        let Some(more) = fields.entry("more") else {
            return;
        };
        self.mistakes.report(
            Mistake::new(more.key_span, "`more` leaves the stream of `data` open")
                .label("there is no `data` beside it")
                .help("write `data: …` beside it, or take it out"),
        );
    }

    /// The SQL of a mapping, in one of the two forms.
    pub(super) fn one_sql(&mut self, fields: &Fields<'_>, node: &Node) -> Option<SqlText> {
        match (fields.entry("use"), fields.entry("sql")) {
            (Some(named), None) => {
                let help = "name a statement of `statements:`: `{ use: claim }`";
                let name =
                    values::text(self.mistakes, &named.value, "the name of a statement", help)?;
                self.statements.take(self.mistakes, &name, named.value.span)
            }
            (None, Some(written)) => sql::text(self.mistakes, &written.value),
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
                let only_sql = fields.keys().all(|key| !SENDING.known.contains(&key));
                // Another key was refused already.
                if fields.is_empty() || !only_sql {
                    self.mistakes.report(
                        Mistake::new(
                            values::first_line(self.mistakes, node.span),
                            "no SQL to run",
                        )
                        .label("neither `use` nor `sql`")
                        .help("write the SQL itself, `{ use: name }` or `{ sql: … }`"),
                    );
                }
                None
            }
        }
    }

    /// The SQL of a mapping, which must be one statement.
    fn one_statement(&mut self, fields: &Fields<'_>, node: &Node, why: &str) -> Option<SqlText> {
        let sql = self.one_sql(fields, node)?;
        sql::refuse_several(self.mistakes, &sql, why);
        Some(sql)
    }

    fn bound(&mut self, fields: &Fields<'_>, node: &Node) -> Option<Bound> {
        let params = fields
            .get("params")
            .map_or_else(|| Some(Vec::new()), |node| self.params(node));
        let why = "parameters belong to one statement";
        let sql = self.one_statement(fields, node, why)?;
        sql::refuse_copy(self.mistakes, &sql, Purpose::Extended);
        let params = params?;
        if let Some(written) = fields.get("params") {
            sql::refuse_other_count(self.mistakes, &sql, params.len(), written.span);
        }
        Some(Bound { sql, params })
    }

    fn prepare(&mut self, name: &Node, fields: &Fields<'_>, node: &Node) -> Option<Sending> {
        let name = self.prepared_name(name);
        let sql = self.one_statement(fields, node, "one statement is prepared at a time")?;
        sql::refuse_copy(self.mistakes, &sql, Purpose::Extended);
        Some(Sending::Prepare { name: name?, sql })
    }

    fn execute(&mut self, name: &Node, fields: &Fields<'_>) -> Option<Sending> {
        let name = self.prepared_name(name);
        let params = match fields.get("params") {
            Some(node) => self.params(node)?,
            None => Vec::new(),
        };
        Some(Sending::Execute {
            name: name?,
            params,
        })
    }

    fn prepared_name(&mut self, node: &Node) -> Option<Spanned<String>> {
        let help = "give the prepared statement a name: `prepare: claim`";
        let name = values::text(self.mistakes, node, "a name", help)?;
        if !names::is_name(&name) {
            self.mistakes.report(
                Mistake::new(
                    node.span,
                    format!("`{}` cannot be a name", values::shown(&name)),
                )
                .label("not a name")
                .help(names::NAME_RULE),
            );
            return None;
        }
        Some(Spanned {
            value: name,
            span: node.span,
        })
    }

    fn pipeline(&mut self, node: &Node) -> Option<Sending> {
        let help = "write the statements in the order in which they are sent: `pipeline: [ BEGIN, { sql: …, params: [ … ] }, COMMIT ]`";
        let items = values::list(self.mistakes, node, "a list of statements", help)?;
        if items.is_empty() {
            self.mistakes.report(
                Mistake::new(node.span, "a pipeline without statements")
                    .label("no statement here")
                    .help(help),
            );
        }
        let bounds: Vec<_> = items.iter().map(|item| self.pipelined(item)).collect();
        bounds
            .into_iter()
            .collect::<Option<_>>()
            .map(Sending::Pipeline)
    }

    fn pipelined(&mut self, node: &Node) -> Option<Bound> {
        if matches!(node.kind, Kind::Mapping(_)) {
            let fields = Fields::of(self.mistakes, node, "SQL", "write SQL")?;
            fields.refuse_others(self.mistakes, &PIPELINED_KEYS);
            return self.bound(&fields, node);
        }
        let sql = sql::text(self.mistakes, node)?;
        let why = "each entry of a pipeline is one statement";
        sql::refuse_several(self.mistakes, &sql, why);
        sql::refuse_copy(self.mistakes, &sql, Purpose::Extended);
        Some(Bound {
            sql,
            params: Vec::new(),
        })
    }

    /// Values of parameters; each is sent as the text that is written.
    fn params(&mut self, node: &Node) -> Option<Vec<Param>> {
        let items = values::list(self.mistakes, node, "a list of values", PARAMS)?;
        let params: Vec<_> = items.iter().map(|item| self.param(item)).collect();
        params.into_iter().collect()
    }

    fn param(&mut self, node: &Node) -> Option<Param> {
        let Kind::Scalar(scalar) = &node.kind else {
            let help = "quote a value that begins with `{` or `[`: `'{1,2}'`";
            values::expected(self.mistakes, node, "a value", help);
            return None;
        };
        match node.as_plain() {
            Some("null") => Some(None),
            Some(plain) if node.is_nothing() => {
                self.mistakes.report(
                    Mistake::new(node.span, "neither SQL NULL nor text")
                        .label("YAML's null by another name")
                        .help(format!(
                            "write `null` for SQL NULL, `\"{plain}\"` for the text"
                        )),
                );
                None
            }
            _ => Some(Some(scalar.text.clone())),
        }
    }

    fn copy(&mut self, data: &Node, fields: &Fields<'_>, node: &Node) -> Option<Sending> {
        let more = match fields.get("more") {
            Some(node) => values::boolean(self.mistakes, node)?.value,
            None => false,
        };
        let data = match &data.kind {
            Kind::Scalar(scalar) if !data.is_nothing() => Some(text::sql_text(
                &self.mistakes.source().text,
                scalar,
                data.span,
            )),
            _ => {
                values::expected(self.mistakes, data, "the data of a COPY", DATA);
                None
            }
        };
        let has_sql = fields.entry("use").is_some() || fields.entry("sql").is_some();
        let sql = if has_sql {
            let sql = self.one_statement(fields, node, "data belongs to one COPY")?;
            let is_copy = lexical::copy_from_stdin(&sql.text).is_some();
            if !is_copy {
                let place = fields.entry("use").or(fields.entry("sql"));
                self.mistakes.report(
                    Mistake::new(
                        values::first_line(
                            self.mistakes,
                            place.map_or(node.span, |entry| entry.value.span),
                        ),
                        "data for a statement that reads none",
                    )
                    .label("no COPY … FROM STDIN")
                    .related(
                        values::first_line(
                            self.mistakes,
                            data.as_ref().map_or(node.span, |data| data.span),
                        ),
                        "the data",
                    )
                    .help("write `COPY … FROM STDIN`, or take the data out"),
                );
                return None;
            }
            Some(sql)
        } else {
            None
        };
        Some(Sending::Copy {
            sql,
            data: data?,
            more,
        })
    }
}
