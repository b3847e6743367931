//! A spec from its connections to its last schedule.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::connections::Connections;
use super::halt::{Halt, Part};
use super::look::is_no_lock;
use super::player::Player;
use super::schedule::begins_only;
use crate::isolation::refill::refill;
use crate::isolation::spec::Spec;
use crate::runner::{
    Backend, Cast, Observer, SeenBlocker, Trouble, VACUUM_TRUNCATE, names_a_timeout, tell,
};
use crate::scenario::{Diagnostic, SessionIndex, Signals, Span, Spanned, token_at};
use crate::server::Endpoint;

/// What came of playing a spec.
#[derive(Debug)]
pub struct Played {
    /// What isolationtester would print, its complaints included.
    pub output: String,
    /// Why it was not played to its end, if it was not.
    pub trouble: Option<Trouble>,
    /// How much was done, and how fast.
    pub figures: Figures,
}

/// How much was done, and how fast.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Schedules that were played to their end.
    pub schedules: usize,
    /// Steps that were begun.
    pub steps: usize,
    /// For each wait that was proven: the time from when the step was sent until it was known.
    pub waits: Vec<Duration>,
    /// The sessions whose step took too long and was cancelled.
    pub cancelled: Vec<usize>,
}

impl Figures {
    /// The median of the times after which waits were known.
    #[must_use]
    pub fn median_wait(&self) -> Option<Duration> {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        waits.get(waits.len() / 2).copied()
    }
}

/// Where a spec is played.
pub(crate) struct Place<'a> {
    /// As whom.
    pub endpoint: &'a Endpoint,
    /// In which database; the spec must have it to itself.
    pub database: &'a str,
    /// What asks who waits for whom.
    pub observer: &'a Observer,
    /// How long a step, a set-up or a tear-down may take.
    pub limit: Duration,
    /// Whether nobody but the spec comes to its tables, such as autovacuum.
    pub is_undisturbed: bool,
}

/// Plays all schedules of a spec, one after the other, in the same sessions. Connections that are
/// there already are used before others are made; all of them stay open.
pub(crate) async fn play(spec: &Spec, place: &Place<'_>, connections: &mut Connections) -> Played {
    let mut output = String::new();
    for step in &spec.unused {
        output.push_str(&format!("unused step name: {}\n", step.value));
    }
    let sessions = spec.sessions.len();
    output.push_str(&format!("Parsed test spec with {sessions} sessions\n"));
    let lines = match connections.serve(spec, place).await {
        Ok(lines) => lines,
        Err(trouble) => {
            return Played {
                output,
                trouble: Some(trouble),
                figures: Figures::default(),
            };
        }
    };
    let mut cast = Cast::of(lines.len());
    for (at, line) in lines.iter().enumerate() {
        cast.enter(SessionIndex(at), line.pid());
    }
    let steps: BTreeSet<Span> = spec
        .sessions
        .iter()
        .flat_map(|session| &session.steps)
        .map(|step| step.sql.span)
        .collect();
    let mut player = Player {
        spec,
        observer: place.observer,
        limit: place.limit,
        lines,
        cast,
        current: spec.sessions.iter().map(|_| None).collect(),
        waiting: Vec::new(),
        has_new_notice: false,
        standings: BTreeMap::new(),
        proven: BTreeSet::new(),
        is_signalled: false,
        any_may_signal: spec.all_sql().any(|sql| match Signals::of(&sql.value) {
            Signals::Never => false,
            Signals::AtOnce => !steps.contains(&sql.span),
            Signals::Later => true,
        }),
        waits_may_end: spec.all_sql().any(|sql| names_a_timeout(&sql.value)),
        refill: refill(spec).filter(|_| place.is_undisturbed),
        is_refilled: false,
        begins_only: spec
            .sessions
            .iter()
            .map(|session| session.setup.as_ref().is_some_and(begins_only))
            .collect(),
        output,
        figures: Figures::default(),
    };
    let trouble = match player.schedules().await {
        Ok(()) => player.cancelled(),
        Err(halt) => Some(player.tell(halt).await),
    };
    Played {
        output: player.output,
        trouble,
        figures: player.figures,
    }
}

impl Player<'_> {
    async fn schedules(&mut self) -> Result<(), Halt> {
        let spec = self.spec;
        let mut schedules = spec.schedules.iter().peekable();
        self.begin_setups().await?;
        while let Some(schedule) = schedules.next() {
            let is_last = schedules.peek().is_none();
            self.schedule(&schedule, is_last).await?;
            self.figures.schedules += 1;
        }
        Ok(())
    }

    /// That steps took too long, if any did.
    fn cancelled(&self) -> Option<Trouble> {
        let session = *self.figures.cancelled.first()?;
        let name = &self.spec.sessions[session];
        Some(Trouble::Invalid(self.diagnostic(
            name.name.span,
            "a step took longer than its time limit, and was cancelled",
            &format!("of session `{}`", name.name.value),
            Some("`--timeout` gives more time".to_owned()),
        )))
    }

    fn diagnostic(
        &self,
        span: Span,
        message: &str,
        label: &str,
        help: Option<String>,
    ) -> Diagnostic {
        Diagnostic {
            source: self.spec.source.clone(),
            message: message.to_owned(),
            span,
            label: label.to_owned(),
            related: Vec::new(),
            help,
        }
    }

    /// Says why a spec was not played to its end, and who waits for whom.
    async fn tell(&self, halt: Halt) -> Trouble {
        let mut at = None;
        let (part, message, help) = match halt {
            Halt::Observer(error) => return Trouble::Server(tell(&error)),
            Halt::Setup(part, position) => {
                at = position;
                let said = self.output.lines().rfind(|line| line.contains("failed: "));
                let said = said.unwrap_or_default().to_owned();
                (part, said, None)
            }
            Halt::Stuck(part) => {
                let waits = self.waits().await;
                let message = format!("this schedule cannot go on: {waits}");
                (part, message, Some(self.reached()))
            }
            Halt::TimeLimit(part) => {
                let waits = self.waits().await;
                let seconds = self.limit.as_secs();
                let message = if waits.is_empty() {
                    format!("this takes longer than {seconds} s")
                } else {
                    format!("this takes longer than {seconds} s: {waits}")
                };
                (part, message, Some(self.reached()))
            }
            Halt::HeldBack(session) => {
                let part = Part::Step(session);
                let message = "the markers of this step hold back its report for ever".to_owned();
                (part, message, Some(self.reached()))
            }
            Halt::Disconnected(session) => (
                Part::Step(session),
                "this step's session has lost its connection before".to_owned(),
                Some(self.reached()),
            ),
            Halt::Send(part, error) => (part, format!("failed to {}", tell(&error)), None),
            Halt::Answer(part, closing) => (part, closing.to_string(), None),
        };
        let (span, label) = match part {
            Part::Step(session) => match self.step_of(session) {
                Some(step) => (step.name.span, format!("step of {}", self.name(session))),
                None => (self.spec.sessions[session].name.span, String::new()),
            },
            part => {
                let text = &self.spec.source.text;
                let block = self.sql_of(part);
                let place = match at {
                    Some(position) => token_in(text, block, position),
                    None => first_line(text, block.span),
                };
                (place, String::new())
            }
        };
        Trouble::Invalid(self.diagnostic(span, &message, &label, help))
    }

    /// In which schedule that was.
    fn reached(&self) -> String {
        let header = self
            .output
            .lines()
            .rfind(|line| line.starts_with("starting permutation:"));
        let steps = header.and_then(|line| line.split_once(": "));
        format!(
            "it is in: permutation {}",
            steps.map_or("", |(_, steps)| steps)
        )
    }

    fn name(&self, session: usize) -> &str {
        self.spec
            .sessions
            .get(session)
            .map_or("the control connection", |session| &session.name.value)
    }

    /// Whom everybody in flight waits for: `s2 (step w2) waits for s1, which is idle`.
    async fn waits(&self) -> String {
        let in_flight = self.in_flight();
        let backends: Vec<Backend> = in_flight.iter().copied().map(Backend::Of).collect();
        let is_wait = |_, event: &str| is_no_lock(event);
        let Ok(look) = self.observer.look(&self.cast, &backends, is_wait).await else {
            return "the server does not say who waits for whom".to_owned();
        };
        let mut told = Vec::new();
        for sighting in look.seen {
            let whom: Vec<String> = sighting
                .blockers
                .iter()
                .map(|blocker| match blocker {
                    SeenBlocker::Backend(Backend::Of(session)) => {
                        let is_idle = !in_flight.contains(session);
                        let idle = if is_idle { ", which is idle" } else { "" };
                        format!("{}{idle}", self.name(session.0))
                    }
                    SeenBlocker::Backend(Backend::Lost(session, _)) => {
                        format!("the lost connection of {}", self.name(session.0))
                    }
                    SeenBlocker::PreparedTransaction => "a prepared transaction".to_owned(),
                    SeenBlocker::Event(event) => event.clone(),
                    SeenBlocker::Truncation(_) => VACUUM_TRUNCATE.to_owned(),
                    SeenBlocker::Stranger(pid) => format!("a backend of somebody else (pid {pid})"),
                })
                .collect();
            if whom.is_empty() {
                continue;
            }
            let at = sighting.backend.session().0;
            let step = self.current.get(at).and_then(Option::as_ref);
            let step = step.map_or_else(String::new, |current| {
                format!(" (step {})", self.spec.step(current.step).name.value)
            });
            told.push(format!(
                "{}{step} waits for {}",
                self.name(at),
                whom.join(", ")
            ));
        }
        told.join("; ")
    }
}

/// The token of a block of SQL that begins at a character, counted from 1.
fn token_in(text: &str, block: &Spanned<String>, position: u32) -> Span {
    let sql = &block.value;
    let before = usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some((at, _)) = sql.char_indices().nth(before) else {
        return first_line(text, block.span);
    };
    let token = token_at(sql, at);
    // Nothing but blanks and the brace stands before the SQL.
    let Some(start) = text[block.span.start..block.span.end].find(sql.as_str()) else {
        return first_line(text, block.span);
    };
    let start = block.span.start + start;
    Span {
        start: start + token.start,
        end: start + token.end,
    }
}

/// The part of a place that is on its first line: a block of SQL may be long.
fn first_line(text: &str, span: Span) -> Span {
    let length = text[span.start..span.end]
        .find('\n')
        .unwrap_or(span.end - span.start);
    Span {
        start: span.start,
        end: span.start + length,
    }
}
