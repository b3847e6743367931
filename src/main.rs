//! The `lockstep` program: see [`lockstep::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep::cli::main()
}
