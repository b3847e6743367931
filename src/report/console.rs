//! What a run shows on a terminal, or in the log of CI.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::Style;

use super::group::{CaseGroup, Kind, alike, group};
use super::name::{name_of, slashes};
use super::palette::{Palette, paint};
use crate::runner::{CaseResult, Verdict};
use crate::scenario::Diagnostic;
use crate::server::{Pins, Release};
use crate::snapshot::{Mode, Unused, WhyUnused, visible};

/// With no more cases than this, each that passed has a line too.
pub(super) const FEW: usize = 30;
/// Cases whose details are shown, and names listed, where not everything is asked for.
const MANY: usize = 20;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only what did not pass.
    Quiet,
    /// A line for each case, as long as there are few of them, and a summary.
    Normal,
    /// Everything, however long.
    Verbose,
}

/// Writes the report of a run. What it gives is text; the caller prints it.
pub struct Console<'a> {
    pub(super) palette: Palette,
    pub(super) verbosity: Verbosity,
    pub(super) mode: Mode,
    pub(super) is_ascii: bool,
    pub(super) diagnostics: &'a dyn Fn(&[Diagnostic]) -> String,
}

/// A run that is over.
#[derive(Debug, Clone, Copy)]
pub struct RunSummary<'a> {
    /// The releases that were asked for.
    pub releases: &'a [Release],
    /// Its results, in the order in which they are reported.
    pub results: &'a [CaseResult],
    /// How long it took.
    pub elapsed: Duration,
    /// The pending snapshots that it wrote.
    pub pending: &'a [PathBuf],
    /// The snapshots that nothing needs.
    pub unused: &'a [Unused],
    /// Whether those were removed.
    pub are_removed: bool,
    /// What was not run, if the run ended early.
    pub cut: Option<Cut>,
}

/// What a run that ended early has left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The cases of which there is no result.
    pub cases: usize,
    /// The runs of which there is no result, those of these cases among them.
    pub runs: usize,
    /// Why it ended.
    pub why: WhyCut,
}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyCut {
    /// A case did not pass, and no further one was wanted then.
    FailFast,
    /// A signal asked the program to end.
    Interrupted,
}

impl Cut {
    /// `5 not run (--fail-fast)`
    fn told(self) -> String {
        let why = match self.why {
            WhyCut::FailFast => "--fail-fast",
            WhyCut::Interrupted => "interrupted",
        };
        match (self.cases, self.runs) {
            (0, 1) => format!("1 run left out ({why})"),
            (0, runs) => format!("{runs} runs left out ({why})"),
            (cases, _) => format!("{cases} not run ({why})"),
        }
    }
}

impl<'a> Console<'a> {
    /// A console with colours or without; `mode` is the snapshot store's, and `diagnostics` shows
    /// diagnostics in their file.
    pub fn new(
        color: bool,
        verbosity: Verbosity,
        mode: Mode,
        diagnostics: &'a dyn Fn(&[Diagnostic]) -> String,
    ) -> Self {
        Self {
            palette: Palette::new(color),
            verbosity,
            mode,
            is_ascii: false,
            diagnostics,
        }
    }

    /// Writes the table of releases with ASCII characters only, for a terminal that shows no other.
    #[must_use]
    pub fn ascii(self, is_ascii: bool) -> Self {
        Self { is_ascii, ..self }
    }

    /// The line of a case, or nothing where it has none in a run of so many cases: print it as soon
    /// as all runs of the case are over.
    #[must_use]
    pub fn line(&self, group: &CaseGroup<'_>, cases: usize) -> String {
        let (_, result) = group.worst();
        let kind = Kind::of(&result.verdict);
        let is_shown = match self.verbosity {
            Verbosity::Quiet => false,
            // Those without a server are told together.
            Verbosity::Normal if is_unserved(result) => false,
            Verbosity::Normal => kind != Kind::Pass || cases <= FEW,
            Verbosity::Verbose => true,
        };
        if !is_shown {
            return String::new();
        }
        let word = paint(self.style(kind), format_args!("{:>8}", kind.word()));
        let elapsed = paint(self.palette.faint, time(group.elapsed()));
        let mut line = format!("{word} {elapsed} {}", name_of(result));
        if let Some(tally) = group.tally() {
            line.push_str(": ");
            line.push_str(&tally);
        }
        line.push('\n');
        line
    }

    /// All that comes after the lines of the cases: why some did not pass, and the summary.
    #[must_use]
    pub fn conclusion(&self, run: &RunSummary<'_>) -> String {
        let groups = group(run.results);
        let failed: Vec<&CaseGroup<'_>> = groups
            .iter()
            .filter(|group| Kind::of(&group.worst().1.verdict) != Kind::Pass)
            .collect();
        if self.verbosity == Verbosity::Quiet && failed.is_empty() && run.cut.is_none() {
            return String::new();
        }
        let (unserved, failed): (Vec<_>, Vec<_>) = failed
            .into_iter()
            .partition(|group| is_unserved(group.worst().1));
        let mut shown = String::new();
        let alike = alike(&failed);
        for (group, others) in &alike[..self.most(alike.len())] {
            shown.push_str(&self.details(group, others));
        }
        self.push_unserved(&mut shown, &unserved);
        let matrix = self.matrix(run, &groups);
        shown.push_str(&matrix);
        if !failed.is_empty() || !unserved.is_empty() || !matrix.is_empty() {
            shown.push('\n');
        }
        self.push_counts(&mut shown, run, &groups);
        if matrix.is_empty() {
            self.push_failed(&mut shown, &failed);
        }
        self.push_advice(&mut shown, run, &failed);
        self.push_unused(&mut shown, run);
        shown
    }

    pub(super) fn style(&self, kind: Kind) -> Style {
        let style = match kind {
            Kind::Pass => self.palette.good,
            Kind::New => self.palette.open,
            Kind::Differs | Kind::Unmet | Kind::Invalid | Kind::Error => self.palette.bad,
        };
        style.effects(self.palette.strong.get_effects())
    }

    /// How many of so many are shown.
    fn most(&self, number: usize) -> usize {
        match self.verbosity {
            Verbosity::Verbose => number,
            _ => number.min(MANY),
        }
    }

    /// `Summary [   1.234s] 12 cases: 9 passed, 2 differ, 1 new`
    fn push_counts(&self, shown: &mut String, run: &RunSummary<'_>, groups: &[CaseGroup<'_>]) {
        let left = run.cut.map_or(0, |cut| cut.cases);
        let (cases, runs) = (groups.len(), run.results.len());
        let mut total = match cases + left {
            1 => "1 case".to_owned(),
            all => format!("{all} cases"),
        };
        if runs > cases {
            let _ = write!(total, " in {runs} runs");
        }
        let mut counts = Vec::new();
        for kind in [Kind::Pass].into_iter().chain(Kind::FAILED) {
            let number = groups
                .iter()
                .filter(|group| Kind::of(&group.worst().1.verdict) == kind)
                .count();
            if number > 0 {
                let count = format!("{number} {}", kind.verb(number));
                counts.push(paint(self.style(kind), count));
            }
        }
        if let Some(cut) = run.cut {
            counts.push(paint(self.palette.open, cut.told()));
        }
        let colon = if counts.is_empty() { "" } else { ": " };
        let word = paint(self.palette.strong, format_args!("{:>8}", "Summary"));
        let elapsed = paint(self.palette.faint, time(run.elapsed));
        let counts = counts.join(", ");
        let _ = writeln!(shown, "{word} {elapsed} {total}{colon}{counts}");
    }

    /// The cases of releases whose server could not be had, each release once.
    fn push_unserved(&self, shown: &mut String, unserved: &[&CaseGroup<'_>]) {
        let mut releases: Vec<(Release, &str, usize)> = Vec::new();
        for group in unserved {
            let (_, result) = group.worst();
            let Verdict::Unserved(reason) = &result.verdict else {
                continue;
            };
            let same =
                |one: &&mut (Release, &str, usize)| (one.0, one.1) == (result.release, reason);
            match releases.iter_mut().find(same) {
                Some((_, _, number)) => *number += 1,
                None => releases.push((result.release, reason, 1)),
            }
        }
        for (release, reason, number) in releases {
            let word = paint(self.style(Kind::Error), Kind::Error.word());
            let cases = match number {
                1 => "1 case was".to_owned(),
                number => format!("{number} cases were"),
            };
            let head = format!("{cases} not run on {release}");
            let _ = writeln!(shown, "\n{word} {}", paint(self.palette.strong, head));
            for line in reason.lines() {
                let _ = writeln!(shown, "{}", visible(line, false));
            }
        }
    }

    /// The names of what did not pass.
    fn push_failed(&self, shown: &mut String, failed: &[&CaseGroup<'_>]) {
        let most = self.most(failed.len());
        for group in &failed[..most] {
            let (_, result) = group.worst();
            let kind = Kind::of(&result.verdict);
            let word = paint(self.style(kind), format_args!("{:>8}", kind.word()));
            let _ = writeln!(shown, "{word} {}", name_of(result));
        }
        if failed.len() > most {
            let _ = writeln!(
                shown,
                "         and {} more (-v shows all)",
                failed.len() - most
            );
        }
    }

    /// What to do about it.
    fn push_advice(&self, shown: &mut String, run: &RunSummary<'_>, failed: &[&CaseGroup<'_>]) {
        let pending: Vec<String> = run.pending.iter().map(|path| slashes(path)).collect();
        self.push_files(shown, &pending, |number| match number {
            1 => "1 pending snapshot was written:".to_owned(),
            number => format!("{number} pending snapshots were written:"),
        });
        let of = |kinds: &[Kind]| {
            let mut paths: Vec<&Path> = failed
                .iter()
                .map(|group| group.worst().1)
                .filter(|result| kinds.contains(&Kind::of(&result.verdict)))
                .map(|result| result.scenario.source.path.as_path())
                .collect();
            paths.sort();
            paths.dedup();
            paths
        };
        let releases = |kinds: &[Kind]| {
            let mut releases: Vec<Release> = failed
                .iter()
                .map(|group| group.worst().1)
                .filter(|result| kinds.contains(&Kind::of(&result.verdict)))
                .map(|result| result.release)
                .collect();
            releases.sort();
            releases.dedup();
            releases
        };
        let mut advice = Vec::new();
        let seen = of(&[Kind::Differs, Kind::Unmet, Kind::New]);
        if !seen.is_empty() {
            let on = releases(&[Kind::Differs, Kind::Unmet, Kind::New]);
            let on = pg(&on[on.len().saturating_sub(1)..]);
            let of_case = the_case(failed, &[Kind::Differs, Kind::Unmet, Kind::New]);
            let of_case =
                of_case.map_or_else(String::new, |case| format!("--case {} ", quoted(case)));
            let command = format!("lockstep show {on}{of_case}{}", file(&seen));
            advice.push(("to see a whole transcript:", command));
        }
        let mut open = of(&[Kind::Differs, Kind::New]);
        if open.is_empty() && !run.pending.is_empty() {
            // A case passed with an outcome that has no snapshot yet.
            let all = run.results.iter();
            open = all.map(|one| one.scenario.source.path.as_path()).collect();
            open.sort();
            open.dedup();
        }
        if !open.is_empty() {
            match self.mode {
                Mode::Propose => {
                    let command = format!("lockstep accept {}", file(&open));
                    advice.push(("to accept what is pending:", command));
                }
                Mode::ReadOnly => {
                    let on = pg(&releases(&[Kind::Differs, Kind::New]));
                    let command = format!("lockstep run --accept {on}{}", file(&open));
                    advice.push(("to accept it, outside of CI:", command));
                }
            }
        }
        if !advice.is_empty() {
            shown.push('\n');
        }
        for (what, command) in advice {
            let _ = writeln!(shown, "{what:<28} {}", paint(self.palette.place, command));
        }
    }

    /// The snapshots that nothing needs, and how to be rid of them.
    fn push_unused(&self, shown: &mut String, run: &RunSummary<'_>) {
        let files: Vec<String> = run
            .unused
            .iter()
            .map(|Unused { path, why }| {
                let path = slashes(path);
                match why {
                    WhyUnused::NoCase => path,
                    WhyUnused::NoRelease => format!("{path} (`postgres:` excludes its releases)"),
                    WhyUnused::Redundant => format!("{path} (without it the same would hold)"),
                }
            })
            .collect();
        self.push_files(shown, &files, |number| match (number, run.are_removed) {
            (1, true) => "1 snapshot that nothing needs was removed:".to_owned(),
            (1, false) => "1 snapshot is not needed:".to_owned(),
            (number, true) => format!("{number} snapshots that nothing needs were removed:"),
            (number, false) => format!("{number} snapshots are not needed:"),
        });
        if !run.unused.is_empty() && !run.are_removed {
            let command = paint(self.palette.place, "--remove-unused");
            let _ = writeln!(shown, "the same command with {command} removes them");
        }
    }

    /// A list of files under a heading.
    fn push_files(&self, shown: &mut String, files: &[String], head: impl Fn(usize) -> String) {
        if files.is_empty() {
            return;
        }
        let _ = writeln!(shown, "\n{}", head(files.len()));
        let most = self.most(files.len());
        for file in &files[..most] {
            let _ = writeln!(shown, "  {file}");
        }
        if files.len() > most {
            let _ = writeln!(shown, "  and {} more (-v shows all)", files.len() - most);
        }
    }
}

/// How the command line names releases; nothing where it would mean just these without.
fn pg(releases: &[Release]) -> String {
    let default = Pins::built_in().iter().map(|pin| pin.release).max();
    if releases.iter().copied().map(Some).eq([default]) {
        return String::new();
    }
    let majors: Vec<String> = releases.iter().map(|one| one.major.to_string()).collect();
    format!("--pg {} ", majors.join(","))
}

/// Whether there was no server for a case.
fn is_unserved(result: &CaseResult) -> bool {
    matches!(result.verdict, Verdict::Unserved(_))
}

/// `[   0.012s]`
pub(super) fn time(elapsed: Duration) -> String {
    format!("[{:>8.3}s]", elapsed.as_secs_f64())
}

/// The one file, as a shell takes it, or the word that stands for one of several.
fn file(paths: &[&Path]) -> String {
    let [path] = paths else {
        return "FILE".to_owned();
    };
    quoted(&slashes(path))
}

/// A word, as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = word
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || "/._-+=:@,".contains(character));
    if is_plain && !word.is_empty() && !word.starts_with('-') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The name of the one case of a matrix that did not pass in such a way; `None` where there are
/// several, or it needs no name.
fn the_case<'a>(failed: &[&CaseGroup<'a>], kinds: &[Kind]) -> Option<&'a str> {
    let results = failed.iter().map(|group| group.worst().1);
    let mut cases = results.filter(|result| kinds.contains(&Kind::of(&result.verdict)));
    let first = cases.next()?;
    let name = |result: &CaseResult| (result.scenario.source.path.clone(), result.case.clone());
    let is_alone = cases.all(|other| name(other) == name(first));
    (is_alone && !first.scenario.matrix.is_empty()).then_some(&first.case)
}
