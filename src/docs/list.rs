//! The list of scenarios, with what they claim and where it was seen.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::context::Context;
use super::differences;
use super::library::Entry;
use super::markdown;
use crate::scenario::{Difference, Spanned};
use crate::server::Release;

/// The list, by folder.
pub(super) fn render(context: &mut Context<'_>, path: &Spanned<String>) -> Option<String> {
    let entries = context.entries(path)?;
    let mut folders: IndexMap<PathBuf, Vec<&Entry>> = IndexMap::new();
    for entry in entries {
        let folder = entry.path.parent().unwrap_or(Path::new("")).to_path_buf();
        folders.entry(folder).or_default().push(entry);
        context.in_scenarios.extend(differences::unexplained(entry));
    }
    let mut list = String::from("\n");
    for (folder, entries) in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(list, "## {}\n", markdown::text(&name));
        for entry in entries {
            push(&mut list, context, entry);
        }
    }
    Some(list)
}

fn push(list: &mut String, context: &Context<'_>, entry: &Entry) {
    let scenario = entry.scenario();
    let link = markdown::link(scenario, &context.library.directory, context.folder);
    let _ = writeln!(list, "### {link}\n");
    if let Some(summary) = &scenario.summary {
        let _ = writeln!(list, "{}\n", markdown::text(summary));
    }
    for claim in &scenario.claims {
        let _ = writeln!(list, "- {}", markdown::text(&claim.claim));
    }
    if !scenario.claims.is_empty() {
        list.push('\n');
    }
    let verified = verified(entry);
    if verified.is_empty() {
        list.push_str("Not verified on any release yet.\n\n");
        return;
    }
    let _ = writeln!(list, "Verified on {}.\n", markdown::releases(&verified));
    for difference in &scenario.differences {
        let named = named(difference, &verified);
        let what = markdown::text(&difference.what);
        let _ = writeln!(list, "- On {}: {what}", markdown::releases(&named));
    }
    if !scenario.differences.is_empty() {
        list.push('\n');
    }
}

/// The releases of which every case has something accepted.
pub(super) fn verified(entry: &Entry) -> Vec<Release> {
    let Some((first, others)) = entry.cases.split_first() else {
        return Vec::new();
    };
    first
        .releases()
        .filter(|release| {
            others
                .iter()
                .all(|case| case.releases().any(|one| one == *release))
        })
        .collect()
}

/// Those among some releases that an entry of `differences:` names.
pub(super) fn named(difference: &Difference, releases: &[Release]) -> Vec<Release> {
    let names = |one: &Release| difference.releases.contains(&[one.major, one.minor]);
    releases.iter().copied().filter(names).collect()
}
