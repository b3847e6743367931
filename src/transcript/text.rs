//! The text of a transcript: blocks that read like psql, and the runner's own lines, which begin
//! with `-- `.

use std::collections::HashMap;

use super::answer::Answer;
use super::event::{Event, EventKind, Transcript};
use super::psql;
use super::sent;
use super::time;
use super::volatile::{Replaced, Volatile};
use crate::scenario::{Blocker, SessionIndex, Shutdown};

/// A piece of a transcript's text that stands by itself: a statement with what came at once, a
/// check, or what came of a statement that had waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The position in the scenario's steps of the step it belongs to.
    pub step: usize,
    /// Its lines, each ended by a newline.
    pub text: String,
}

/// The whole text of a transcript, and the step of each of its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptText {
    text: String,
    /// For each block, the number of its first line, counted from 0, and its step.
    starts: Vec<(usize, usize)>,
    replaced: Vec<String>,
}

impl TranscriptText {
    /// Joins blocks, with one empty line between them.
    ///
    /// ```
    /// use lockstep::transcript::{Block, TranscriptText};
    ///
    /// let text = TranscriptText::join(&[
    ///     Block { step: 0, text: "A> BEGIN;\nBEGIN\n".to_owned() },
    ///     Block { step: 2, text: "B> BEGIN;\nBEGIN\n".to_owned() },
    /// ]);
    /// assert_eq!(text.as_str(), "A> BEGIN;\nBEGIN\n\nB> BEGIN;\nBEGIN\n");
    /// assert_eq!(text.step_of_line(1), Some(0));
    /// assert_eq!(text.step_of_line(3), Some(2));
    /// ```
    #[must_use]
    pub fn join(blocks: &[Block]) -> Self {
        let mut joined = Self::default();
        let mut line = 0;
        for block in blocks {
            if !joined.text.is_empty() {
                joined.text.push('\n');
                line += 1;
            }
            joined.starts.push((line, block.step));
            joined.text.push_str(&block.text);
            line += block.text.matches('\n').count();
        }
        joined
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands in it for values that are different in each run: `<pid of A>`.
    #[must_use]
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// The position in the scenario's steps of the step that a line belongs to; lines are counted
    /// from 0. The empty line after a block belongs to the block, and whatever is past the end of
    /// the text to the last one. `None` only for a text without blocks.
    #[must_use]
    pub fn step_of_line(&self, line: usize) -> Option<usize> {
        let after = self.starts.partition_point(|&(start, _)| start <= line);
        let (_, step) = self.starts.get(after.checked_sub(1)?)?;
        Some(*step)
    }
}

impl Transcript {
    /// The whole text.
    #[must_use]
    pub fn text(&self) -> TranscriptText {
        let (blocks, replaced) = self.write();
        TranscriptText {
            replaced: replaced.into_iter().map(|value| value.shown).collect(),
            ..TranscriptText::join(&blocks)
        }
    }

    /// The text, piece by piece.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        self.write().0
    }

    /// The text, piece by piece, and what stands in it for values of this run.
    pub(super) fn write(&self) -> (Vec<Block>, Vec<Replaced>) {
        if let Some(schedules) = &self.schedules {
            return schedules.write();
        }
        let mut writer = Writer {
            names: &self.sessions,
            volatile: Volatile::of(self),
            consequences: HashMap::new(),
            blocks: Vec::new(),
        };
        for event in &self.events {
            writer.take(event);
        }
        let blocks = writer.blocks.into_iter().map(|open| Block {
            step: open.step,
            text: open.text,
        });
        (blocks.collect(), writer.volatile.used())
    }
}

/// A block that later events may still add to.
struct OpenBlock {
    step: usize,
    /// Who acts in it; `None` is the observer.
    actor: Option<SessionIndex>,
    text: String,
    /// Whether it ends in the empty line psql puts below a table. It is written only when
    /// something follows in the same block.
    owes_empty_line: bool,
}

impl OpenBlock {
    /// Adds lines, and ends the last one: the data of COPY in binary form does not.
    fn push(&mut self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        if std::mem::take(&mut self.owes_empty_line) {
            self.text.push('\n');
        }
        self.text.push_str(lines);
        if !lines.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

struct Writer<'a> {
    names: &'a [String],
    volatile: Volatile<'a>,
    /// What is shown of each session's last step when the server has come to it.
    consequences: HashMap<SessionIndex, String>,
    blocks: Vec<OpenBlock>,
}

impl Writer<'_> {
    fn take(&mut self, event: &Event) {
        let step = event.step;
        match &event.kind {
            EventKind::Sent { session, sending } => {
                let lines = sent::lines(self.name(*session), sending);
                if let Some(lines) = sent::consequence(sending) {
                    self.consequences.insert(*session, lines);
                }
                self.open(step, Some(*session), lines);
            }
            EventKind::Checked { sql, invariant } => {
                let named = invariant
                    .as_ref()
                    .map_or_else(String::new, |name| format!("-- invariant: {name}\n"));
                let asked = sent::check(sql);
                self.open(step, None, named + &asked);
            }
            EventKind::Answered {
                session,
                statement,
                answers,
                ..
            } => self.answered(step, *session, &statement.text, answers),
            EventKind::Waits { session, blockers } => {
                let line = self.waits(self.name(*session), blockers);
                self.current(step, self.actor(*session), "").push(&line);
            }
            EventKind::HeldBack { session } => {
                let line = format!("-- {} is reported later\n", self.name(*session));
                self.current(step, self.actor(*session), "").push(&line);
            }
            EventKind::Continues { session } => {
                let line = format!("-- {} continues\n", self.name(*session));
                self.open(step, self.actor(*session), line);
            }
            EventKind::Advanced { by, to } => {
                let line = format!("-- the clock moves {} to {to}\n", time::shown(*by));
                self.open(step, None, line);
            }
            EventKind::Slept(for_so_long) => {
                self.open(
                    step,
                    None,
                    format!("-- {} pass\n", time::shown(*for_so_long)),
                );
            }
            EventKind::Disconnected(session) => {
                let line = format!("-- {} goes away without a goodbye\n", self.name(*session));
                self.open(step, None, line);
            }
            EventKind::Lingers { session, blockers } => {
                let backend = format!("the lost connection of {}", self.name(*session));
                let line = self.waits(&backend, blockers);
                self.current(step, None, "").push(&line);
            }
            EventKind::Connected(session) => {
                let line = format!("-- {} connects anew\n", self.name(*session));
                self.open(step, None, line);
            }
            EventKind::CancelRequested(session) => {
                let line = format!("-- {} asks to cancel its statement\n", self.name(*session));
                self.open(step, None, line);
            }
            EventKind::Terminated(session) => {
                let line = format!("-- the backend of {} is terminated\n", self.name(*session));
                self.open(step, None, line);
            }
            EventKind::Restarted(Shutdown::Fast) => {
                self.open(step, None, "-- the server restarts\n".to_owned());
            }
            EventKind::Restarted(Shutdown::Immediate) => {
                self.open(
                    step,
                    None,
                    "-- the server crashes and recovers\n".to_owned(),
                );
            }
            EventKind::Locks(_) => {}
        }
    }

    fn answered(
        &mut self,
        step: usize,
        session: Option<SessionIndex>,
        statement: &str,
        answers: &[Answer],
    ) {
        let actor = session.map_or("the observer", |session| self.name(session));
        let remark = answers.iter().find_map(|answer| match answer {
            Answer::ConnectionLost => Some(format!("-- the connection of {actor} is closed\n")),
            Answer::ReplyLost => Some(format!(
                "-- the connection of {actor} is lost before an answer\n"
            )),
            _ => None,
        });
        // It opens a block only if something else was reported since the statement.
        let opening = format!("-- {actor} answers\n");
        if answers.contains(&Answer::Skipped) {
            self.current(step, session, &opening)
                .push("-- not run: the pipeline is aborted\n");
        }
        let named = self.volatile.answers(answers);
        let has_come_to_it = |answer: &Answer| matches!(answer, Answer::CopyIn | Answer::Prepared);
        for (number, answers) in named.split(has_come_to_it).enumerate() {
            let text = psql::render_with(statement, answers, &|pid| self.volatile.backend(pid));
            let consequence = session
                .filter(|_| number > 0)
                .and_then(|session| self.consequences.remove(&session));
            let block = self.current(step, session, &opening);
            block.push(&consequence.unwrap_or_default());
            // Only a table ends in an empty line; what COPY sends may, too, but that is data.
            match text.strip_suffix("\n\n") {
                Some(above) if ends_with_table(answers) => {
                    block.push(&format!("{above}\n"));
                    block.owes_empty_line = true;
                }
                _ => block.push(&text),
            }
        }
        if let Some(remark) = remark {
            self.current(step, session, &opening).push(&remark);
        }
    }

    /// The last block if it is about this step and this actor, else a new one.
    fn current(
        &mut self,
        step: usize,
        actor: Option<SessionIndex>,
        opening: &str,
    ) -> &mut OpenBlock {
        let is_open = self
            .blocks
            .last()
            .is_some_and(|block| block.step == step && block.actor == actor);
        if !is_open {
            self.open(step, actor, opening.to_owned());
        }
        self.blocks
            .last_mut()
            .expect("there is a block now, if there was none")
    }

    fn open(&mut self, step: usize, actor: Option<SessionIndex>, text: String) {
        self.blocks.push(OpenBlock {
            step,
            actor,
            text,
            owes_empty_line: false,
        });
    }

    fn waits(&self, name: &str, blockers: &[Blocker]) -> String {
        let mut blockers = blockers.to_vec();
        blockers.sort();
        blockers.dedup();
        let words: Vec<String> = blockers.iter().map(|blocker| self.word(blocker)).collect();
        match words.as_slice() {
            [] => format!("-- {name} waits\n"),
            [only] => format!("-- {name} waits for {only}\n"),
            [most @ .., last] => format!("-- {name} waits for {} and {last}\n", most.join(", ")),
        }
    }

    fn word(&self, blocker: &Blocker) -> String {
        match blocker {
            Blocker::Session(session) => self.name(*session).to_owned(),
            Blocker::LostConnection(session) => {
                format!("the lost connection of {}", self.name(*session))
            }
            Blocker::PreparedTransaction => "a prepared transaction".to_owned(),
            Blocker::WaitEvent(event) => format!("the wait event {event}"),
        }
    }

    /// Who acts in a block; the observer stands behind the sessions of the scenario.
    fn actor(&self, session: SessionIndex) -> Option<SessionIndex> {
        (session.0 < self.names.len()).then_some(session)
    }

    fn name(&self, session: SessionIndex) -> &str {
        self.names
            .get(session.0)
            .map_or("the observer", String::as_str)
    }
}

/// Whether a table is the last thing psql prints for these answers. A notice never is, if there is
/// a table: it is printed first.
fn ends_with_table(answers: &[Answer]) -> bool {
    answers
        .iter()
        .rev()
        .find(|answer| !matches!(answer, Answer::Notice(_) | Answer::ConnectionLost))
        .is_some_and(|answer| matches!(answer, Answer::Rows(_)))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
