//! Asking a `postgres` program which release it is.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::release::Release;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);

/// The release of a `postgres` program; else what it said instead.
pub(super) async fn ask_version(program: &Path) -> Result<Release, String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT, output)
        .await
        .map_err(|_| "it does not answer".to_owned())?
        .map_err(|error| error.to_string())?;
    Release::from_version_line(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).trim().to_owned()
    })
}
