//! From the paths on the command line to the specs that are meant.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::args::RunOptions;
use super::super::exit::ExitStatus;
use super::super::output::Output;
use super::super::select::TRUSTED;
use crate::isolation::{self, Spec, superuser_needs};
use crate::scenario::{self, Diagnostic};
use crate::words::count;

/// The specs that a run is of; nothing if it is of scenarios.
pub(in crate::cli) fn specs(
    options: &RunOptions,
    output: Output,
) -> Result<Option<Vec<Arc<Spec>>>, ExitStatus> {
    let paths = &options.selection.paths;
    // A path that is not there is the scenarios' to tell.
    let found = isolation::discover(&spec_paths(paths)).unwrap_or_default();
    if found.is_empty() {
        return match options.isolation.stray() {
            None => Ok(None),
            Some(option) => {
                output.fail(
                    format_args!("`{option}` is for isolation specs, and there is none here"),
                    Some("name a file that ends in .spec, or a folder of such"),
                );
                Err(ExitStatus::Invalid)
            }
        };
    }
    let scenarios = scenario::discover(paths).unwrap_or_default();
    let scenario = scenarios.iter().find(|path| !isolation::is_spec(path));
    if let Some(scenario) = scenario {
        output.fail(
            format_args!(
                "a run is of specs or of scenarios, and here are both: {} and {}",
                found[0].display(),
                scenario.display()
            ),
            Some("name those that are meant"),
        );
        return Err(ExitStatus::Invalid);
    }
    if let Some(tag) = options.selection.tags.first() {
        output.fail(
            format_args!("specs have no tags, so none has `{tag}`"),
            Some("`-k` selects them by their path"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    let selected: Vec<PathBuf> = found
        .iter()
        .filter(|path| is_meant(options, path))
        .cloned()
        .collect();
    if selected.is_empty() {
        output.fail(
            format_args!("none of {} is selected", count(found.len(), "spec")),
            Some("look at the words behind `-k`, and at `--shard`"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    let specs = load(&selected, output)?;
    if !options.server.allow_superuser {
        refuse_superusers(&specs, output)?;
    }
    Ok(Some(specs))
}

/// The paths that can lead to specs: a file that is none is not looked into.
fn spec_paths(paths: &[PathBuf]) -> Vec<&PathBuf> {
    paths
        .iter()
        .filter(|path| path.is_dir() || isolation::is_spec(path))
        .collect()
}

fn is_meant(options: &RunOptions, path: &std::path::Path) -> bool {
    let name = path.to_string_lossy();
    let selection = &options.selection;
    let contains = selection
        .containing
        .as_ref()
        .is_none_or(|text| name.contains(text.as_str()));
    contains
        && options
            .shard
            .is_none_or(|shard| shard.contains(&name, "spec"))
}

/// Reads specs, all of which must be right.
pub(super) fn load(paths: &[PathBuf], output: Output) -> Result<Vec<Arc<Spec>>, ExitStatus> {
    let mut specs = Vec::with_capacity(paths.len());
    let mut mistakes: Vec<Diagnostic> = Vec::new();
    let mut wrong = 0;
    for path in paths {
        match scenario::read(path) {
            Ok(source) => match isolation::parse(&source) {
                Ok(spec) => specs.push(Arc::new(spec)),
                Err(found) => {
                    mistakes.extend(found);
                    wrong += 1;
                }
            },
            Err(error) => {
                output.fail(error, None);
                wrong += 1;
            }
        }
    }
    if wrong == 0 {
        return Ok(specs);
    }
    output.draw(&mistakes);
    if !mistakes.is_empty() {
        output.say(format_args!(
            "\n{} in {}; nothing can be run before that is mended",
            count(mistakes.len(), "mistake"),
            count(wrong, "file")
        ));
    }
    Err(ExitStatus::Invalid)
}

/// A spec is somebody's SQL, and a superuser can run programs: that must be asked for.
fn refuse_superusers(specs: &[Arc<Spec>], output: Output) -> Result<(), ExitStatus> {
    let refused: Vec<Diagnostic> = specs
        .iter()
        .filter_map(|spec| {
            let need = superuser_needs(spec).into_iter().next()?;
            Some(Diagnostic {
                source: spec.source.clone(),
                message: format!("`{}` is only for a superuser", need.what),
                span: need.span,
                label: "needs more than the rights of a database's owner".to_owned(),
                related: Vec::new(),
                help: Some(TRUSTED.to_owned()),
            })
        })
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    output.draw(&refused);
    output.say(format_args!(
        "\n{} of {} need a superuser",
        refused.len(),
        count(specs.len(), "spec")
    ));
    Err(ExitStatus::Invalid)
}
