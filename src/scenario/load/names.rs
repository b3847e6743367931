//! Names, and what somebody who misspelt one probably meant.

use super::mistakes::Mistakes;

/// The longest word that is compared with others, in bytes.
const LONGEST: usize = 64;
/// How much of a name's beginning stands for it, in bytes: `wait` for `wait_for`.
const SHORTEST_BEGINNING: usize = 3;
/// How many names a misspelt one is compared with.
const MOST_COMPARED: usize = 200;

/// The one name out of `known` that `written` was probably meant to be.
pub(crate) fn closest<'a>(
    mistakes: &Mistakes,
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written_lower = written.to_lowercase();
    // Long input is no misspelling of anything, and comparing it costs its square.
    if mistakes.are_many() || written.len() > LONGEST {
        return None;
    }
    let candidates: Vec<_> = known
        .into_iter()
        .take(MOST_COMPARED)
        .filter(|name| !name.is_empty() && name.len() <= LONGEST)
        .map(|name| {
            let distance = strsim::damerau_levenshtein(&written_lower, &name.to_lowercase());
            (distance, name)
        })
        .filter(|(distance, name)| {
            // Names that differ by case alone are as near as can be, however short they are.
            let longer = written.chars().count().max(name.chars().count());
            let begins = written.len() >= SHORTEST_BEGINNING
                && name.to_lowercase().starts_with(&written_lower);
            *distance <= longer / 3 || begins
        })
        .collect();
    let least = candidates.iter().map(|(distance, _)| *distance).min()?;
    let mut nearest = candidates
        .into_iter()
        .filter(|(distance, _)| *distance == least);
    // `worker-3` is as near to `worker-1` as to `worker-2`: no guess is better than either.
    match (nearest.next(), nearest.next()) {
        (Some((_, name)), None) => Some(name),
        _ => None,
    }
}

/// "did you mean" for a misspelt name, or else the names there are.
pub(crate) fn suggestion<'a>(
    mistakes: &Mistakes,
    written: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    what_there_is: &str,
) -> Option<String> {
    if mistakes.are_many() {
        return None;
    }
    if let Some(name) = closest(mistakes, written, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let names = listed(known);
    (!names.is_empty()).then(|| format!("{what_there_is} {names}"))
}

/// Names in back quotes with commas: "`A`, `B`"; the first dozen of many.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut names = names.into_iter();
    let mut list = names
        .by_ref()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.next().is_some() {
        list.push_str(", …");
    }
    list
}

/// Whether a text can be the name of a session, an id or a named statement.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

/// What [`is_name`] asks for, in words.
pub(super) const NAME_RULE: &str =
    "a name consists of letters, digits, `-` and `_`, and begins with a letter or a digit";
