//! The line on a terminal that says how far a run has come.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::name::{case_name, name_of};
use crate::runner::{RunEvent, Verdict};

/// How often the line is drawn anew while nothing happens, for its clock.
const TICK: Duration = Duration::from_millis(100);
/// Names shown of the cases that run.
const NAMES: usize = 3;

/// The progress line, on standard error. It is gone when this is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    state: State,
}

/// What the line says.
#[derive(Debug, Default)]
struct State {
    running: Vec<String>,
    failed: usize,
}

impl Progress {
    /// A line that is drawn, or never: it belongs on a terminal only.
    #[must_use]
    pub fn new(is_drawn: bool) -> Self {
        let target = if is_drawn {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("[{elapsed}] {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        if is_drawn {
            bar.enable_steady_tick(TICK);
        }
        Self {
            bar,
            state: State::default(),
        }
    }

    /// Takes note of an event.
    pub fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Planned(number) => self.bar.set_length(*number as u64),
            RunEvent::Started(case) => {
                let name = case_name(&case.scenario, &case.case, case.release);
                self.state.started(name);
            }
            RunEvent::Finished(result) => {
                let passed = matches!(result.verdict, Verdict::Pass);
                self.state.finished(&name_of(result), passed);
                self.bar.inc(1);
            }
        }
        self.bar.set_message(self.state.message());
    }

    /// Prints with the line out of the way.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// The same for those who do not have the line itself.
    pub fn asides(&self) -> impl Fn(&mut dyn FnMut()) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |print| bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl State {
    fn started(&mut self, name: String) {
        self.running.push(name);
    }

    fn finished(&mut self, name: &str, passed: bool) {
        // Of several runs of a case, whichever began first.
        if let Some(at) = self.running.iter().position(|running| running == name) {
            self.running.remove(at);
        }
        self.failed += usize::from(!passed);
    }

    fn message(&self) -> String {
        // Runs of the same case are named once.
        let mut cases: Vec<(&str, usize)> = Vec::new();
        for name in &self.running {
            match cases.iter_mut().find(|(known, _)| known == name) {
                Some((_, number)) => *number += 1,
                None => cases.push((name, 1)),
            }
        }
        let mut names: Vec<String> = cases
            .iter()
            .take(NAMES)
            .map(|(name, number)| match number {
                1 => (*name).to_owned(),
                number => format!("{name} ×{number}"),
            })
            .collect();
        if cases.len() > NAMES {
            names.push(format!("and {} more", cases.len() - NAMES));
        }
        let names = names.join(", ");
        match self.failed {
            0 => names,
            failed if names.is_empty() => format!("{failed} not passed"),
            failed => format!("{failed} not passed · {names}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_what_runs_and_counts_what_did_not_pass() {
        let mut state = State::default();
        for name in ["a", "b", "c", "d", "a"] {
            state.started(name.to_owned());
        }
        assert_eq!(state.message(), "a ×2, b, c, and 1 more");
        state.finished("a", true);
        state.finished("b", false);
        assert_eq!(state.message(), "1 not passed · c, d, a");
        for name in ["a", "c", "d"] {
            state.finished(name, true);
        }
        assert_eq!(state.message(), "1 not passed");
    }
}
