//! The whole of a scenario: the keys at its top, and what holds across its parts.

use std::time::Duration;

use indexmap::IndexMap;

use super::super::model::{OwnServer, ReleaseRange, Scenario, Source};
use super::super::source::{SourceFile, SqlText};
use super::claims;
use super::clock;
use super::cluster;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::Node;
use super::release_range;
use super::server;
use super::sessions::{self, Sessions};
use super::sql;
use super::statements::Statements;
use super::steps;
use super::values::{self, Fields, Keys};
use super::{duration, tree};

const KEYS: Keys = Keys {
    of: "a scenario",
    known: &[
        "title",
        "summary",
        "tags",
        "postgres",
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
    ],
    later: &[
        "matrix",
        "schedules",
        "invariants",
        "redact",
        "watch",
        "superuser",
    ],
};

/// The name of the only case of a scenario without a matrix.
const DEFAULT_CASE: &str = "default";

/// Reads a file. Where it gives no scenario a mistake was reported.
pub(super) fn read(source: &SourceFile, mistakes: &mut Mistakes) -> Vec<Scenario> {
    let Some(root) = tree::parse(mistakes) else {
        return Vec::new();
    };
    scenario(source, &root, mistakes).into_iter().collect()
}

fn scenario(source: &SourceFile, root: &Node, mistakes: &mut Mistakes) -> Option<Scenario> {
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
    let sources = fields
        .get("sources")
        .map(|node| sources(mistakes, node))
        .unwrap_or_default();
    let setup = script(mistakes, &fields, "setup");
    let teardown = script(mistakes, &fields, "teardown");
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
    // With `schedules:` the steps stand under the sessions; that was refused as a whole.
    let steps = if fields.get("schedules").is_some() {
        steps::Steps::unknown()
    } else {
        match fields.require(
            mistakes,
            "steps",
            &KEYS,
            "say what happens: `steps:`, then one `- A: SQL` a line",
        ) {
            Some(node) => steps::read(mistakes, node, &mut sessions, &mut statements, clock),
            None => steps::Steps::unknown(),
        }
    };
    let claims = fields
        .get("claims")
        .map(|node| claims::read(mistakes, node, &steps, &sources))
        .unwrap_or_default();
    if steps.complete {
        statements.refuse_unused(mistakes);
        sessions.refuse_unused(mistakes);
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
        case: DEFAULT_CASE.to_owned(),
        matrix: Vec::new(),
        title: title?,
        summary,
        tags,
        postgres,
        sources: sources.into_iter().flatten().collect(),
        setup,
        teardown,
        sessions: sessions.into_model(),
        steps: steps.into_model(),
        claims,
        limits: limits.into_iter().map(|limit| limit.value).collect(),
        timeout,
        own_server,
        clock: clock.time(),
        redactions: Vec::new(),
    };
    cluster::check(mistakes, &scenario, has_server);
    Some(scenario)
}

fn script(mistakes: &mut Mistakes, fields: &Fields<'_>, key: &str) -> Option<SqlText> {
    let node = fields.get(key)?;
    sql::script(mistakes, node)
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
