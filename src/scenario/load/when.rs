//! For which cases an expectation is: `when: { postgres: "<15" }`.

use super::super::model::ReleaseRange;
use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::release_range;
use super::values::{Fields, Keys};

const KEYS: Keys = Keys {
    of: "`when`",
    known: &["postgres"],
    later: &[],
};

const HELP: &str = "write for which releases it is: `when: { postgres: \"<15\" }`";

/// What holds in every case.
pub(super) fn always() -> Option<ReleaseRange> {
    Some(ReleaseRange::default())
}

/// Reads `when:`, and gives the releases for which it holds.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<ReleaseRange> {
    let fields = Fields::of(mistakes, node, "a mapping of conditions", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    if fields.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a condition that says nothing")
                .label("an empty mapping")
                .help(HELP),
        );
    }
    match fields.get("postgres") {
        Some(node) => release_range::read(mistakes, node),
        None => always(),
    }
}
