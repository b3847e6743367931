//! Replays of cases and of their mutants, side by side, and what came out of them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use lockstep::runner::expect::unmet_in;
use lockstep::runner::{self, CaseId, Fleet, Outcome, RunEvent, RunOptions, Trouble, Verdict};
use lockstep::scenario::{Scenario, Sending, Span, SqlText, Statement};
use lockstep::server::{DatabaseError, Release};
use lockstep::transcript::{Answer, EventKind, Transcript};
use tokio::sync::mpsc::unbounded_channel;

/// How many replays run side by side; most of them wait most of the time.
const JOBS: usize = 8;

/// How long a step of a scenario may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A step of a mutant that takes longer is stuck: the change is noticed.
const LIMIT_OF_MUTANT: Duration = Duration::from_secs(2);

/// A case as it is written, and what it came to.
pub struct Case {
    pub scenario: Scenario,
    pub transcript: Transcript,
}

/// What a replay came to.
pub struct Ended {
    /// The position of the scenario among those that were to be replayed.
    pub number: usize,
    pub transcript: Transcript,
    pub verdict: Verdict,
}

/// Replays scenarios; they end in any order.
pub async fn all(
    scenarios: Vec<Scenario>,
    fleet: &Fleet,
    release: Release,
) -> Result<Vec<Ended>, DatabaseError> {
    let cases = scenarios
        .into_iter()
        .enumerate()
        .map(|(number, scenario)| CaseId {
            scenario: Arc::new(scenario),
            case: number.to_string(),
            release,
        });
    let options = RunOptions {
        jobs: JOBS,
        limit: LIMIT,
        fail_fast: false,
    };
    let (tell, mut events) = unbounded_channel();
    let mut ended = Vec::new();
    let listen = async {
        while let Some(event) = events.recv().await {
            if let RunEvent::Finished(result) = event
                && let Ok(number) = result.case.parse()
            {
                ended.push(Ended {
                    number,
                    transcript: result.transcript,
                    verdict: result.verdict,
                });
            }
        }
    };
    let run = runner::run(cases.collect(), fleet, options, Arc::new(judge), tell);
    let (finished, ()) = tokio::join!(run, listen);
    finished.map(|()| ended)
}

/// Judges by the expectations alone.
fn judge(case: &CaseId, outcome: &Outcome) -> Verdict {
    match &outcome.trouble {
        Some(Trouble::Invalid(diagnostic) | Trouble::Stuck(diagnostic)) => {
            return Verdict::Invalid(diagnostic.clone());
        }
        Some(Trouble::Server(what) | Trouble::Unfit(what)) => return Verdict::Error(what.clone()),
        None => {}
    }
    let mut unmet = outcome.unmet.clone();
    unmet.extend(unmet_in(&case.scenario, &outcome.transcript, case.release));
    if unmet.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Unmet(unmet)
    }
}

/// What came out, in the order in which it is reported: all answers and waits, and whether a
/// transaction was open afterwards, but nothing of what was sent.
pub fn came_out(transcript: &Transcript) -> String {
    let mut transcript = transcript.clone();
    let mut statuses = String::new();
    let of_schedules = transcript.schedules.iter_mut();
    let of_schedules = of_schedules.flat_map(|played| &mut played.kept);
    let of_schedules = of_schedules.flat_map(|schedule| &mut schedule.transcript.events);
    for event in transcript.events.iter_mut().chain(of_schedules) {
        match &mut event.kind {
            EventKind::Sent { sending, .. } => *sending = Sending::Statements(no_sql()),
            EventKind::Checked { sql, .. } => sql.clear(),
            EventKind::Answered {
                statement,
                answers,
                status,
                ..
            } => {
                *statement = Statement::default();
                answers.iter_mut().for_each(forget_sql);
                let _ = writeln!(statuses, "{} {status:?}", event.step);
            }
            _ => {}
        }
    }
    transcript.text().as_str().to_owned() + &statuses
}

/// What tells where in the SQL something happened is no news where the SQL was changed.
fn forget_sql(answer: &mut Answer) {
    if let Answer::Notice(message) | Answer::Error(message) = answer {
        message.position = None;
        message.internal_position = None;
        message.internal_query = None;
        message.context = None;
    }
}

const fn no_sql() -> SqlText {
    SqlText {
        text: String::new(),
        span: Span { start: 0, end: 0 },
        origins: Vec::new(),
    }
}

/// The scenario with a short limit for each of its steps.
pub fn within_limit(scenario: Scenario) -> Scenario {
    let limit = scenario.timeout.unwrap_or(LIMIT).min(LIMIT_OF_MUTANT);
    Scenario {
        timeout: Some(limit),
        ..scenario
    }
}
