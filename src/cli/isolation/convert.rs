//! `lockstep convert`: isolation specs as scenario files.

use std::path::PathBuf;

use clap::Args;

use super::super::exit::ExitStatus;
use super::super::output::Output;
use super::select::load;
use crate::isolation;

#[derive(Debug, Args)]
pub(in crate::cli) struct ConvertOptions {
    /// The isolation spec.
    #[arg(value_name = "FILE.spec")]
    pub file: PathBuf,
    /// The scenario file to write; there must be none. [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Runs the command.
pub(in crate::cli) fn convert(options: &ConvertOptions, output: Output) -> ExitStatus {
    let specs = match load(std::slice::from_ref(&options.file), output) {
        Ok(specs) => specs,
        Err(status) => return status,
    };
    for spec in specs {
        let yaml = isolation::convert(&spec);
        let Some(path) = &options.output else {
            output.print(&yaml);
            continue;
        };
        let written = std::fs::File::create_new(path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, yaml.as_bytes()));
        if let Err(error) = written {
            output.fail(
                format_args!("failed to write {}: {error}", path.display()),
                None,
            );
            return ExitStatus::Invalid;
        }
    }
    ExitStatus::Passed
}
