//! The table scenario × release that ends a run on several releases.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;

use super::console::{Console, FEW, RunSummary, Verbosity};
use super::group::{CaseGroup, Kind};
use super::name::case_title;
use super::palette::paint;
use crate::runner::{CaseResult, Verdict};
use crate::scenario::Scenario;
use crate::server::Release;
use crate::snapshot::Diff;
use crate::transcript::display_width;

/// The widest column of names, in character cells.
const WIDEST: usize = 56;
/// Rows shown where not everything is asked for.
const ROWS: usize = 100;

/// What a release did with a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// As accepted, and as on the newest release of the run.
    Same,
    /// As accepted, and otherwise than on the newest from a step on.
    Otherwise,
    /// Not as accepted, or as expected, from a step on.
    Failed,
    /// There is no snapshot yet.
    New,
    /// It did not run to its end.
    Error,
    /// `postgres:` excludes the release.
    Excluded,
    /// It was not run.
    None,
}

/// A mark, and the number of the step where that begins, counted from 1.
type Cell = (Mark, Option<usize>);

impl Mark {
    const ALL: [Self; 6] = [
        Self::Same,
        Self::Otherwise,
        Self::Failed,
        Self::New,
        Self::Error,
        Self::Excluded,
    ];

    const fn sign(self, is_ascii: bool) -> &'static str {
        match (self, is_ascii) {
            (Self::Same, false) => "✓",
            (Self::Same, true) => "ok",
            (Self::Otherwise, false) => "≠",
            (Self::Otherwise, true) => "#",
            (Self::Failed, false) => "✗",
            (Self::Failed, true) => "x",
            (Self::New, _) => "?",
            (Self::Error, _) => "!",
            (Self::Excluded, false) => "–",
            (Self::Excluded, true) => "-",
            (Self::None, _) => "",
        }
    }

    fn meaning(self, sign: &str, newest: Release) -> String {
        match self {
            Self::Same => format!("{sign} as accepted"),
            Self::Otherwise => format!("{sign}n as accepted, unlike {newest} from step n"),
            Self::Failed => format!("{sign}n fails at step n"),
            Self::New => format!("{sign} new ({sign}n unlike {newest} from step n)"),
            Self::Error => format!("{sign} no result"),
            Self::Excluded => format!("{sign} left out by `postgres:`"),
            Self::None => String::new(),
        }
    }
}

/// A case on each release.
struct Row<'a> {
    name: String,
    cells: Vec<Cell>,
    scenario: &'a Scenario,
}

impl Console<'_> {
    /// The table, where there is more than one release. Of many cases only those are shown that do
    /// not behave the same on each release.
    pub(super) fn matrix(&self, run: &RunSummary<'_>, groups: &[CaseGroup<'_>]) -> String {
        let mut releases = run.releases.to_vec();
        releases.sort();
        let [.., _, newest] = releases.as_slice() else {
            return String::new();
        };
        let rows = rows(&releases, groups);
        let all = rows.len() <= FEW || self.verbosity == Verbosity::Verbose;
        let is_same = |row: &Row<'_>| {
            let mut marks = row.cells.iter().map(|(mark, _)| *mark);
            marks.all(|mark| matches!(mark, Mark::Same | Mark::Excluded))
        };
        let (same, mut shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| !all && is_same(row));
        let most = if all { shown.len() } else { ROWS };
        let hidden = shown.len().saturating_sub(most);
        shown.truncate(most);

        let mut text = String::from("\n");
        if !shown.is_empty() {
            self.push_rows(&mut text, &releases, &shown);
        }
        let more = |number: usize, what: &str| match number {
            1 => format!("and 1 case {what}\n"),
            number => format!("and {number} cases {what}\n"),
        };
        if hidden > 0 {
            text += &more(hidden, "more (-v shows all)");
        }
        if !same.is_empty() {
            text += &more(same.len(), "as accepted, the same on each release");
        }
        let is_used = |mark: &Mark| {
            let mut cells = shown.iter().flat_map(|row| &row.cells);
            cells.any(|(used, _)| used == mark)
        };
        let legend: Vec<String> = Mark::ALL
            .into_iter()
            .filter(is_used)
            .map(|mark| mark.meaning(mark.sign(self.is_ascii), *newest))
            .collect();
        if !legend.is_empty() {
            let between = if self.is_ascii { "; " } else { " · " };
            text += &paint(self.palette.faint, legend.join(between));
            text.push('\n');
        }
        text
    }

    fn push_rows(&self, text: &mut String, releases: &[Release], rows: &[&Row<'_>]) {
        let names: Vec<String> = rows
            .iter()
            .map(|row| cut(&row.name, self.is_ascii))
            .collect();
        let width = names.iter().map(|name| display_width(name)).max();
        let width = width.unwrap_or_default();
        let heads: Vec<String> = releases.iter().map(Release::to_string).collect();
        let _ = write!(text, "{:width$}", "");
        for head in &heads {
            let _ = write!(text, "  {}", paint(self.palette.strong, head));
        }
        text.push('\n');
        for (name, row) in names.iter().zip(rows) {
            text.push_str(name);
            let mut open = width - display_width(name);
            for ((mark, step), head) in row.cells.iter().zip(&heads) {
                let sign = mark.sign(self.is_ascii);
                let step = step.map_or_else(String::new, |step| step.to_string());
                let cell = format!("{sign}{step}");
                let used = display_width(&cell);
                if used > 0 {
                    let style = self.style_of(*mark);
                    let _ = write!(text, "{:open$}  {}", "", paint(style, cell));
                    open = head.len().saturating_sub(used);
                } else {
                    // No spaces at the end of a line.
                    open += 2 + head.len();
                }
            }
            text.push('\n');
        }
    }

    const fn style_of(&self, mark: Mark) -> Style {
        match mark {
            Mark::Same => self.palette.good,
            Mark::Otherwise => self.palette.place,
            Mark::Failed | Mark::Error => self.palette.bad,
            Mark::New => self.palette.open,
            Mark::Excluded | Mark::None => self.palette.faint,
        }
    }
}

/// A row for each case, in the order in which cases first appear.
fn rows<'a>(releases: &[Release], groups: &[CaseGroup<'a>]) -> Vec<Row<'a>> {
    let mut order: Vec<(&Path, &str)> = Vec::new();
    let mut cases: BTreeMap<(&Path, &str), Vec<&CaseGroup<'a>>> = BTreeMap::new();
    for group in groups {
        let result = group.runs[0];
        let case = (result.scenario.source.path.as_path(), result.case.as_str());
        let of_case = cases.entry(case).or_insert_with(|| {
            order.push(case);
            Vec::new()
        });
        of_case.push(group);
    }
    let rows = order.iter().map(|case| row(releases, &cases[case]));
    rows.collect()
}

fn row<'a>(releases: &[Release], groups: &[&CaseGroup<'a>]) -> Row<'a> {
    let worst = |release: Release| {
        let group = groups
            .iter()
            .find(|group| group.runs[0].release == release)?;
        Some(group.worst().1)
    };
    let first = groups[0].runs[0];
    let newest = releases.iter().rev().find_map(|release| {
        let has_text = |result: &&CaseResult| !result.transcript.events.is_empty();
        worst(*release).filter(has_text)
    });
    let newest = newest.map(|result| result.transcript.text().as_str().to_owned());
    let mut row = Row {
        name: case_title(&first.scenario, &first.case),
        cells: Vec::new(),
        scenario: &first.scenario,
    };
    for release in releases {
        let cell = match worst(*release) {
            Some(result) => cell(result, newest.as_deref()),
            None if !row
                .scenario
                .postgres
                .contains(&[release.major, release.minor]) =>
            {
                (Mark::Excluded, None)
            }
            None => (Mark::None, None),
        };
        row.cells.push(cell);
    }
    row
}

fn cell(result: &CaseResult, newest: Option<&str>) -> Cell {
    let text = result.transcript.text();
    let begins = |accepted: &str| {
        let diff = Diff::between(accepted, text.as_str())?;
        Some(
            text.step_of_line(diff.first_line)
                .map_or(1, |step| step + 1),
        )
    };
    match &result.verdict {
        // Of repeated runs not every text is kept.
        Verdict::Pass if text.as_str().is_empty() => (Mark::Same, None),
        Verdict::Pass => match newest.and_then(begins) {
            None => (Mark::Same, None),
            step => (Mark::Otherwise, step),
        },
        Verdict::Differs { accepted } => (Mark::Failed, begins(accepted)),
        Verdict::Unmet(unmet) => {
            let at = unmet.first().map(|unmet| unmet.span.start);
            let steps = &result.scenario.steps;
            let step = at.and_then(|at| {
                steps
                    .iter()
                    .position(|step| (step.span.start..=step.span.end).contains(&at))
            });
            (Mark::Failed, step.map(|step| step + 1))
        }
        Verdict::New => (Mark::New, newest.and_then(begins)),
        verdict => {
            debug_assert!(matches!(Kind::of(verdict), Kind::Invalid | Kind::Error));
            (Mark::Error, None)
        }
    }
}

/// A name that fits its column: of a longer one its end, which tells more.
fn cut(name: &str, is_ascii: bool) -> String {
    if display_width(name) <= WIDEST {
        return name.to_owned();
    }
    let dots = if is_ascii { "..." } else { "…" };
    let mut rest = name;
    while display_width(rest) + dots.len().min(3) > WIDEST {
        let mut characters = rest.chars();
        characters.next();
        rest = characters.as_str();
    }
    format!("{dots}{rest}")
}
