//! Volatile values in what EXPLAIN ANALYZE prints, in each of its formats. Rows, loops and costs
//! are what it is asked for; times, and what else depends on the machine, are not.

use std::sync::LazyLock;

use super::form::Forms;
use super::names::Names;
use crate::transcript::answer::ResultSet;

static TEXT: LazyLock<Forms> = LazyLock::new(|| {
    Forms::new(&[
        r"\bactual time=(?<time>\d+\.\d+)\.\.(?<time2>\d+\.\d+)",
        r"^(?:Trigger .*|  Serialization): time=(?<time>\d+\.\d+)",
        r"^(?: *)(?:Planning|Execution) Time: (?<time>\d+\.\d+) ms",
        r"^ *(?:Serialization: time=(?<time>\d+\.\d+) ms  output=(?<n>\d+)kB)",
        r"^ *(?:I/O Timings|Timing): (?<time>.+)$",
        r"^ *(?:Buffers|WAL): (?<n>.+)$",
        r"\b(?:Memory|Memory Usage|Memory usage|Disk|Disk Usage|Maximum Storage): (?<n>\d+)kB",
        r"^ *Memory: used=(?<n>\d+)kB  allocated=(?<n2>\d+)kB",
    ])
});

/// JSON, YAML and XML: one name and one value a line.
static STRUCTURED: LazyLock<Forms> = LazyLock::new(|| {
    Forms::new(&[
        r#"(?m)^ *(?:- )?["<]?(?:Actual[ -](?:Startup|Total)[ -]Time|(?:Planning|Execution)[ -]Time|[A-Za-z/ -]+[ -]I/O[ -](?:Read|Write)[ -]Time|I-O-(?:Read|Write)-Time|Time|Generation|Deform|Inlining|Optimization|Emission|Total)(?:": |: |>)(?<time>\d+\.\d+)"#,
        r#"(?m)^ *(?:- )?["<]?(?:(?:Shared|Local|Temp)[ -](?:Hit|Read|Dirtied|Written)[ -]Blocks|WAL[ -](?:Records|FPI|Bytes|Buffers[ -]Full)|Peak[ -]Memory[ -]Usage|Memory[ -](?:Used|Allocated)|Sort[ -]Space[ -]Used|Disk[ -]Usage|Maximum[ -]Storage)(?:": |: |>)(?<n>\d+)"#,
    ])
});

/// Puts names in the place of the volatile values of a plan.
pub(super) fn replace(plan: &mut ResultSet, names: &Names<'_>) {
    for line in plan.rows.iter_mut().flatten().flatten() {
        let forms = if line.contains('\n') {
            &STRUCTURED
        } else {
            &TEXT
        };
        forms.replace(line, names);
    }
}
