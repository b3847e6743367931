//! The document as a whole.

use schemars::JsonSchema;
use serde::Serialize;

use super::event::{EventDocument, event_documents};
use super::session_name;
use crate::transcript::{PlayedSchedules, Transcript};

/// The transcripts of one scenario file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "Lockstep transcripts")]
pub struct TranscriptsDocument {
    /// The version of this form.
    pub version: u32,
    /// A transcript for each case, in the order of the file.
    pub transcripts: Vec<TranscriptDocument>,
}

/// The transcript of one case.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TranscriptDocument {
    /// The path of the scenario file, as it was given.
    pub scenario: String,
    /// The name of the case.
    pub case: String,
    /// The exact PostgreSQL release, such as `18.6`.
    pub release: String,
    /// The names of the sessions, in the order of the file.
    pub sessions: Vec<String>,
    /// The server processes of the sessions and of the outside observer, in the order in which they
    /// connected.
    pub backends: Vec<BackendDocument>,
    /// What happened, in the order in which it is reported.
    pub events: Vec<EventDocument>,
    /// The text, piece by piece. With an empty line between each two it is the whole text.
    pub blocks: Vec<BlockDocument>,
    /// What the text shows in the place of values that are different in each run.
    pub replaced: Vec<ReplacedDocument>,
    /// What came of the schedules, where the scenario has some; there are no events then.
    pub schedules: Option<SchedulesDocument>,
    /// Why the replay did not come to its end, if it did not.
    pub trouble: Option<TroubleDocument>,
}

/// What came of the schedules of a scenario.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SchedulesDocument {
    /// The different outcomes, in the order in which the schedules come to them.
    pub outcomes: Vec<OutcomeDocument>,
    /// The schedules that are listed or, of all interleavings, the first of each outcome.
    pub schedules: Vec<ScheduleDocument>,
}

/// What some schedules have in common: what each step was answered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutcomeDocument {
    /// How many schedules came to it.
    pub schedules: usize,
    /// The names of the steps of the first of them, in its order.
    pub first: Vec<String>,
    /// Who waits for whom for ever, where they could not be played to their end.
    pub stuck: Option<String>,
}

/// One schedule.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScheduleDocument {
    /// The names of its steps, in its order.
    pub steps: Vec<String>,
    /// The position of its outcome, counted from 0.
    pub outcome: usize,
    /// The server processes, as in a transcript.
    pub backends: Vec<BackendDocument>,
    /// What happened. The position of a step is its place in the schedule; invariants come behind.
    pub events: Vec<EventDocument>,
}

/// Which case a transcript is of.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The path of the scenario file.
    pub scenario: String,
    /// The name of the case.
    pub case: String,
    /// The exact release.
    pub release: String,
}

/// A server process.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackendDocument {
    /// Whose it is; `null` is the outside observer.
    pub session: Option<String>,
    /// Its process id.
    pub pid: i32,
}

/// A piece of the text that stands by itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlockDocument {
    /// The position of its step in the scenario, counted from 0.
    pub step: usize,
    /// Its lines, each ended by a newline.
    pub text: String,
}

/// What is shown for values of this run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReplacedDocument {
    /// What is shown: `<pid of A>`.
    pub shown: String,
    /// The values that it stands for, each once, in the order of their text.
    pub raw: Vec<String>,
}

/// Why a replay did not come to its end.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TroubleDocument {
    /// The scenario cannot be replayed as it is written.
    Invalid {
        /// What is wrong.
        message: String,
    },
    /// The server failed by itself.
    Server {
        /// How.
        message: String,
    },
}

impl TranscriptDocument {
    /// The document for a transcript.
    ///
    /// ```
    /// use lockstep::transcript::Transcript;
    /// use lockstep::transcript::json::{Subject, TranscriptDocument};
    ///
    /// let subject = Subject {
    ///     scenario: "scenarios/queue/two-workers.yaml".to_owned(),
    ///     case: "default".to_owned(),
    ///     release: "18.6".to_owned(),
    /// };
    /// let document = TranscriptDocument::of(subject, &Transcript::default(), None);
    /// assert_eq!(document.case, "default");
    /// ```
    #[must_use]
    pub fn of(subject: Subject, transcript: &Transcript, trouble: Option<TroubleDocument>) -> Self {
        let (blocks, replaced) = transcript.write();
        Self {
            scenario: subject.scenario,
            case: subject.case,
            release: subject.release,
            sessions: transcript.sessions.clone(),
            backends: backends(transcript),
            events: event_documents(transcript),
            blocks: blocks
                .into_iter()
                .map(|block| BlockDocument {
                    step: block.step,
                    text: block.text,
                })
                .collect(),
            replaced: replaced
                .into_iter()
                .map(|value| ReplacedDocument {
                    shown: value.shown,
                    raw: value.raw,
                })
                .collect(),
            schedules: transcript.schedules.as_ref().map(SchedulesDocument::of),
            trouble,
        }
    }
}

impl SchedulesDocument {
    fn of(played: &PlayedSchedules) -> Self {
        let outcomes = played.outcomes.iter().map(|outcome| OutcomeDocument {
            schedules: outcome.schedules,
            first: outcome.first.clone(),
            stuck: outcome.stuck.clone(),
        });
        let schedules = played.kept.iter().map(|schedule| ScheduleDocument {
            steps: schedule.steps.clone(),
            outcome: schedule.outcome,
            backends: backends(&schedule.transcript),
            events: event_documents(&schedule.transcript),
        });
        Self {
            outcomes: outcomes.collect(),
            schedules: schedules.collect(),
        }
    }
}

fn backends(transcript: &Transcript) -> Vec<BackendDocument> {
    let backends = transcript.backends.iter();
    backends
        .map(|(pid, session)| BackendDocument {
            session: session_name(&transcript.sessions, *session),
            pid: *pid,
        })
        .collect()
}

impl TranscriptsDocument {
    /// The version of the form that this release writes.
    pub const VERSION: u32 = 1;

    /// The document with these transcripts.
    ///
    /// ```
    /// use lockstep::transcript::json::TranscriptsDocument;
    ///
    /// let document = TranscriptsDocument::of(Vec::new());
    /// assert_eq!(document.to_json(), "{\n  \"version\": 1,\n  \"transcripts\": []\n}\n");
    /// ```
    #[must_use]
    pub const fn of(transcripts: Vec<TranscriptDocument>) -> Self {
        Self {
            version: Self::VERSION,
            transcripts,
        }
    }

    /// The document in JSON, for people too, with a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("all keys are strings");
        json.push('\n');
        json
    }

    /// The JSON Schema of the document, in JSON, with a newline at its end.
    #[must_use]
    pub fn schema() -> String {
        let schema = schemars::schema_for!(Self);
        let mut json = serde_json::to_string_pretty(&schema).expect("all keys are strings");
        json.push('\n');
        json
    }
}
