//! Why a case did not pass.

use super::console::Console;
use super::excerpt::{Part, diff_lines, push_lines, push_some};
use super::group::{CaseGroup, Kind};
use super::name::{name_of, step_place};
use super::palette::paint;
use crate::runner::{CaseResult, Verdict};
use crate::server::Release;
use crate::snapshot::{Diff, Mode, visible};

impl Console<'_> {
    /// Why a case did not pass, on its release and in the same way on others; empty if it did.
    #[must_use]
    pub(super) fn details(&self, group: &CaseGroup<'_>, others: &[Release]) -> String {
        let (number, result) = group.worst();
        let kind = Kind::of(&result.verdict);
        let palette = &self.palette;
        let word = paint(self.style(kind), kind.word());
        let mut shown = format!("\n{word} {}\n", paint(palette.strong, name_of(result)));
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(Release::to_string).collect();
            shown.push_str(&format!("and in the same way on {}\n", others.join(", ")));
        }
        // Where all runs are alike, the case's line has said it.
        if let Some(tally) = group.tally().filter(|_| !group.are_alike()) {
            shown.push_str(&format!("{tally}; this is run {number}\n"));
        }
        match &result.verdict {
            Verdict::Pass => return String::new(),
            Verdict::Differs { accepted } => self.push_differs(&mut shown, result, accepted),
            Verdict::Unmet(unmet) => push_lines(&mut shown, &(self.diagnostics)(unmet)),
            Verdict::New => {
                shown.push_str(match self.mode {
                    Mode::Propose => "there is no snapshot yet; this is what happened:\n\n",
                    Mode::ReadOnly => {
                        "there is no snapshot, and none is written in CI; this is what happened:\n\n"
                    }
                });
                self.push_transcript(&mut shown, result, Part::Beginning);
            }
            Verdict::Invalid(diagnostic) => {
                let diagnostics = std::slice::from_ref(diagnostic);
                push_lines(&mut shown, &(self.diagnostics)(diagnostics));
                self.push_until_there(&mut shown, result);
            }
            Verdict::Unreadable(message) | Verdict::Unserved(message) => {
                push_message(&mut shown, message);
            }
            Verdict::Error(message) => {
                push_message(&mut shown, message);
                self.push_until_there(&mut shown, result);
            }
        }
        shown
    }

    fn push_differs(&self, shown: &mut String, result: &CaseResult, accepted: &str) {
        let palette = &self.palette;
        let text = result.transcript.text();
        let Some(diff) = Diff::between(accepted, text.as_str()) else {
            // The verdict says otherwise; the transcript is what can be shown.
            return self.push_transcript(shown, result, Part::Beginning);
        };
        if let Some(step) = text.step_of_line(diff.first_line) {
            let place = step_place(&result.scenario, step);
            shown.push_str(&format!("first difference: {place}\n"));
        }
        let observed = format!("observed on {}", result.release);
        let lines = diff_lines(palette, "accepted", &observed, &diff);
        self.push_some(shown, &lines, Part::Beginning);
        for note in &diff.notes {
            shown.push_str(&format!("{}: {note}\n", paint(palette.open, "note")));
        }
    }

    /// The end of the transcript of a replay that stopped, if anything had happened.
    fn push_until_there(&self, shown: &mut String, result: &CaseResult) {
        if !result.transcript.events.is_empty() {
            shown.push_str("\nuntil then:\n\n");
            self.push_transcript(shown, result, Part::End);
        }
    }

    fn push_transcript(&self, shown: &mut String, result: &CaseResult, part: Part) {
        let text = result.transcript.text();
        let lines: Vec<String> = text
            .as_str()
            .lines()
            .map(|line| visible(line, false))
            .collect();
        self.push_some(shown, &lines, part);
    }

    fn push_some(&self, shown: &mut String, lines: &[String], part: Part) {
        push_some(shown, lines, part, self.verbosity, &self.palette);
    }
}

/// Adds a message of the system's or a server's.
fn push_message(shown: &mut String, message: &str) {
    for line in message.lines() {
        push_lines(shown, &visible(line, false));
    }
}
