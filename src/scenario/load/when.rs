//! For which cases an expectation is: `when: { postgres: "<15", isolation: serializable }`.

use super::super::model::ReleaseRange;
use super::matrix::{Combination, Value};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::release_range;
use super::values;

const HELP: &str =
    "write for which releases or values of the matrix it is: `when: { postgres: \"<15\" }`";

/// The key that means the release.
const RELEASE: &str = "postgres";

/// Whether an expectation is for the case that is being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum When {
    /// It is, on these releases.
    On(ReleaseRange),
    /// It is for other values of the matrix.
    ElseWhere,
}

/// Reads `when:`.
pub(super) fn read(
    mistakes: &mut Mistakes,
    node: &Node,
    combination: Combination<'_>,
) -> Option<When> {
    let Kind::Mapping(entries) = &node.kind else {
        values::expected(mistakes, node, "a mapping of conditions", HELP);
        return None;
    };
    if entries.is_empty() {
        mistakes.report(
            Mistake::new(node.span, "a condition that says nothing")
                .label("an empty mapping")
                .help(HELP),
        );
    }
    let mut releases = Some(ReleaseRange::default());
    let mut all_hold = Some(true);
    for entry in entries.iter().filter(|entry| !entry.key.is_empty()) {
        if entry.key == RELEASE {
            releases = release_range::read(mistakes, &entry.value);
            continue;
        }
        let holds = holds(mistakes, entry, combination);
        all_hold = all_hold.zip(holds).map(|(all, this)| all && this);
    }
    let releases = releases?;
    Some(match all_hold? {
        true => When::On(releases),
        false => When::ElseWhere,
    })
}

/// Whether the case has the value, or one of the values, that a name is asked for.
fn holds(mistakes: &mut Mistakes, entry: &Entry, combination: Combination<'_>) -> Option<bool> {
    let name = entry.key.as_str();
    let matrix = combination.matrix();
    let (Some(values), Some(has)) = (matrix.values(name), combination.value(name)) else {
        refuse_name(mistakes, entry, combination);
        return None;
    };
    let help = format!("write a value of `{name}`, or several in brackets");
    let asked: Vec<&Node> = match &entry.value.kind {
        Kind::List(items) => items.iter().map(|item| &**item).collect(),
        _ => vec![&*entry.value],
    };
    let mut holds = Some(false);
    for node in asked {
        let written = values::text(mistakes, node, "a value of the matrix", &help);
        let known = written.filter(|written| is_known(mistakes, node, written, name, values));
        holds = holds
            .zip(known)
            .map(|(holds, written)| holds || has.text.trim() == written);
    }
    holds
}

fn is_known(
    mistakes: &mut Mistakes,
    node: &Node,
    written: &str,
    name: &str,
    values: &[Value],
) -> bool {
    let texts = values.iter().map(|value| value.text.trim());
    if texts.clone().any(|text| text == written) {
        return true;
    }
    let what = format!("`{name}` is");
    let help = names::suggestion(mistakes, written, texts, &what);
    mistakes.report(
        Mistake::new(
            node.span,
            format!("`{name}` is never `{}`", values::shown(written)),
        )
        .label("not a value of the matrix")
        .maybe_help(help),
    );
    false
}

fn refuse_name(mistakes: &mut Mistakes, entry: &Entry, combination: Combination<'_>) {
    let name = values::shown(&entry.key);
    let known = combination.matrix().names().chain([RELEASE]);
    let meant = names::closest(mistakes, &entry.key, known.clone());
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if combination.matrix().names().next().is_none() => format!(
            "the scenario has no matrix: write `matrix: {{ {name}: [ … ] }}` at the top of the file"
        ),
        None => format!("`when` may ask for {}", names::listed(known)),
    };
    mistakes.report(
        Mistake::new(
            entry.key_span,
            format!("`when` asks for `{name}`, which is no name of the matrix"),
        )
        .label("unknown name")
        .help(help),
    );
}
