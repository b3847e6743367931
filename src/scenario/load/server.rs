//! The server that a case has to itself.

use super::super::model::OwnServer;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::settings;
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "a server",
    known: &["own", "settings"],
    later: &[],
};

const HELP: &str = "write `server: own` for a server of the case's own; leave it out for a database on a server that cases share";

/// Reads `server:`.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<OwnServer> {
    if node.as_plain() == Some("own") {
        return Some(OwnServer {
            span: node.span,
            settings: Vec::new(),
        });
    }
    if !matches!(node.kind, Kind::Mapping(_)) {
        values::expected(mistakes, node, "`own`", HELP);
        return None;
    }
    let fields = Fields::of(mistakes, node, "a server", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    let own = fields.require(
        mistakes,
        "own",
        &KEYS,
        "only a server of the case's own has settings: `server: { own: true, settings: … }`",
    );
    if let Some(own) = own
        && values::boolean(mistakes, own).is_some_and(|own| !own.value)
    {
        mistakes.report(
            Mistake::new(
                own.span,
                "a server that is not the case's own is not asked for",
            )
            .label("this says nothing")
            .help("leave `server:` out"),
        );
    }
    Some(OwnServer {
        span: node.span,
        settings: fields
            .get("settings")
            .map(|node| settings::of_server(mistakes, node))
            .unwrap_or_default(),
    })
}
