//! `${name}` in the values of a file, and what the matrix puts there.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::super::source::SqlText;
use super::matrix::{Combination, Matrix};
use super::mistakes::{Mistake, Mistakes};
use super::names;
use super::node::{Entry, Inserted, Kind, Node, Scalar, Written};
use super::sql;
use super::text;
use super::values;

/// A `${name}` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference<'a> {
    range: Range<usize>,
    name: &'a str,
    /// Whether the dollar before it makes it doubtful: `$${name}`, which may be the beginning of a
    /// dollar-quoted string.
    doubtful: bool,
}

/// The references in a text, in order. A dollar quote, such as `$$` or `$body$`, holds none.
fn references(text: &str) -> Vec<Reference<'_>> {
    let mut references = Vec::new();
    let mut at = 0;
    while let Some(dollar) = text[at..].find('$') {
        let start = at + dollar;
        let rest = &text[start + 1..];
        if let Some(name) = braced(rest) {
            let end = start + "${}".len() + name.len();
            references.push(Reference {
                range: start..end,
                name,
                doubtful: false,
            });
            at = end;
            continue;
        }
        let quote = dollar_quote(rest).map_or(1, |tag| tag.len() + "$$".len());
        at = start + quote;
        if quote > 1
            && let Some(name) = braced(&text[at..])
        {
            let end = at + "{}".len() + name.len();
            references.push(Reference {
                range: start..end,
                name,
                doubtful: true,
            });
            at = end;
        }
    }
    references
}

/// The name in the braces with which a text begins.
fn braced(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    names::is_name(name).then_some(name)
}

/// The tag of the dollar quote that a text goes on with behind its first dollar.
fn dollar_quote(text: &str) -> Option<&str> {
    let (tag, _) = text.split_once('$')?;
    let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit())
        && tag.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_tag.then_some(tag)
}

/// Names that are not in the matrix, with those that were probably meant.
pub(super) type Meant = HashMap<String, String>;

/// Reports references to names that are not in the matrix, and names that nothing refers to.
pub(super) fn check(mistakes: &mut Mistakes, root: &Node, matrix: &Matrix) -> Meant {
    let mut used = HashSet::new();
    let mut meant = Meant::new();
    if let Kind::Mapping(entries) = &root.kind {
        for entry in entries.iter().filter(|entry| entry.key != "matrix") {
            look(mistakes, &entry.value, matrix, &mut used, &mut meant);
        }
    }
    for name in matrix.names().filter(|name| !used.contains(*name)) {
        let Some(span) = matrix.name_span(name) else {
            continue;
        };
        mistakes.report(
            Mistake::new(span, format!("the values of `{name}` are never used"))
                .label("each case would be the same")
                .help(format!(
                    "write `${{{name}}}` where a value belongs, or take it out"
                )),
        );
    }
    meant
}

fn look<'a>(
    mistakes: &mut Mistakes,
    node: &'a Node,
    matrix: &'a Matrix,
    used: &mut HashSet<&'a str>,
    meant: &mut Meant,
) {
    match &node.kind {
        Kind::List(items) => {
            for item in items {
                look(mistakes, item, matrix, used, meant);
            }
        }
        Kind::Mapping(entries) => {
            for entry in entries {
                look(mistakes, &entry.value, matrix, used, meant);
            }
        }
        Kind::Scalar(scalar) => {
            let references = references(&scalar.text);
            if references.is_empty() {
                return;
            }
            let whole = text::sql_text(&mistakes.source().text, scalar, node.span);
            for reference in references {
                let known = matrix.values(reference.name).is_some();
                if known {
                    used.insert(reference.name);
                }
                if known && reference.doubtful {
                    refuse_doubtful(mistakes, &whole, &reference);
                } else if !known && !reference.doubtful {
                    let written = reference.name;
                    if let Some(name) = names::closest(mistakes, written, matrix.names()) {
                        used.insert(name);
                        meant.insert(written.to_owned(), name.to_owned());
                    }
                    refuse_unknown(mistakes, &whole, &reference, matrix);
                }
            }
        }
    }
}

fn refuse_unknown(
    mistakes: &mut Mistakes,
    whole: &SqlText,
    reference: &Reference<'_>,
    matrix: &Matrix,
) {
    let name = values::shown(reference.name);
    let help = names::suggestion(
        mistakes,
        reference.name,
        matrix.names(),
        "the matrix has values for",
    );
    let place = sql::place(mistakes, whole, reference.range.clone());
    mistakes.report(
        Mistake::new(place, format!("the matrix has no `{name}`"))
            .label("nothing to put here")
            .maybe_help(help),
    );
}

fn refuse_doubtful(mistakes: &mut Mistakes, whole: &SqlText, reference: &Reference<'_>) {
    let name = reference.name;
    let place = sql::place(mistakes, whole, reference.range.clone());
    mistakes.report(
        Mistake::new(
            place,
            format!("either a dollar quote and `{{{name}}}`, or a dollar and `${{{name}}}`"),
        )
        .label("both can be meant")
        .help(format!(
            "for the value in dollar quotes write `$$${{{name}}}$$`"
        )),
    );
}

/// The file with the values of one combination.
pub(super) fn put(root: &Rc<Node>, combination: Combination<'_>, meant: &Meant) -> Rc<Node> {
    let Kind::Mapping(entries) = &root.kind else {
        return root.clone();
    };
    let entries = entries.iter().map(|entry| match entry.key.as_str() {
        "matrix" => entry.clone(),
        _ => put_in_entry(entry, combination, meant).unwrap_or_else(|| entry.clone()),
    });
    Rc::new(Node {
        span: root.span,
        kind: Kind::Mapping(entries.collect()),
        nodes: root.nodes,
        text: root.text,
    })
}

fn put_in_entry(entry: &Entry, combination: Combination<'_>, meant: &Meant) -> Option<Entry> {
    Some(Entry {
        key: entry.key.clone(),
        key_span: entry.key_span,
        value: put_in(&entry.value, combination, meant)?,
    })
}

/// A node with the values; `None` where nothing changes.
fn put_in(node: &Node, combination: Combination<'_>, meant: &Meant) -> Option<Rc<Node>> {
    let kind = match &node.kind {
        Kind::List(items) => {
            let changed: Vec<_> = items
                .iter()
                .map(|item| put_in(item, combination, meant))
                .collect();
            changed.iter().any(Option::is_some).then_some(())?;
            let items = changed.into_iter().zip(items);
            Kind::List(
                items
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                    .collect(),
            )
        }
        Kind::Mapping(entries) => {
            let changed: Vec<_> = entries
                .iter()
                .map(|entry| put_in_entry(entry, combination, meant))
                .collect();
            changed.iter().any(Option::is_some).then_some(())?;
            let entries = changed.into_iter().zip(entries);
            Kind::Mapping(
                entries
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                    .collect(),
            )
        }
        Kind::Scalar(scalar) => Kind::Scalar(put_in_scalar(scalar, combination, meant)?),
    };
    Some(Rc::new(Node {
        span: node.span,
        kind,
        nodes: node.nodes,
        text: node.text,
    }))
}

fn put_in_scalar(scalar: &Scalar, combination: Combination<'_>, meant: &Meant) -> Option<Scalar> {
    let mut text = String::with_capacity(scalar.text.len());
    let mut style = scalar.style;
    let mut inserted = Vec::new();
    let mut done = 0;
    for reference in references(&scalar.text) {
        let name = meant
            .get(reference.name)
            .map_or(reference.name, |name| name);
        let value = combination.value(name);
        let Some(value) = value.filter(|_| !reference.doubtful) else {
            continue;
        };
        text.push_str(&scalar.text[done..reference.range.start]);
        let start = text.len();
        text.push_str(&value.text);
        inserted.push(Inserted {
            written: reference.range.clone(),
            put: start..text.len(),
        });
        done = reference.range.end;
        // What is nothing but a value is what the value is: a number, true, null.
        if reference.range == (0..scalar.text.len()) {
            style = value.style;
        }
    }
    if inserted.is_empty() {
        return None;
    }
    text.push_str(&scalar.text[done..]);
    Some(Scalar {
        text,
        style,
        raw: scalar.raw,
        written: Some(Written {
            text: scalar.text.clone(),
            style: scalar.style,
            inserted,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::references;

    #[test]
    fn references_are_told_from_parameters_and_dollar_quotes() {
        for (text, found) in [
            ("${a}", &["a"][..]),
            ("SET x = ${a-1};${b_2}", &["a-1", "b_2"]),
            ("$1 ${a} $2", &["a"]),
            ("$1${a}", &["a"]),
            ("$$ ${a} $$", &["a"]),
            ("$$${a}$$", &["a"]),
            ("$body$${a}$body$", &["a"]),
            ("${} ${ a } ${a", &[]),
            ("$a $b", &[]),
            ("é$${a}", &["?a"]),
            ("$x${a}", &["?a"]),
            ("$", &[]),
        ] {
            let names: Vec<String> = references(text)
                .into_iter()
                .map(|it| format!("{}{}", if it.doubtful { "?" } else { "" }, it.name))
                .collect();
            assert_eq!(names, found, "{text}");
        }
    }
}
