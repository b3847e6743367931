//! The whole of a scenario: the keys at its top, and what holds across its parts.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;

use super::super::model::{OwnServer, ReleaseRange, Scenario, Source};
use super::super::source::SourceFile;
use super::by_case;
use super::claims;
use super::clock;
use super::cluster;
use super::differences;
use super::flow;
use super::invariants;
use super::matrix::{Combination, Matrix};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Kind, Node};
use super::redact;
use super::release_range;
use super::scheduled;
use super::server;
use super::sessions::{self, Sessions};
use super::sql;
use super::statements::Statements;
use super::steps::{self, Reader};
use super::substitute::{self, Meant};
use super::values::{self, Fields, Keys};
use super::virtual_clock;
use super::{duration, tree};

const KEYS: Keys = Keys {
    of: "a scenario",
    known: &[
        "title",
        "summary",
        "tags",
        "postgres",
        "differences",
        "sources",
        "setup",
        "teardown",
        "statements",
        "sessions",
        "steps",
        "claims",
        "limits",
        "timeout",
        "server",
        "clock",
        "matrix",
        "redact",
        "schedules",
        "invariants",
        "superuser",
        "carry_over",
    ],
    later: &["watch"],
};

/// Reads a file. Where it gives no scenario a mistake was reported.
pub(super) fn read(source: &SourceFile, mistakes: &mut Mistakes) -> Vec<Scenario> {
    let Some(root) = tree::parse(mistakes) else {
        return Vec::new();
    };
    let entries = match &root.kind {
        Kind::Mapping(entries) => entries.as_slice(),
        _ => &[],
    };
    let Some(entry) = entries.iter().find(|entry| entry.key == "matrix") else {
        let matrix = Matrix::default();
        return cases(source, &root, &matrix, &Meant::new(), mistakes);
    };
    let Some(matrix) = Matrix::read(mistakes, entry) else {
        return Vec::new();
    };
    if matrix.len().saturating_mul(root.nodes) > MOST_NODES
        || matrix.len().saturating_mul(root.text) > MOST_TEXT
    {
        mistakes.report(
            Mistake::new(
                entry.key_span,
                "the cases of the matrix are too large together",
            )
            .label(format!("{} cases of this file", matrix.len()))
            .help("take values out, or make two scenarios of it"),
        );
        return Vec::new();
    }
    let meant = substitute::check(mistakes, &root, &matrix);
    cases(source, &root, &matrix, &meant, mistakes)
}

/// Nodes and bytes of text in all the cases of a file.
const MOST_NODES: usize = 1_000_000;
const MOST_TEXT: usize = 16 << 20;

/// The scenarios of a file, one for each combination.
fn cases(
    source: &SourceFile,
    root: &Rc<Node>,
    matrix: &Matrix,
    meant: &Meant,
    mistakes: &mut Mistakes,
) -> Vec<Scenario> {
    let names = matrix.cases(mistakes);
    let mut scenarios = Vec::with_capacity(names.len());
    let mut found = Vec::with_capacity(names.len());
    for (combination, name) in matrix.combinations().zip(names) {
        let root = substitute::put(root, combination, meant);
        let mut of_case = Mistakes::new(source.clone());
        let scenario = scenario(source, &root, name, combination, &mut of_case);
        scenarios.extend(scenario);
        let are_many = of_case.are_many();
        found.push((combination, of_case));
        // Whoever has so many corrects some before he asks again.
        if are_many {
            break;
        }
    }
    by_case::merge(mistakes, found);
    scenarios
}

fn scenario(
    source: &SourceFile,
    root: &Node,
    case: String,
    combination: Combination<'_>,
    mistakes: &mut Mistakes,
) -> Option<Scenario> {
    let fields = Fields::of(
        mistakes,
        root,
        "a scenario",
        "begin with `title: …`, then `sessions: [A, B]` and `steps:`",
    )?;
    fields.refuse_others(mistakes, &KEYS);

    let title = fields
        .require(
            mistakes,
            "title",
            &KEYS,
            "name the race in a line: `title: Two workers claim different jobs`",
        )
        .and_then(|node| {
            values::text(mistakes, node, "a title", "name the race in a line of text")
        });
    let summary = fields.get("summary").and_then(|node| {
        values::text(
            mistakes,
            node,
            "a summary",
            "say in a sentence or two what the scenario shows",
        )
    });
    let tags = fields
        .get("tags")
        .map(|node| tags(mistakes, node))
        .unwrap_or_default();
    let postgres = fields
        .get("postgres")
        .and_then(|node| release_range::read(mistakes, node))
        .unwrap_or_else(ReleaseRange::default);
    let differences = fields
        .get("differences")
        .map(|node| differences::read(mistakes, node, &postgres, fields.get("postgres")))
        .unwrap_or_default();
    let sources = fields
        .get("sources")
        .map(|node| sources(mistakes, node))
        .unwrap_or_default();
    let setup = fields
        .get("setup")
        .map_or_else(Vec::new, |node| sql::scripts(mistakes, node));
    let teardown = fields
        .get("teardown")
        .and_then(|node| sql::script(mistakes, node));
    let limits = fields.get("limits").map_or_else(Vec::new, |node| {
        values::texts(
            mistakes,
            node,
            "a list of texts",
            "write one `- text` a line",
        )
    });
    let timeout = timeout(mistakes, &fields);
    let own_server = fields
        .get("server")
        .and_then(|node| server::read(mistakes, node));
    let clock = clock::read(mistakes, fields.get("clock"));
    let redactions = fields
        .get("redact")
        .map(|node| redact::read(mistakes, node))
        .unwrap_or_default();

    let superuser = fields.entry("superuser").and_then(|entry| {
        let asked = values::boolean(mistakes, &entry.value)?.value;
        asked.then_some(entry.key_span)
    });

    let mut statements = Statements::read(mistakes, fields.get("statements"));
    let mut sessions = match fields.require(
        mistakes,
        "sessions",
        &KEYS,
        "name the sessions: `sessions: [A, B]`",
    ) {
        Some(node) => sessions::read(mistakes, node),
        None => Sessions::unknown(),
    };
    let mut reader = Reader::new(mistakes, &mut sessions, &mut statements, clock, combination);
    let schedules = scheduled::read(&mut reader, &fields);
    let carries_over = scheduled::carries_over(reader.mistakes, &fields);
    let is_scheduled = fields.get("schedules").is_some();
    // Steps of sessions without an order were told of.
    if !is_scheduled && (reader.steps.complete || fields.get("steps").is_some()) {
        let help = "say what happens: `steps:`, then one `- A: SQL` a line";
        match fields.require(reader.mistakes, "steps", &KEYS, help) {
            Some(node) => steps::read(&mut reader, node),
            None => reader.steps.complete = false,
        }
    }
    invariants::read(&mut reader, fields.get("invariants"));
    let Reader { steps, .. } = reader;
    let claims = fields
        .get("claims")
        .map(|node| claims::read(mistakes, node, &steps, &sources))
        .unwrap_or_default();
    if steps.complete {
        statements.refuse_unused(mistakes);
        sessions.refuse_unused(mistakes);
        if !is_scheduled {
            flow::check(mistakes, &steps, &sessions);
        }
    }

    let own_server = own_server.or_else(|| {
        steps.stops_server.map(|span| OwnServer {
            span,
            settings: Vec::new(),
        })
    });
    // A server that is asked for in the wrong words is asked for.
    let has_server = own_server.is_some() || fields.get("server").is_some();
    let scenario = Scenario {
        source: source.clone(),
        case,
        matrix: combination
            .pairs()
            .map(|(name, value)| (name.to_owned(), value.text.clone()))
            .collect(),
        title: title?,
        summary,
        tags,
        postgres,
        differences,
        sources: sources.into_iter().flatten().collect(),
        setup,
        teardown,
        sessions: sessions.into_model(),
        steps: steps.into_model(),
        schedules: schedules.map(Arc::new),
        carries_over,
        claims,
        limits: limits.into_iter().map(|limit| limit.value).collect(),
        timeout,
        own_server,
        clock: clock.time(),
        redactions,
        superuser,
    };
    cluster::check(mistakes, &scenario, has_server);
    if clock.is_virtual() {
        virtual_clock::check(mistakes, &scenario);
    }
    Some(scenario)
}

fn timeout(mistakes: &mut Mistakes, fields: &Fields<'_>) -> Option<Duration> {
    duration::read(mistakes, fields.get("timeout")?)
}

fn tags(mistakes: &mut Mistakes, node: &Node) -> Vec<String> {
    let help = "write them in brackets: `tags: [queue, skip-locked]`";
    let mut tags = IndexMap::new();
    for tag in values::texts(mistakes, node, "a list of tags", help) {
        if !names::is_name(&tag.value) {
            mistakes.report(
                Mistake::new(
                    tag.span,
                    format!("`{}` is not a tag", values::shown(&tag.value)),
                )
                .label("not one word")
                .help("a tag consists of letters, digits, `-` and `_`"),
            );
        } else if let Some(first) = tags.get(&tag.value) {
            mistakes.report(
                Mistake::new(tag.span, format!("the tag `{}` is given twice", tag.value))
                    .label("again here")
                    .related(*first, "first here")
                    .help("keep one of them"),
            );
        } else {
            tags.insert(tag.value, tag.span);
        }
    }
    tags.into_keys().collect()
}

const SOURCE_KEYS: Keys = Keys {
    of: "a source",
    known: &["title", "url"],
    later: &[],
};

/// The sources; `None` stands for one with a mistake, so that claims still count rightly.
fn sources(mistakes: &mut Mistakes, node: &Node) -> Vec<Option<Source>> {
    let help = "write one a line: `- { title: \"…\", url: \"https://…\" }`";
    let Some(items) = values::list(mistakes, node, "a list of sources", help) else {
        return Vec::new();
    };
    items
        .iter()
        .map(|item| source(mistakes, item, help))
        .collect()
}

fn source(mistakes: &mut Mistakes, node: &Node, help: &str) -> Option<Source> {
    let fields = Fields::of(mistakes, node, "a source", help)?;
    fields.refuse_others(mistakes, &SOURCE_KEYS);
    let title = fields
        .require(
            mistakes,
            "title",
            &SOURCE_KEYS,
            "say what the document is called",
        )
        .and_then(|node| {
            values::text(mistakes, node, "a title", "say what the document is called")
        });
    let url = match fields.get("url") {
        Some(node) => Some(url(mistakes, node)?),
        None => None,
    };
    Some(Source { title: title?, url })
}

fn url(mistakes: &mut Mistakes, node: &Node) -> Option<String> {
    let help = "write the whole address: `https://www.postgresql.org/docs/18/…`";
    let text = values::text(mistakes, node, "an address", help)?;
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let problem = match host {
        None => "it does not begin with `https://` or `http://`",
        Some("") => "it names no host",
        Some(_) if text.contains(|c: char| c.is_whitespace() || "<>\"`{}|\\^".contains(c)) => {
            "it holds a character that cannot stand in an address"
        }
        Some(_) => return Some(text),
    };
    mistakes.report(
        Mistake::new(node.span, "not an address that a reader can follow")
            .label(problem)
            .help(help),
    );
    None
}
