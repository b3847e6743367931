//! `lockstep docs`: fills the generated parts of Markdown files, or verifies them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::args::{DocsAction, DocsOptions};
use super::environment::Environment;
use super::exit::ExitStatus;
use super::output::Output;
use super::pins;
use super::select::load;
use crate::docs::{Case, Entry, Library, Page};
use crate::runner::expect::allowed_in;
use crate::scenario::{Diagnostic, Scenario, SourceFile, discover, discover_where};
use crate::server::{Pins, Release};
use crate::snapshot::{Diff, Mode, SnapshotError, Store, write_whole};
use crate::words::count;

/// The folder that is searched where no file is named, beside the current one itself.
const FOLDER: &str = "docs";

/// Runs the command.
pub(super) fn docs(options: &DocsOptions, environment: &Environment, output: Output) -> ExitStatus {
    let (DocsAction::Sync { files } | DocsAction::Check { files }) = &options.action;
    let filled = match filled(files, options, environment, output) {
        Ok(filled) => filled,
        Err(status) => return status,
    };
    let parts = filled.iter().map(|(page, _)| page.parts()).sum();
    let stale: Vec<&(Page, String)> = filled
        .iter()
        .filter(|(page, text)| *page.source().text != **text)
        .collect();
    match options.action {
        DocsAction::Sync { .. } => {
            for (page, text) in &stale {
                let path = &page.source().path;
                if let Err(error) = write(path, text) {
                    output.fail(
                        format_args!("failed to write {}: {error}", path.display()),
                        None,
                    );
                    return ExitStatus::Invalid;
                }
                output.print(&format!("  filled {}\n", path.display()));
            }
        }
        DocsAction::Check { .. } if !stale.is_empty() => {
            output.print(&differences(&stale));
            return ExitStatus::Differs;
        }
        DocsAction::Check { .. } => {}
    }
    output.print(&format!(
        "{} in {}: as the library says\n",
        count(parts, "generated part"),
        count(filled.len(), "file")
    ));
    ExitStatus::Passed
}

/// The pages with generated parts, each with its text as it should be.
fn filled(
    files: &[PathBuf],
    options: &DocsOptions,
    environment: &Environment,
    output: Output,
) -> Result<Vec<(Page, String)>, ExitStatus> {
    let found = find(files, output)?;
    let mut mistakes = Vec::new();
    let mut pages = Vec::new();
    for path in &found {
        let text = fs::read_to_string(path).map_err(|error| {
            output.fail(
                format_args!("failed to read {}: {error}", path.display()),
                None,
            );
            ExitStatus::Invalid
        })?;
        let source = SourceFile {
            path: path.clone(),
            text: text.into(),
        };
        match Page::read(source) {
            Ok(page) if page.parts() == 0 => {}
            Ok(page) => pages.push(page),
            Err(wrong) => mistakes.extend(wrong),
        }
    }
    refuse(&mistakes, output)?;
    if pages.is_empty() {
        output.fail(
            format_args!("no generated part in {}", count(found.len(), "file")),
            Some("begin one with `<!-- lockstep: transcript FILE -->`, and end it with `<!-- /lockstep -->`"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    let library = library(&pages, options, environment, output)?;
    let mut filled = Vec::new();
    for page in pages {
        match page.fill(&library) {
            Ok(text) => filled.push((page, text)),
            Err(wrong) => mistakes.extend(wrong),
        }
    }
    refuse(&mistakes, output)?;
    Ok(filled)
}

/// Draws mistakes, if there are any.
fn refuse(mistakes: &[Diagnostic], output: Output) -> Result<(), ExitStatus> {
    let mut told: Vec<&Diagnostic> = Vec::new();
    for mistake in mistakes {
        // A scenario that two parts list is wrong once.
        if !told.contains(&mistake) {
            told.push(mistake);
        }
    }
    if told.is_empty() {
        return Ok(());
    }
    output.draw(&told.iter().copied().cloned().collect::<Vec<_>>());
    output.say(format_args!(
        "\n{}; nothing can be filled or verified before that is mended",
        count(told.len(), "mistake")
    ));
    Err(ExitStatus::Invalid)
}

/// The Markdown files that are named or lie in the folders that are named.
fn find(named: &[PathBuf], output: Output) -> Result<Vec<PathBuf>, ExitStatus> {
    let found = if named.is_empty() {
        markdown_here()
    } else {
        discover_where(named, is_markdown).map_err(|error| {
            output.fail(&error, None);
            ExitStatus::Invalid
        })?
    };
    if found.is_empty() {
        output.fail(
            "no Markdown file to look at",
            Some("without FILE, those of this folder are meant, and those below the folder `docs`"),
        );
        return Err(ExitStatus::NothingSelected);
    }
    Ok(found)
}

/// The Markdown files of the current folder, and those below `docs`.
fn markdown_here() -> Vec<PathBuf> {
    let entries = fs::read_dir(".").into_iter().flatten().flatten();
    let mut here: Vec<PathBuf> = entries
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|path| is_markdown(path) && path.is_file())
        .collect();
    here.sort();
    let below = discover_where(&[FOLDER], is_markdown).unwrap_or_default();
    here.into_iter().chain(below).collect()
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The scenarios that the pages are about, with what is accepted of them.
fn library(
    pages: &[Page],
    options: &DocsOptions,
    environment: &Environment,
    output: Output,
) -> Result<Library, ExitStatus> {
    let pins = pins::pins(options.pins.as_deref(), environment, output)?;
    let store = Store::new(&environment.directory, Mode::ReadOnly);
    let mut library = Library::new(&environment.directory);
    for path in pages.iter().flat_map(Page::paths) {
        if library.has(path) {
            continue;
        }
        let files = match discover(&[path]) {
            Ok(files) => files,
            Err(error) => {
                library.add(path, Err(error.to_string()));
                continue;
            }
        };
        let mut entries: Vec<Entry> = Vec::new();
        for scenario in load(&files, output)? {
            let texts = texts(&scenario, &pins, &store).map_err(|error| {
                output.fail(&error, None);
                ExitStatus::Invalid
            })?;
            let path = scenario.source.path.clone();
            let case = Case { scenario, texts };
            match entries.last_mut() {
                Some(entry) if entry.path == path => entry.cases.push(case),
                _ => entries.push(Entry {
                    path,
                    cases: vec![case],
                }),
            }
        }
        library.add(path, Ok(entries));
    }
    Ok(library)
}

/// What is accepted of a case on the pinned releases on which the scenario is meaningful.
fn texts(
    scenario: &Scenario,
    pins: &Pins,
    store: &Store,
) -> Result<Vec<BTreeMap<Release, String>>, SnapshotError> {
    let mut releases: Vec<Release> = pins.iter().map(|pin| pin.release).collect();
    releases.retain(|one| scenario.postgres.contains(&[one.major, one.minor]));
    let allowed = allowed_in(scenario);
    store.texts(&scenario.source.path, &scenario.case, &allowed, &releases)
}

/// Writes a page where it is, also behind a link.
fn write(path: &Path, text: &str) -> io::Result<()> {
    write_whole(&path.canonicalize()?, text.as_bytes())
}

/// What is stale, and how to mend it.
fn differences(stale: &[&(Page, String)]) -> String {
    let mut shown = String::new();
    let mut command = String::from("lockstep docs sync");
    for (page, text) in stale {
        let path = page.source().path.display();
        if let Some(diff) = Diff::between(&page.source().text, text) {
            let _ = writeln!(shown, "--- {path}\n+++ {path} (as it should be)\n{diff}");
        }
        let _ = write!(command, " {path}");
    }
    let _ = writeln!(shown, "to mend {}:   {command}", count(stale.len(), "file"));
    shown
}
