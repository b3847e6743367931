//! The header of a snapshot file, in YAML.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::server::Release;

/// What the header of a snapshot says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// The path of the scenario from the root of the project, with `/` between its parts.
    pub source: String,
    /// The name of the scenario: `queue/two-workers`.
    pub scenario: String,
    /// The name of the case, and which outcomes it had where these were not the first ones.
    pub case: String,
    /// The releases it was seen on by the time it was accepted, such as `18.6`.
    pub releases: Vec<String>,
    /// What was replaced in the text, such as `<pid of A>`.
    pub redacted: Vec<String>,
}

impl Header {
    /// Whether a file with this header is Lockstep's, and not a snapshot of somebody's Rust tests.
    pub(super) fn is_ours(&self) -> bool {
        !self.scenario.is_empty() && !self.case.is_empty()
    }

    /// The releases that can be read as such.
    pub(super) fn exact_releases(&self) -> Vec<Release> {
        let read = self.releases.iter().map(|release| release.parse());
        read.filter_map(Result::ok).collect()
    }

    /// The YAML, just as insta writes it.
    pub(super) fn to_yaml(&self, escaped: bool) -> String {
        let mut yaml = String::new();
        push_entry(&mut yaml, "source", &self.source);
        yaml.push_str("info:\n");
        push_entry(&mut yaml, "  scenario", &self.scenario);
        push_entry(&mut yaml, "  case", &self.case);
        push_list(&mut yaml, "  releases", &self.releases);
        push_list(&mut yaml, "  redacted", &self.redacted);
        if escaped {
            yaml.push_str("  escaped: true\n");
        }
        yaml
    }

    /// Reads the YAML: the header, and whether the text is escaped. An error says what is wrong.
    pub(super) fn from_yaml(yaml: &str) -> Result<(Self, bool), String> {
        // The empty line stands for the fence, so that a message counts lines as the file does.
        let read: HeaderYaml =
            serde_saphyr::from_str(&format!("\n{yaml}")).map_err(|source| source.to_string())?;
        let header = Self {
            source: read.source,
            scenario: read.info.scenario,
            case: read.info.case,
            releases: read.info.releases,
            redacted: read.info.redacted,
        };
        Ok((header, read.info.escaped))
    }
}

/// The header as YAML has it. Keys that insta may add are passed over.
#[derive(Deserialize)]
struct HeaderYaml {
    #[serde(default)]
    source: String,
    #[serde(default)]
    info: InfoYaml,
}

/// The part of the header that is Lockstep's own.
#[derive(Default, Deserialize)]
#[serde(default)]
struct InfoYaml {
    scenario: String,
    case: String,
    releases: Vec<String>,
    redacted: Vec<String>,
    escaped: bool,
}

/// Writes a key and its value.
fn push_entry(yaml: &mut String, key: &str, value: &str) {
    yaml.push_str(key);
    yaml.push_str(": ");
    push_scalar(yaml, value);
    yaml.push('\n');
}

/// Writes a key and its list.
fn push_list(yaml: &mut String, key: &str, values: &[String]) {
    if values.is_empty() {
        let _ = writeln!(yaml, "{key}: []");
        return;
    }
    let _ = writeln!(yaml, "{key}:");
    for value in values {
        yaml.push_str("    - ");
        push_scalar(yaml, value);
        yaml.push('\n');
    }
}

/// Writes a YAML string: bare where no reader can take it for something else, otherwise between
/// double quotes.
fn push_scalar(yaml: &mut String, value: &str) {
    if is_bare(value) {
        yaml.push_str(value);
        return;
    }
    yaml.push('"');
    for character in value.chars() {
        match character {
            '"' => yaml.push_str("\\\""),
            '\\' => yaml.push_str("\\\\"),
            '\n' => yaml.push_str("\\n"),
            '\r' => yaml.push_str("\\r"),
            '\t' => yaml.push_str("\\t"),
            '\u{8}' => yaml.push_str("\\b"),
            '\u{c}' => yaml.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(yaml, "\\u{:04x}", u32::from(character));
            }
            // YAML 1.1 readers end a line at these, and some refuse C1 controls.
            '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(yaml, "\\u{:04x}", u32::from(character));
            }
            other => yaml.push(other),
        }
    }
    yaml.push('"');
}

/// Whether a string can stand in YAML without quotes, in a value of a block.
fn is_bare(value: &str) -> bool {
    let words = [
        "yes", "no", "true", "false", "on", "off", "null", "y", "n", "nan", "inf", "infinity",
    ];
    value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '_')
        && !value.ends_with(' ')
        && value.chars().all(|character| {
            character.is_alphanumeric()
                || matches!(
                    character,
                    ' ' | '/' | '_' | '-' | '.' | '=' | '+' | '(' | ')' | '<' | '>' | '@' | '~'
                )
        })
        && !words.contains(&value.to_ascii_lowercase().as_str())
}
