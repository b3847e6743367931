//! Asking a `postgres` program which release it is.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);

/// The line in which a `postgres` program tells its version; else what it said instead.
pub(super) async fn ask_version(program: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT, output)
        .await
        .map_err(|_| "it does not answer".to_owned())?
        .map_err(|error| error.to_string())?;
    let line = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && line.contains("(PostgreSQL)") {
        return Ok(line.trim().to_owned());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&said).trim().to_owned())
}
