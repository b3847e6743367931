//! What may be written on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::shard::Shard;
use crate::scenario::parse_duration;
use crate::server::Provider;

/// Replays scripted races on PostgreSQL and proves what happened.
#[derive(Debug, Parser)]
#[command(name = "lockstep", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    /// When to use colour.
    #[arg(long, value_name = "WHEN", global = true, default_value_t, value_enum)]
    pub color: Color,
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every case passed
  1  behaviour differs from a snapshot or an expectation
  2  the command line, or a scenario file, is wrong
  3  a server could not be had, or failed by itself
  4  nothing was selected to run";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Replay scenarios and compare them with their snapshots.
    Run(RunOptions),
    /// Replay one scenario and print its transcript; compare nothing.
    Show(ShowOptions),
    /// Accept the pending snapshots (*.snap.new).
    Accept(AcceptOptions),
    /// Validate scenario files; needs no server.
    Check(CheckOptions),
    /// Write an isolation spec as a scenario file.
    Convert(super::isolation::ConvertOptions),
    /// Fill the generated parts of Markdown files, or verify them; needs no server.
    Docs(DocsOptions),
    /// Print the JSON Schema of what Lockstep writes.
    Schema(SchemaOptions),
    /// List the pinned releases and what is at hand of them, fetch them, or make room.
    Servers(ServersOptions),
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which scenarios.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Scenario files, and folders to search for them. `run` also takes isolation specs.
    /// [default: the folder `scenarios`]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only scenarios whose path or title, or cases of a matrix whose name, contains TEXT.
    #[arg(short = 'k', value_name = "TEXT")]
    pub containing: Option<String>,
    /// Only scenarios that have the tag; may be given more than once.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// On which server, and how long.
#[derive(Debug, Args)]
pub(super) struct ServerOptions {
    /// The releases to replay on: `18`, `18.6`, `15,18`, `14..18` (both ends are meant) or `all`.
    /// [default: 18, or the release in the folder of `local:DIR` or of the server behind a URL]
    #[arg(long, value_name = "RELEASES")]
    pub pg: Option<String>,
    /// Where the server runs: `auto`, `container`, `embedded`, `local:DIR` with the folder of the
    /// programs of any build, or the URL of a server that is there, such as
    /// `postgresql://user@host/`, with the password in PGPASSWORD or ~/.pgpass.
    #[arg(long, value_name = "PROVIDER", default_value_t)]
    pub server: Provider,
    /// A file of pins that stand in the place of those built in.
    /// [default: lockstep-pins.yaml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub pins: Option<PathBuf>,
    /// How long a step, a set-up or a tear-down may take, where the scenario does not say.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub timeout: Duration,
    /// Run what asks for a superuser as one, who may run programs and read files on the machine of the
    /// server: scenarios with `superuser: true`, and all isolation specs.
    #[arg(long)]
    pub allow_superuser: bool,
}

/// Reads a length of time, and says how one is written.
fn time(text: &str) -> Result<Duration, String> {
    parse_duration(text)
        .map_err(|error| format!("{error}; write a number and its unit: `30s`, `500ms` or `2min`"))
}

#[derive(Debug, Args)]
pub(super) struct RunOptions {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub server: ServerOptions,
    /// How many cases run side by side, on all releases together.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Replay each case N times.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Run one of several parts of the cases: `2/4` is the second of four. A case is in the same
    /// part whatever else is run.
    #[arg(long, value_name = "PART")]
    pub shard: Option<Shard>,
    /// Start no further case once one has not passed.
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub isolation: super::isolation::IsolationOptions,
    /// Accept what is new or differs, at once.
    #[arg(long)]
    pub accept: bool,
    /// Remove snapshots that no case uses.
    #[arg(long)]
    pub remove_unused: bool,
    /// Say nothing unless something is wrong.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show every case, and every failure whole.
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowOptions {
    /// The scenario file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value_t, value_enum)]
    pub format: ShowFormat,
    /// Only the case of that name, of a scenario with a matrix. [default: all of them]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    #[command(flatten)]
    pub server: ServerOptions,
}

/// How `show` prints a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ShowFormat {
    /// As psql would.
    #[default]
    Text,
    /// As data, in one JSON document.
    Json,
}

#[derive(Debug, Args)]
pub(super) struct SchemaOptions {
    /// Of what.
    #[arg(value_name = "OF", value_enum)]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// What `show --format json` prints.
    Transcript,
}

#[derive(Debug, Args)]
pub(super) struct AcceptOptions {
    /// Scenario files and folders whose pending snapshots to accept. [default: the folder
    /// `scenarios`]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckOptions {
    #[command(flatten)]
    pub selection: Selection,
}

#[derive(Debug, Args)]
pub(super) struct DocsOptions {
    /// A file of pins that stand in the place of those built in.
    /// [default: lockstep-pins.yaml, if it is there]
    #[arg(long, value_name = "FILE", global = true)]
    pub pins: Option<PathBuf>,
    #[command(subcommand)]
    pub action: DocsAction,
}

/// What to do about the generated parts.
#[derive(Debug, Subcommand)]
pub(super) enum DocsAction {
    /// Fill them from the scenarios and their snapshots.
    Sync {
        /// Markdown files, and folders to search for them. [default: those of the current folder,
        /// and those below the folder `docs`]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Fail if they are not what `sync` would write.
    Check {
        /// Markdown files, and folders to search for them. [default: those of the current folder,
        /// and those below the folder `docs`]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(super) struct ServersOptions {
    /// A file of pins that stand in the place of those built in.
    /// [default: lockstep-pins.yaml, if it is there]
    #[arg(long, value_name = "FILE", global = true)]
    pub pins: Option<PathBuf>,
    #[command(subcommand)]
    pub action: Option<ServersAction>,
}

/// What to do about servers; without it they are listed.
#[derive(Debug, Subcommand)]
pub(super) enum ServersAction {
    /// Fetch releases into the cache, so that runs need no network.
    Fetch {
        /// Releases, ranges of majors such as 14..18, or `all`.
        #[arg(value_name = "RELEASE", default_value = super::pins::DEFAULT)]
        releases: Vec<String>,
    },
    /// Remove from the cache what is old, not pinned any more or unfinished, and not in use.
    Prune {
        /// Remove everything that is not in use.
        #[arg(long)]
        all: bool,
    },
}
