//! What some releases do otherwise, in words: `differences:`.

use super::super::model::{Difference, ReleaseRange};
use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::release_range;
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "a difference",
    known: &["postgres", "what"],
    later: &[],
};

const HELP: &str =
    "write the releases, and what they do otherwise: `- { postgres: \"<15\", what: … }`";

/// Reads the differences of a scenario that is meaningful on some releases, as `written`.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    meaningful: &ReleaseRange,
    written: Option<&Node>,
) -> Vec<Difference> {
    let items = values::list(mistakes, node, "a list of differences", HELP).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| difference(mistakes, item, meaningful, written))
        .collect()
}

fn difference(
    mistakes: &mut Mistakes,
    node: &Node,
    meaningful: &ReleaseRange,
    written: Option<&Node>,
) -> Option<Difference> {
    let fields = Fields::of(mistakes, node, "a difference", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    let releases = fields
        .require(mistakes, "postgres", &KEYS, HELP)
        .and_then(|node| Some((release_range::read(mistakes, node)?, node)));
    let what = fields
        .require(mistakes, "what", &KEYS, HELP)
        .and_then(|node| {
            let help = "say in a line what these releases do otherwise";
            values::text(mistakes, node, "a text", help)
        });
    let (releases, range) = releases?;
    if let Some(written) = written {
        refuse_apart(mistakes, &releases, range, meaningful, written);
    }
    Some(Difference {
        span: node.span,
        releases,
        what: what?,
    })
}

/// Reports a range without any release that the scenario is meaningful on.
fn refuse_apart(
    mistakes: &mut Mistakes,
    releases: &ReleaseRange,
    range: &Node,
    meaningful: &ReleaseRange,
    written: &Node,
) {
    let comparisons = [releases, meaningful].map(|range| range.comparisons.clone());
    let both = ReleaseRange {
        comparisons: comparisons.concat(),
    };
    // What is wrong with either alone was told.
    let alone = [releases, meaningful];
    if alone.into_iter().all(release_range::is_possible) && !release_range::is_possible(&both) {
        mistakes.report(
            Mistake::new(range.span, "the scenario is for none of these releases")
                .label("a difference that nobody can see")
                .related(written.span, "it is for these")
                .help("name releases on which the scenario is meaningful"),
        );
    }
}
