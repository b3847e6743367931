//! What a run of isolation specs shows.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::console::{Verbosity, time};
use super::excerpt::{Part, diff_lines, push_some};
use super::group::Kind;
use super::name::slashes;
use super::palette::{Palette, paint};
use crate::isolation::Figures;
use crate::scenario::Diagnostic;
use crate::snapshot::Diff;
use crate::words::count;

/// The verdict on a spec that was played.
#[derive(Debug, Clone)]
pub enum SpecVerdict {
    /// The output is one that is expected, or nothing was to be compared.
    Pass,
    /// The output was accepted; it is in this file.
    Accepted(PathBuf),
    /// Nothing is known of the spec; the output belongs in this file.
    New(PathBuf),
    /// The output differs from what is expected.
    Differs {
        /// The file it is most like.
        expected: PathBuf,
        /// The difference.
        diff: Diff,
    },
    /// It was not played to its end.
    Invalid(Box<Diagnostic>),
    /// The server failed.
    Error(String),
}

/// What came of a spec.
#[derive(Debug)]
pub struct SpecResult {
    /// The file of the spec.
    pub path: PathBuf,
    /// The verdict.
    pub verdict: SpecVerdict,
    /// What isolationtester would have printed.
    pub output: String,
    /// What was done.
    pub figures: Figures,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether the server has refused something for want of a right.
    pub is_denied: bool,
}

/// Writes the report of a run of specs. What it gives is text; the caller prints it.
pub struct SpecConsole<'a> {
    palette: Palette,
    verbosity: Verbosity,
    diagnostics: &'a dyn Fn(&[Diagnostic]) -> String,
}

impl<'a> SpecConsole<'a> {
    /// With colours or without; `diagnostics` shows diagnostics in their file.
    pub fn new(
        color: bool,
        verbosity: Verbosity,
        diagnostics: &'a dyn Fn(&[Diagnostic]) -> String,
    ) -> Self {
        Self {
            palette: Palette::new(color),
            verbosity,
            diagnostics,
        }
    }

    /// What is said of a spec, as soon as it has ended.
    #[must_use]
    pub fn spec(&self, result: &SpecResult) -> String {
        let kind = kind(&result.verdict);
        if kind == Kind::Pass && self.verbosity == Verbosity::Quiet {
            return String::new();
        }
        let style = match kind {
            Kind::Pass => self.palette.good,
            Kind::New => self.palette.open,
            _ => self.palette.bad,
        };
        let word = paint(style, format_args!("{:>8}", kind.word()));
        let elapsed = paint(self.palette.faint, time(result.elapsed));
        let done = done(&result.figures);
        let name = slashes(&result.path.with_extension(""));
        let mut text = format!("{word} {elapsed} {name} ({done})\n");
        match &result.verdict {
            SpecVerdict::Pass => {}
            SpecVerdict::Accepted(path) => {
                let _ = writeln!(text, "\naccepted: {}", slashes(path));
            }
            SpecVerdict::New(path) => {
                let path = slashes(path);
                let _ = writeln!(text, "\nthere is no {path}; `--accept` writes it\n");
            }
            SpecVerdict::Differs { expected, diff } => {
                self.differs(&mut text, result, expected, diff)
            }
            SpecVerdict::Invalid(diagnostic) => {
                text.push('\n');
                text.push_str(&(self.diagnostics)(std::slice::from_ref(diagnostic)));
                text.push('\n');
            }
            SpecVerdict::Error(what) => {
                let _ = writeln!(text, "\n{what}\n");
            }
        }
        if result.is_denied && kind != Kind::Pass {
            text.push_str(
                "help: the server has refused a right; specs that need a superuser are run with \
                 `--allow-superuser`\n\n",
            );
        }
        text
    }

    /// What is said at the end.
    #[must_use]
    pub fn conclusion(&self, results: &[SpecResult], elapsed: Duration) -> String {
        let mut counts = String::new();
        for kind in std::iter::once(Kind::Pass).chain(Kind::FAILED) {
            let number = results.iter().filter(|r| self::kind(&r.verdict) == kind);
            let number = number.count();
            if number > 0 {
                let comma = if counts.is_empty() { "" } else { ", " };
                let _ = write!(counts, "{comma}{number} {}", kind.word().to_lowercase());
            }
        }
        let all = Figures {
            schedules: results.iter().map(|r| r.figures.schedules).sum(),
            steps: results.iter().map(|r| r.figures.steps).sum(),
            waits: results
                .iter()
                .flat_map(|r| r.figures.waits.iter().copied())
                .collect(),
            ..Figures::default()
        };
        let word = paint(self.palette.strong, format_args!("{:>8}", "Summary"));
        let elapsed = paint(self.palette.faint, time(elapsed));
        let number = count(results.len(), "spec");
        let mut text = format!("{word} {elapsed} {number}: {counts} ({})\n", done(&all));
        if self.verbosity == Verbosity::Verbose
            && let Some(median) = all.median_wait()
        {
            let known = format!("a wait is known after {:.1} ms (median)", millis(median));
            let _ = writeln!(text, "{}", paint(self.palette.faint, known));
        }
        text
    }

    fn differs(
        &self,
        text: &mut String,
        result: &SpecResult,
        expected: &std::path::Path,
        diff: &Diff,
    ) {
        let palette = &self.palette;
        let lines: Vec<&str> = result.output.lines().take(diff.first_line).collect();
        let last = |start: &str| lines.iter().rfind(|line| line.starts_with(start)).copied();
        if let Some(header) = last("starting permutation: ") {
            let number = lines
                .iter()
                .filter(|l| l.starts_with("starting permutation:"));
            let steps = header.trim_start_matches("starting permutation: ");
            let _ = write!(
                text,
                "\nfirst difference: permutation {} ({steps})",
                number.count()
            );
            if let Some(step) = last("step ") {
                let name = step[5..].split(':').next().unwrap_or_default();
                let _ = write!(text, ", at step {name}");
            }
            text.push('\n');
        }
        let shown = diff_lines(palette, &slashes(expected), "this run", diff);
        push_some(text, &shown, Part::Beginning, self.verbosity, palette);
        text.push('\n');
    }
}

const fn kind(verdict: &SpecVerdict) -> Kind {
    match verdict {
        SpecVerdict::Pass | SpecVerdict::Accepted(_) => Kind::Pass,
        SpecVerdict::New(_) => Kind::New,
        SpecVerdict::Differs { .. } => Kind::Differs,
        SpecVerdict::Invalid(_) => Kind::Invalid,
        SpecVerdict::Error(_) => Kind::Error,
    }
}

/// `3 schedules, 14 steps, 1 wait`
fn done(figures: &Figures) -> String {
    [
        count(figures.schedules, "schedule"),
        count(figures.steps, "step"),
        count(figures.waits.len(), "wait"),
    ]
    .join(", ")
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
