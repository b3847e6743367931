//! The text of a snapshot file: insta's `.snap` form, made exact.
//!
//! insta gives meaning to `source` and carries whatever is under `info` along; other keys are lost
//! when `cargo insta accept` writes the file anew, so that is where everything of ours stands.
//!
//! On its way insta also drops all white space at the end of the text and every carriage return
//! before a line feed. A text that would suffer is written *escaped* (`info.escaped: true`): `\\`
//! is a backslash, `\r` a carriage return, `\<` a `<` that would look like the mark of a merge
//! conflict, and a backslash at the very end of the file says that the text ends there, without the
//! line feed that follows. All other texts are written as they are. No file therefore holds a
//! carriage return of the text, and those of a checkout with CRLF line ends can be told from them
//! and are taken away.

use std::path::Path;

use super::error::{SnapshotError, SnapshotErrorKind};
use super::header::Header;

/// The line before and behind the header.
const FENCE: &str = "---";
/// What a merge puts before the first side of a conflict.
const CONFLICT: &str = "<<<<<<<";

/// A snapshot file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// What its header says.
    pub header: Header,
    /// The text of the transcript, to the byte.
    pub text: String,
}

impl Snapshot {
    /// The file's whole text. It is what insta itself would write, so that it does not matter which
    /// of the two accepts a snapshot.
    #[must_use]
    pub fn to_file(&self) -> String {
        let escaped = !survives(&self.text);
        let mut file = format!("{FENCE}\n");
        file.push_str(&self.header.to_yaml(escaped));
        file.push_str(FENCE);
        file.push('\n');
        if escaped {
            push_escaped(&mut file, &self.text);
        } else {
            file.push_str(&self.text);
        }
        file
    }

    /// Reads a file's bytes; `path` is for the error.
    ///
    /// # Errors
    ///
    /// When it is not UTF-8, holds a merge conflict, or has no header or a wrong one.
    pub fn from_file(path: &Path, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let error = |kind| SnapshotError {
            path: path.to_path_buf(),
            kind,
        };
        let file = str::from_utf8(bytes).map_err(|source| {
            error(SnapshotErrorKind::NotUtf8 {
                offset: source.valid_up_to(),
            })
        })?;
        let file = file.replace("\r\n", "\n");
        if let Some(line) = file.split('\n').position(|line| line.starts_with(CONFLICT)) {
            return Err(error(SnapshotErrorKind::MergeConflict { line: line + 1 }));
        }
        let (yaml, body) = split(&file).ok_or_else(|| error(SnapshotErrorKind::NoHeader))?;
        let (header, escaped) = Header::from_yaml(yaml)
            .map_err(|message| error(SnapshotErrorKind::Header { message }))?;
        let text = if escaped {
            unescape(body).map_err(|(what, offset)| {
                let before = &body.as_bytes()[..offset];
                let lines = before.iter().filter(|byte| **byte == b'\n').count();
                error(SnapshotErrorKind::Escape {
                    what,
                    line: yaml.matches('\n').count() + 3 + lines,
                })
            })?
        } else {
            // A text that is not escaped ends in exactly one line feed, whatever an editor did.
            format!("{}\n", body.trim_end())
        };
        Ok(Self { header, text })
    }
}

/// The YAML between the fences, and the text behind them.
fn split(file: &str) -> Option<(&str, &str)> {
    let (first, rest) = file.split_once('\n')?;
    if first.trim_end() != FENCE {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Whether insta, and a merge, leave the text as it is.
fn survives(text: &str) -> bool {
    let trimmed = text.trim_end();
    !trimmed.is_empty()
        && &text[trimmed.len()..] == "\n"
        && !text.contains('\r')
        && !text.split('\n').any(|line| line.starts_with(CONFLICT))
}

/// Writes the text escaped, and its end.
fn push_escaped(file: &mut String, text: &str) {
    for line in text.split_inclusive('\n') {
        if line.starts_with(CONFLICT) {
            file.push('\\');
        }
        for character in line.chars() {
            match character {
                '\\' => file.push_str("\\\\"),
                '\r' => file.push_str("\\r"),
                other => file.push(other),
            }
        }
    }
    file.push_str("\\\n");
}

/// Undoes [`push_escaped`]; an error says what is wrong and at which byte.
fn unescape(body: &str) -> Result<String, (&'static str, usize)> {
    let mut text = String::with_capacity(body.len());
    let mut characters = body.char_indices();
    while let Some((at, character)) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some((_, '\\')) => text.push('\\'),
            Some((_, 'r')) => text.push('\r'),
            Some((_, '<')) => text.push('<'),
            None | Some((_, '\n')) if characters.as_str().trim().is_empty() => return Ok(text),
            _ => return Err(("a backslash is followed by none of `\\`, `r` and `<`", at)),
        }
    }
    let end = body.trim_end().len();
    Err(("the text does not end in a backslash", end))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot {
            header: Header {
                source: "scenarios/queue/two-workers.yaml".into(),
                scenario: "queue/two-workers".into(),
                case: "isolation=read committed".into(),
                releases: vec!["18.6".into(), "17.10".into()],
                redacted: vec!["<pid of A>".into()],
            },
            text: text.into(),
        }
    }

    fn read(file: &str) -> Result<Snapshot, SnapshotError> {
        Snapshot::from_file(Path::new("a.snap"), file.as_bytes())
    }

    /// Pieces out of which hostile texts are made.
    const PIECES: [&str; 16] = [
        "a", " ", "\n", "\r", "\r\n", "\\", "\\r", "---", "<", "<<<<<<<", "\t", "é", "\u{2028}",
        "\u{a0}", "\0", "=======",
    ];

    #[test]
    fn every_text_comes_back_to_the_byte() {
        let mut texts = vec![String::new()];
        for _ in 0..3 {
            let longer: Vec<String> = texts
                .iter()
                .flat_map(|text| PIECES.iter().map(move |piece| format!("{text}{piece}")))
                .collect();
            texts.extend(longer);
        }
        texts.push("x".repeat(3_000_000));
        texts.push("B> SELECT 1;\n ?column? \n----------\n        1\n(1 row)\n".into());
        for text in &texts {
            let written = snapshot(text);
            let file = written.to_file();
            assert_eq!(read(&file).expect("readable"), written, "{text:?}");
            let checkout = file.replace('\n', "\r\n");
            assert_eq!(read(&checkout).expect("readable"), written, "CRLF {text:?}");
        }
    }

    #[test]
    fn every_header_comes_back() {
        let mut values: Vec<String> = PIECES.map(str::to_owned).to_vec();
        for word in [
            "",
            "18.6",
            "0x10",
            "1e3",
            ".inf",
            "~",
            "Null",
            "NO",
            "a: b",
            "a #b",
            "- a",
            "{a}",
            "'a'",
            "\"a\"",
            "!a",
            "@a",
            "`a`",
            "%a",
            "2026-11-30",
            "a\u{85}b",
            "1_000",
            "\u{7f}",
        ] {
            values.push(word.into());
        }
        for value in &values {
            let mut written = snapshot("x\n");
            written.header.source.clone_from(value);
            written.header.case.clone_from(value);
            written.header.redacted = values.clone();
            assert_eq!(
                read(&written.to_file()).expect("readable"),
                written,
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_plain_text_is_written_as_it_is() {
        insta::assert_snapshot!(snapshot("A> SELECT 1;\n---\n\n  1\n").to_file(), @r#"
        ---
        source: scenarios/queue/two-workers.yaml
        info:
          scenario: queue/two-workers
          case: isolation=read committed
          releases:
            - "18.6"
            - "17.10"
          redacted:
            - "<pid of A>"
        ---
        A> SELECT 1;
        ---

          1
        "#);
    }

    #[test]
    fn a_text_that_insta_would_change_is_escaped() {
        insta::assert_snapshot!(snapshot("a\\b\r\nc  \n\n").to_file(), @r#"
        ---
        source: scenarios/queue/two-workers.yaml
        info:
          scenario: queue/two-workers
          case: isolation=read committed
          releases:
            - "18.6"
            - "17.10"
          redacted:
            - "<pid of A>"
          escaped: true
        ---
        a\\b\r
        c  

        \
        "#);
    }

    #[test]
    fn an_editor_may_touch_the_end_of_a_plain_file() {
        let file = snapshot("a\nb\n").to_file();
        for edited in [file.trim_end().to_owned(), format!("{file}\n\n")] {
            assert_eq!(read(&edited).expect("readable").text, "a\nb\n");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let escaped = snapshot("a\r").to_file();
        let files = [
            String::new(),
            "a text\n".into(),
            "---\nsource: a\n".into(),
            "---\nsource: [a\n---\nx\n".into(),
            "---\ninfo:\n  escaped: perhaps\n---\nx\n".into(),
            snapshot("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n")
                .to_file()
                .replace("\\<", "<"),
            escaped.replace("a\\r", "a\\q"),
            escaped.replace("\\r\\\n", "\\r\n"),
        ];
        let errors: Vec<String> = files
            .iter()
            .map(|file| read(file).expect_err(file).to_string())
            .chain([Snapshot::from_file(Path::new("a.snap"), b"---\n\xff")
                .expect_err("not UTF-8")
                .to_string()])
            .collect();
        insta::assert_snapshot!(errors.join("\n\n"), @r"
        snapshot `a.snap` has no header: its first line must be `---`, and a second `---` must end the header; restore it from version control, or remove it and run again

        snapshot `a.snap` has no header: its first line must be `---`, and a second `---` must end the header; restore it from version control, or remove it and run again

        snapshot `a.snap` has no header: its first line must be `---`, and a second `---` must end the header; restore it from version control, or remove it and run again

        snapshot `a.snap` has a header that cannot be read: error: line 2 column 9: expected string scalar
         --> <input>:2:9
          |
        1 |
        2 | source: [a
          |         ^ expected string scalar

        snapshot `a.snap` has a header that cannot be read: error: line 3 column 12: invalid boolean
         --> <input>:3:12
          |
        1 |
        2 | info:
        3 |   escaped: perhaps
          |            ^ invalid boolean

        snapshot `a.snap` holds an unresolved merge conflict (line 14); resolve it, or remove the file, run again and accept the new one

        snapshot `a.snap` says that its text is escaped, but a backslash is followed by none of `\`, `r` and `<` on line 13; restore it from version control, or remove it and run again

        snapshot `a.snap` says that its text is escaped, but the text does not end in a backslash on line 13; restore it from version control, or remove it and run again

        snapshot `a.snap` is not UTF-8 (byte 4); restore it from version control, or remove it and run again
        ");
    }
}
