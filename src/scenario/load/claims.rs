//! The claims of a scenario, and the steps that demonstrate them.

use super::super::model::{Claim, Source};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::Node;
use super::steps::Steps;
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "a claim",
    known: &["claim", "steps", "sources"],
    later: &[],
};

const HELP: &str =
    "write the sentence and the ids of the steps that show it: `- { claim: …, steps: [a-claims] }`";

/// Reads the claims. A source that is `None` has a mistake of its own, but counts.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    steps: &Steps,
    sources: &[Option<Source>],
) -> Vec<Claim> {
    let Some(items) = values::list(mistakes, node, "a list of claims", HELP) else {
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| claim(mistakes, item, steps, sources))
        .collect()
}

fn claim(
    mistakes: &mut Mistakes,
    node: &Node,
    steps: &Steps,
    sources: &[Option<Source>],
) -> Option<Claim> {
    let fields = Fields::of(mistakes, node, "a claim", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    let sentence = fields
        .require(mistakes, "claim", &KEYS, HELP)
        .and_then(|node| values::text(mistakes, node, "a sentence", HELP));
    let steps = fields
        .require(mistakes, "steps", &KEYS, HELP)
        .map(|node| demonstrated_by(mistakes, node, steps));
    let sources = fields
        .get("sources")
        .map(|node| documented_by(mistakes, node, sources))
        .unwrap_or_default();
    Some(Claim {
        claim: sentence?,
        steps: steps?,
        sources,
    })
}

fn demonstrated_by(mistakes: &mut Mistakes, node: &Node, steps: &Steps) -> Vec<usize> {
    let help = "name the steps by their ids: `steps: [a-claims]`";
    let Some(items) = values::list(mistakes, node, "a list of ids", help) else {
        return Vec::new();
    };
    if items.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a claim that no step demonstrates")
                .label("no step here")
                .help(help),
        );
    }
    let mut positions = Vec::new();
    for item in items {
        let Some(id) = values::text(mistakes, item, "the id of a step", help) else {
            continue;
        };
        let Some(step) = steps.identified(&id) else {
            if !steps.is_unknown() {
                let shown = values::shown(&id);
                let suggestion =
                    names::suggestion(mistakes, &id, steps.ids(), "the steps with an id are")
                        .unwrap_or_else(|| format!("give a step this id: `id: {shown}`"));
                mistakes.report(
                    Mistake::new(item.span, format!("no step has the id `{shown}`"))
                        .label("unknown step")
                        .help(suggestion),
                );
            }
            continue;
        };
        if step.is_prose {
            mistakes.report(
                Mistake::new(item.span, "prose demonstrates nothing")
                    .label("this is a `say` step")
                    .related(step.span, "it has its id here")
                    .help("name a step that runs SQL"),
            );
        } else if positions.contains(&step.position) {
            mistakes.report(
                Mistake::new(item.span, "a claim names a step twice")
                    .label("again here")
                    .help("name each step once"),
            );
        } else {
            positions.push(step.position);
        }
    }
    positions
}

fn documented_by(mistakes: &mut Mistakes, node: &Node, sources: &[Option<Source>]) -> Vec<usize> {
    let help = "count the entries of `sources:` from 1: `sources: [1]`";
    let Some(items) = values::list(mistakes, node, "a list of numbers", help) else {
        return Vec::new();
    };
    let mut positions = Vec::new();
    for item in items {
        let Some(number) = values::number(mistakes, item, "the number of a source") else {
            continue;
        };
        let position = usize::try_from(number.value)
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|position| *position < sources.len());
        match position {
            Some(position) if positions.contains(&position) => mistakes.report(
                Mistake::new(item.span, "a claim names a source twice")
                    .label("again here")
                    .help("name each source once"),
            ),
            Some(position) => positions.push(position),
            None => mistakes.report(
                Mistake::new(item.span, format!("there is no source {}", number.value))
                    .label(match sources.len() {
                        0 => "the scenario has no sources".to_owned(),
                        1 => "the scenario has one source".to_owned(),
                        count => format!("the scenario has {count} sources"),
                    })
                    .help(help),
            ),
        }
    }
    positions
}
