//! The matrix: values, of which each combination makes a case of the scenario.

use granit_parser::ScalarStyle;
use indexmap::IndexMap;

use super::super::source::Span;
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Kind, Node};
use super::values;

/// The most cases that one file makes.
const MOST_CASES: usize = 100;
/// The name of the only case of a scenario without a matrix.
const DEFAULT_CASE: &str = "default";

const HELP: &str =
    "write names with their values: `matrix: { isolation: [read committed, serializable] }`";

/// The values of each name.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    dimensions: IndexMap<String, Dimension>,
}

#[derive(Debug)]
struct Dimension {
    name_span: Span,
    values: Vec<Value>,
}

/// A value as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) style: ScalarStyle,
    pub(super) span: Span,
}

/// One value of each name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Combination<'a> {
    matrix: &'a Matrix,
    /// Its place among all of them.
    number: usize,
}

impl Matrix {
    /// Reads `matrix:`; `None` where a mistake leaves open what the cases are.
    pub(super) fn read(mistakes: &mut Mistakes, entry: &Entry) -> Option<Self> {
        let Kind::Mapping(entries) = &entry.value.kind else {
            values::expected(mistakes, &entry.value, "names with lists of values", HELP);
            return None;
        };
        if entries.is_empty() {
            mistakes.report(
                Mistake::new(entry.value.span, "a matrix without values")
                    .label("nothing in it")
                    .help(HELP),
            );
            return None;
        }
        let mut matrix = Self::default();
        let mut all_read = true;
        for entry in entries {
            match dimension(mistakes, entry) {
                Some(dimension) => {
                    matrix.dimensions.insert(entry.key.clone(), dimension);
                }
                None => all_read = false,
            }
        }
        all_read.then_some(())?;
        matrix.refuse_too_many(mistakes, entry)?;
        Some(matrix)
    }

    fn refuse_too_many(&self, mistakes: &mut Mistakes, entry: &Entry) -> Option<()> {
        let lengths = self.dimensions.values().map(|it| it.values.len());
        let cases = lengths.fold(1_usize, usize::saturating_mul);
        if cases <= MOST_CASES {
            return Some(());
        }
        let factors: Vec<String> = self
            .dimensions
            .values()
            .map(|dimension| dimension.values.len().to_string())
            .collect();
        let product = match &factors[..] {
            [_] => format!("{cases} cases"),
            _ => format!("{} = {cases} cases", factors.join(" × ")),
        };
        mistakes.report(
            Mistake::new(
                entry.key_span,
                format!("a matrix of more than {MOST_CASES} cases"),
            )
            .label(product)
            .help("take values out, or make two scenarios of it"),
        );
        None
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.dimensions.keys().map(String::as_str)
    }

    /// Where a name is written.
    pub(super) fn name_span(&self, name: &str) -> Option<Span> {
        Some(self.dimensions.get(name)?.name_span)
    }

    /// The values of a name.
    pub(super) fn values(&self, name: &str) -> Option<&[Value]> {
        Some(&self.dimensions.get(name)?.values)
    }

    /// How many combinations there are; one where there is no matrix.
    pub(super) fn len(&self) -> usize {
        self.dimensions.values().map(|it| it.values.len()).product()
    }

    /// The combinations; the values of the last name change first.
    pub(super) fn combinations(&self) -> impl Iterator<Item = Combination<'_>> {
        (0..self.len()).map(|number| Combination {
            matrix: self,
            number,
        })
    }

    /// The names of the cases. Reports two that are alike.
    pub(super) fn cases(&self, mistakes: &mut Mistakes) -> Vec<String> {
        if self.dimensions.is_empty() {
            return vec![DEFAULT_CASE.to_owned()];
        }
        let named = |with_names: bool| -> Vec<String> {
            let case = |combination: Combination<'_>| combination.joined(with_names);
            self.combinations().map(case).collect()
        };
        let short = named(false);
        let is_blank = |value: &Value| value.text.trim().is_empty();
        let mut values = self.dimensions.values().flat_map(|it| &it.values);
        let cases = match is_unique(&short) && !values.any(is_blank) {
            true => short,
            false => named(true),
        };
        for (name, dimension) in &self.dimensions {
            for (at, value) in dimension.values.iter().enumerate() {
                let same =
                    |other: &&Value| shown_in_case(&other.text) == shown_in_case(&value.text);
                let Some(first) = dimension.values[..at].iter().find(same) else {
                    continue;
                };
                mistakes.report(
                    Mistake::new(value.span, format!("`{name}` has a value twice"))
                        .label("again here")
                        .related(first.span, "first here")
                        .help("each combination of values is a case of its own name: keep one of them"),
                );
            }
        }
        if mistakes.is_empty() && !is_unique(&cases) {
            let first = self.dimensions.values().next();
            mistakes.report(
                Mistake::new(
                    first.map_or(Span { start: 0, end: 0 }, |first| first.name_span),
                    "two combinations of values have the same name",
                )
                .label("values of this matrix hold commas and equal signs")
                .help("write the values without them"),
            );
        }
        cases
    }
}

impl<'a> Combination<'a> {
    /// The matrix it is from.
    pub(super) const fn matrix(self) -> &'a Matrix {
        self.matrix
    }

    /// The value of a name.
    pub(super) fn value(self, name: &str) -> Option<&'a Value> {
        self.pairs()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    /// The names with their values.
    pub(super) fn pairs(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let mut rest = self.number;
        let mut below = self.matrix.len();
        self.matrix.dimensions.iter().map(move |(name, dimension)| {
            below /= dimension.values.len();
            let value = &dimension.values[rest / below];
            rest %= below;
            (name.as_str(), value)
        })
    }

    fn joined(self, with_names: bool) -> String {
        self.pairs()
            .map(|(name, value)| {
                let text = shown_in_case(&value.text);
                match with_names {
                    true => format!("{name}={text}"),
                    false => text,
                }
            })
            .collect::<Vec<_>>()
            .join(",")
    }
}

fn is_unique(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    names.iter().all(|name| seen.insert(name))
}

/// A value in the name of a case, which is one line.
fn shown_in_case(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn dimension(mistakes: &mut Mistakes, entry: &Entry) -> Option<Dimension> {
    let name = &entry.key;
    // The tree refused a key of this kind.
    if name.is_empty() {
        return None;
    }
    if !names::is_name(name) || name == "postgres" {
        let shown = values::shown(name);
        mistakes.report(
            Mistake::new(
                entry.key_span,
                format!("`{shown}` cannot be a name in a matrix"),
            )
            .label(if name == "postgres" {
                "this means the release"
            } else {
                "not a name"
            })
            .help(if name == "postgres" {
                "choose another name; `--pg` chooses the releases of a run"
            } else {
                names::NAME_RULE
            }),
        );
        return None;
    }
    let help = format!("write the values in brackets: `{name}: [one, two]`");
    let items = values::list(mistakes, &entry.value, "a list of values", &help)?;
    if items.is_empty() {
        mistakes.report(
            Mistake::new(entry.value.span, format!("`{name}` has no values"))
                .label("an empty list makes no case")
                .help(help),
        );
        return None;
    }
    let values: Vec<_> = items.iter().map(|item| value(mistakes, item)).collect();
    Some(Dimension {
        name_span: entry.key_span,
        values: values.into_iter().collect::<Option<_>>()?,
    })
}

fn value(mistakes: &mut Mistakes, node: &Node) -> Option<Value> {
    let help = "write one value; quote one that begins with `{` or `[`";
    match &node.kind {
        Kind::Scalar(scalar) if !node.is_empty_plain() => Some(Value {
            text: scalar.text.clone(),
            style: scalar.style,
            span: node.span,
        }),
        _ => {
            values::expected(mistakes, node, "a value", help);
            None
        }
    }
}
