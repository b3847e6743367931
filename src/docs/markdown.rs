//! Pieces of Markdown.

use std::path::Path;

use crate::scenario::Scenario;
use crate::server::Release;

/// Text on one line in which nothing has a meaning to Markdown.
pub(super) fn text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::with_capacity(line.len());
    let mut before = ' ';
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        let is_inside =
            before.is_alphanumeric() && rest.peek().is_some_and(|c| c.is_alphanumeric());
        if "\\`*<[]|".contains(character) || (character == '_' && !is_inside) {
            escaped.push('\\');
        }
        escaped.push(character);
        before = character;
    }
    escaped
}

/// A link to a scenario, named by its title, from a page in a folder.
pub(super) fn link(scenario: &Scenario, directory: &Path, folder: &Path) -> String {
    let target = from(
        &directory.join(&scenario.source.path),
        &directory.join(folder),
    );
    let title = text(&scenario.title);
    if target.contains([' ', '(', ')']) {
        format!("[{title}](<{target}>)")
    } else {
        format!("[{title}]({target})")
    }
}

/// The way to a path from a folder, with `/` between its parts.
fn from(path: &Path, folder: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let mut parts = Vec::new();
        for part in path
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
        {
            match part.as_ref() {
                "." => {}
                ".." => drop(parts.pop()),
                _ => parts.push(part.into_owned()),
            }
        }
        parts
    };
    let (path, folder) = (parts(path), parts(folder));
    let shared = path.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let ups = folder[shared..].iter().map(|_| "..");
    let downs = path[shared..].iter().map(String::as_str);
    ups.chain(downs).collect::<Vec<_>>().join("/")
}

/// Text as a block of code.
pub(super) fn code(text: &str) -> String {
    let runs = text.split(|sign| sign != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

/// `13.23, 14.23 and 18.6`.
pub(super) fn releases(releases: &[Release]) -> String {
    let words: Vec<String> = releases.iter().map(Release::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_means_nothing_to_markdown() {
        for (plain, written) in [
            ("pg_blocking_pids is\n  asked", "pg_blocking_pids is asked"),
            (
                "SELECT * < [A] | _x_ `y`",
                r"SELECT \* \< \[A\] \| \_x\_ \`y\`",
            ),
        ] {
            assert_eq!(text(plain), written);
        }
    }

    #[test]
    fn links_lead_from_the_page() {
        for (path, folder, way) in [
            ("/p/scenarios/a.yaml", "/p", "scenarios/a.yaml"),
            ("/p/scenarios/a.yaml", "/p/docs", "../scenarios/a.yaml"),
            ("/p/./docs/../a.yaml", "/p/docs/deep", "../../a.yaml"),
        ] {
            assert_eq!(from(Path::new(path), Path::new(folder)), way);
        }
    }

    #[test]
    fn a_block_of_code_ends_where_it_should() {
        assert_eq!(code("a\n"), "```\na\n```\n");
        assert_eq!(code("```\n````x"), "`````\n```\n````x\n`````\n");
    }
}
