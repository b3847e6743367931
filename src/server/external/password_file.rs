//! `.pgpass`: a password in a file that nobody else can read.

use std::fs;
use std::io;
use std::path::Path;

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub host: &'a str,
    pub port: &'a str,
    pub database: &'a str,
    pub user: &'a str,
}

/// The password in a file's first line that fits; `None` where no line does, or there is no file.
///
/// # Errors
///
/// Others than its owner can read the file, or it cannot be read.
pub(super) fn look_up(path: &Path, wanted: &Wanted<'_>) -> io::Result<Option<String>> {
    let text = match fs::metadata(path) {
        Ok(about) if about.is_file() => {
            refuse_open_to_others(&about)?;
            fs::read_to_string(path)?
        }
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(text.lines().find_map(|line| fitting(line, wanted)))
}

#[cfg(unix)]
fn refuse_open_to_others(about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    if about.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "others than its owner can read it; `chmod 600` makes it private",
    ))
}

#[cfg(not(unix))]
fn refuse_open_to_others(_about: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn fitting(line: &str, wanted: &Wanted<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for value in [wanted.host, wanted.port, wanted.database, wanted.user] {
        let (field, after) = field(rest)?;
        // Only a star that is written plainly stands for anything.
        let is_any = rest.starts_with("*:");
        if !is_any && field != value {
            return None;
        }
        rest = after;
    }
    // A colon may stand in the password as it is.
    Some(unescaped(rest))
}

/// The field at the beginning, and what comes after its colon.
fn field(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    let end = text.find(|c: char| {
        let ends = c == ':' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((unescaped(&text[..end]), &text[end + 1..]))
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => letters.next().unwrap_or('\\'),
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let wanted = Wanted {
            host: "::1",
            port: "5432",
            database: "postgres",
            user: "anna",
        };
        for (line, password) in [
            ("*:*:*:anna:one", Some("one")),
            (r"\:\:1:5432:postgres:anna:a\:b\\c:d", Some(r"a:b\c:d")),
            ("*:*:*:ann:one", None),
            (r"\*:*:*:anna:one", None),
            ("#*:*:*:anna:one", None),
            ("*:*:*:anna", None),
        ] {
            assert_eq!(fitting(line, &wanted).as_deref(), password, "{line}");
        }
    }
}
