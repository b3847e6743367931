//! Text as YAML: plain where that is safe, in lines where there are several, else in quotes.

/// Words that a reader of YAML may take for something else than text.
const RESERVED: &[&str] = &[
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "~", "",
];

/// A key, or an element of a flow sequence.
pub(super) fn key(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
        && !is_reserved(text);
    if is_plain {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A value behind `key: ` or `- `, whose own lines stand two blanks deeper than `indent`.
pub(super) fn scalar(text: &str, indent: usize) -> String {
    let text = dedented(text);
    if text.contains('\n') {
        literal(&text, indent)
    } else if is_plain(&text) {
        text
    } else {
        quoted(&text)
    }
}

/// Text of several lines, as they are.
fn literal(text: &str, indent: usize) -> String {
    if text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
    {
        return quoted(text);
    }
    // Where the first line is indented itself, it must be told what is the block's.
    let mut out = String::from(if text.starts_with(' ') { "|2" } else { "|" });
    let deeper = " ".repeat(indent + 2);
    for line in text.lines() {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&deeper);
            out.push_str(line);
        }
    }
    out
}

/// Without empty lines at both ends, the blanks at the ends of lines, and those that all lines
/// begin with. The first line may begin where the block does.
fn dedented(text: &str) -> String {
    let expanded: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().replace('\t', "    "))
        .collect();
    let first = expanded.iter().position(|line| !line.is_empty());
    let Some(first) = first else {
        return String::new();
    };
    let last = expanded
        .iter()
        .rposition(|line| !line.is_empty())
        .unwrap_or(first);
    let lines = &expanded[first..=last];
    let blanks = |line: &String| line.len() - line.trim_start().len();
    let starts_behind_brace = first == 0;
    let common = lines
        .iter()
        .skip(usize::from(starts_behind_brace))
        .filter(|line| !line.is_empty())
        .map(blanks)
        .min()
        .unwrap_or(0);
    let cut = |(at, line): (usize, &String)| {
        let is_first = at == 0 && starts_behind_brace;
        let common = if is_first { blanks(line) } else { common };
        line.get(common..).unwrap_or_default().to_owned()
    };
    let lines: Vec<String> = lines.iter().enumerate().map(cut).collect();
    lines.join("\n")
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic())
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.chars().any(char::is_control)
        && !is_reserved(text)
}

fn is_reserved(text: &str) -> bool {
    RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

/// In double quotes, as JSON writes it, which YAML reads.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
