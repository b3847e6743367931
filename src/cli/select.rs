//! From the paths on the command line to the scenarios that are meant.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::Selection;
use super::exit::ExitStatus;
use super::output::Output;
use crate::scenario::{Diagnostic, Loaded, Scenario, discover, load_all};
use crate::snapshot::Layout;
use crate::words::count;

/// The folder that is meant where no path is named.
const DEFAULT_FOLDER: &str = "scenarios";
/// What the names of scenario files end in.
const EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// What it takes to run something as a superuser.
pub(super) const TRUSTED: &str = "if you trust it, run it with `--allow-superuser`: it may then run \
     programs and read files on the machine of the server";

/// The paths that are named, or the default one.
pub(super) fn named_or_default(named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() {
        vec![PathBuf::from(DEFAULT_FOLDER)]
    } else {
        named.to_vec()
    }
}

/// What the command line selects.
pub(super) struct Selected {
    /// The scenarios to replay.
    pub scenarios: Vec<Arc<Scenario>>,
    /// Those that were filtered out.
    pub left_out: Vec<Scenario>,
    /// The files of both.
    pub found: Vec<PathBuf>,
}

impl Selected {
    /// The files of the scenarios.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let paths = self.scenarios.iter();
        let mut paths: Vec<_> = paths.map(|scenario| scenario.source.path.clone()).collect();
        // The cases of a matrix stand side by side.
        paths.dedup();
        paths
    }
}

/// The scenarios that are selected. Every mistake in any of the files is told; then nothing is
/// selected at all.
pub(super) fn select(selection: &Selection, output: Output) -> Result<Selected, ExitStatus> {
    let found = find(&selection.paths, output)?;
    let scenarios = load(&found, output)?;
    let (selected, left_out): (Vec<_>, Vec<_>) = scenarios
        .into_iter()
        .partition(|scenario| is_meant(selection, scenario));
    if selected.is_empty() {
        output.fail(
            format_args!("none of {} is selected", count(found.len(), "scenario")),
            Some("look at the words behind `-k` and `--tag`"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    Ok(Selected {
        scenarios: selected.into_iter().map(Arc::new).collect(),
        left_out,
        found,
    })
}

/// A scenario is somebody's SQL, and a superuser can run programs: that must be asked for twice.
pub(super) fn refuse_superusers<'a>(
    scenarios: impl IntoIterator<Item = &'a Scenario>,
    output: Output,
) -> Result<(), ExitStatus> {
    let mut refused: Vec<Diagnostic> = scenarios
        .into_iter()
        .filter_map(|scenario| {
            Some(Diagnostic {
                source: scenario.source.clone(),
                message: "this scenario asks for a superuser".to_owned(),
                span: scenario.superuser?,
                label: "more than the rights of a database's owner".to_owned(),
                related: Vec::new(),
                help: Some(TRUSTED.to_owned()),
            })
        })
        .collect();
    // The cases of a matrix ask for the same.
    refused.dedup();
    if refused.is_empty() {
        return Ok(());
    }
    output.draw(&refused);
    Err(ExitStatus::Invalid)
}

/// Reads scenario files, all of which must be right.
pub(super) fn load(paths: &[PathBuf], output: Output) -> Result<Vec<Scenario>, ExitStatus> {
    let Loaded {
        scenarios,
        mistakes,
        unreadable,
    } = load_all(paths);
    if mistakes.is_empty() && unreadable.is_empty() {
        return Ok(scenarios);
    }
    output.draw(&mistakes);
    for error in &unreadable {
        output.fail(error, None);
    }
    if !mistakes.is_empty() {
        let mut files: Vec<&PathBuf> = mistakes
            .iter()
            .map(|mistake| &mistake.source.path)
            .collect();
        files.dedup();
        output.say(format_args!(
            "\n{} in {}; nothing can be run before that is mended",
            count(mistakes.len(), "mistake"),
            count(files.len(), "file")
        ));
    }
    Err(ExitStatus::Invalid)
}

/// The scenario files that are named or lie in the folders that are named; there is at least one.
pub(super) fn find(named: &[PathBuf], output: Output) -> Result<Vec<PathBuf>, ExitStatus> {
    let paths = named_or_default(named);
    if named.is_empty() && !paths.iter().all(|path| path.is_dir()) {
        output.fail(
            format_args!("there is no folder `{DEFAULT_FOLDER}` here"),
            Some("name the files or folders that are meant"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    let found = discover(&paths).map_err(|error| {
        output.fail(&error, None);
        ExitStatus::Invalid
    })?;
    if found.is_empty() {
        let places: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        output.fail(
            format_args!("no scenario in {}", places.join(", ")),
            Some("a scenario is a file whose name ends in .yaml or .yml"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    refuse_twins(&found, output)?;
    Ok(found)
}

/// Refuses files that would have the same snapshots, such as `a.yaml` and `a.yml` in one folder,
/// also where only one of them is meant.
fn refuse_twins(found: &[PathBuf], output: Output) -> Result<(), ExitStatus> {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut owners: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let mut clashes = Vec::new();
    for path in found {
        match owners.entry(Layout::of(&whole(path)).folder) {
            Entry::Vacant(vacant) => {
                vacant.insert(path);
            }
            Entry::Occupied(owner) => clashes.push((owner.get().to_path_buf(), path.clone())),
        }
    }
    let known: BTreeSet<PathBuf> = found.iter().map(|path| whole(path)).collect();
    for path in found {
        let twins = EXTENSIONS.map(|extension| path.with_extension(extension));
        let unknown = twins
            .into_iter()
            .filter(|twin| !known.contains(&whole(twin)));
        clashes.extend(
            unknown
                .filter(|twin| twin.is_file())
                .map(|twin| (path.clone(), twin)),
        );
    }
    for (path, twin) in &clashes {
        output.fail(
            format_args!(
                "{} and {} would have the same snapshots",
                path.display(),
                twin.display()
            ),
            Some("rename one of them"),
        );
    }
    if clashes.is_empty() {
        Ok(())
    } else {
        Err(ExitStatus::Invalid)
    }
}

fn is_meant(selection: &Selection, scenario: &Scenario) -> bool {
    let path = scenario.source.path.to_string_lossy();
    let named = selection.containing.as_ref().is_none_or(|text| {
        // Without a matrix nobody has named the case.
        let case = (!scenario.matrix.is_empty()).then_some(scenario.case.as_str());
        [Some(&*path), Some(&*scenario.title), case]
            .into_iter()
            .flatten()
            .any(|name| name.contains(text.as_str()))
    });
    named && selection.tags.iter().all(|tag| scenario.tags.contains(tag))
}
