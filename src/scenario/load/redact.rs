//! What is replaced in the server's answers: `redact:`.

use regex::Regex;

use super::super::model::Redaction;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "a redaction",
    known: &["pattern", "with"],
    later: &[],
};

const HELP: &str =
    "write what is replaced, and with what: `redact: [ { pattern: 'file \\d+', with: file <n> } ]`";

/// Texts in which a pattern that can match the empty text does so at some place.
const PROBES: [&str; 4] = ["", "a", "a 1-b", "\n"];

/// Reads `redact:`.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Vec<Redaction> {
    let items = values::list(mistakes, node, "a list of redactions", HELP).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| redaction(mistakes, item))
        .collect()
}

fn redaction(mistakes: &mut Mistakes, node: &Node) -> Option<Redaction> {
    let fields = Fields::of(mistakes, node, "a redaction", HELP)?;
    fields.refuse_others(mistakes, &KEYS);
    let pattern = fields
        .require(mistakes, "pattern", &KEYS, HELP)
        .and_then(|node| Some((pattern(mistakes, node)?, node)));
    let with = fields
        .require(mistakes, "with", &KEYS, HELP)
        .and_then(|node| {
            let help = "write what is shown instead: `with: <n>`";
            let scalar = values::scalar(mistakes, node, "text", help)?;
            Some((scalar.text.clone(), node))
        });
    let ((pattern, _), (replacement, replaced)) = (pattern?, with?);
    refuse_unknown_groups(mistakes, &pattern, &replacement, replaced);
    Some(Redaction {
        span: node.span,
        pattern,
        replacement,
    })
}

fn pattern(mistakes: &mut Mistakes, node: &Node) -> Option<Regex> {
    let help = "write a regular expression; in single quotes a backslash is only itself";
    let Kind::Scalar(scalar) = &node.kind else {
        values::expected(mistakes, node, "a regular expression", help);
        return None;
    };
    values::scalar(mistakes, node, "a regular expression", help)?;
    let pattern = match Regex::new(&scalar.text) {
        Ok(pattern) => pattern,
        Err(error) => {
            let told = error.to_string();
            // The last line says why, those before it draw the pattern once more.
            let why = told.lines().next_back().unwrap_or_default();
            mistakes.report(
                Mistake::new(node.span, "not a regular expression")
                    .label(why.trim_start_matches("error: "))
                    .help("a character that means itself has a backslash before it: `\\(`"),
            );
            return None;
        }
    };
    let is_empty = |probe: &str| pattern.find_iter(probe).any(|found| found.is_empty());
    if PROBES.iter().any(|probe| is_empty(probe)) {
        mistakes.report(
            Mistake::new(node.span, "a pattern that matches the empty text")
                .label("it would be found between any two characters")
                .help("write `+` for one or more where `*` stands for none or more"),
        );
        return None;
    }
    Some(pattern)
}

/// A `$2` that stands for no group would be replaced by nothing, without a word.
fn refuse_unknown_groups(mistakes: &mut Mistakes, pattern: &Regex, replacement: &str, node: &Node) {
    let groups = pattern.captures_len() - 1;
    let unknown = replacement.split('$').skip(1).find_map(|behind| {
        let length = behind
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(behind.len());
        let name = &behind[..length];
        let is_known = match name.parse::<usize>() {
            Ok(number) => number <= groups,
            Err(_) => name.is_empty() || pattern.capture_names().flatten().any(|it| it == name),
        };
        (!is_known).then(|| name.to_owned())
    });
    let Some(name) = unknown else { return };
    mistakes.report(
        Mistake::new(
            node.span,
            format!("the pattern has no group `{}`", values::shown(&name)),
        )
        .label(match groups {
            0 => "it has none".to_owned(),
            1 => "it has one".to_owned(),
            _ => format!("it has {groups}"),
        })
        .help("`$1` stands for the first group in parentheses; write `$$` for a dollar"),
    );
}
