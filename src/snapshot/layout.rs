//! Where snapshots stand: from the path of a scenario and the name of a case to a file.

use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

/// The most `..` at the beginning of a path that is shown.
const MOST_UP: usize = 3;
/// The folder whose parent is the root of a project.
const SCENARIOS: &str = "scenarios";
/// The folder that holds the snapshots.
pub(super) const SNAPSHOTS: &str = "snapshots";
/// What the name of an accepted snapshot ends in.
pub(super) const ACCEPTED: &str = ".snap";
/// What the name of a pending snapshot ends in.
pub(super) const PENDING: &str = ".snap.new";
/// The longest file name, in bytes, that a case gets before the rest of it becomes a checksum.
const LONGEST: usize = 120;

/// The snapshots of one scenario.
///
/// Where the path has a folder named `scenarios` (the last such counts), the folder that holds it
/// is the root of the project, and `scenarios/queue/two-workers.yaml` has its snapshots in
/// `snapshots/queue/two-workers/`. Elsewhere they stand beside the file: `lab/race.yaml` has them
/// in `lab/snapshots/race/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The folder with one file a case.
    pub folder: PathBuf,
    /// The path of the scenario from the root of the project, with `/` between its parts.
    pub source: String,
    /// The same without `scenarios/` and the extension: `queue/two-workers`.
    pub name: String,
}

impl Layout {
    /// The layout of a scenario's path, absolute or relative. `.` and `..` in it are resolved by
    /// name, without a look at the disk.
    #[must_use]
    pub fn of(scenario: &Path) -> Self {
        let path = resolve(scenario);
        let folder = path.parent().unwrap_or(Path::new(""));
        let stem = PathBuf::from(path.file_stem().unwrap_or_default());
        let parts: Vec<Component<'_>> = folder.components().collect();
        let split = parts.iter().rposition(|part| part.as_os_str() == SCENARIOS);
        let (root, inner) = match split {
            Some(at) => (
                parts[..at].iter().collect::<PathBuf>(),
                parts[at + 1..].iter().collect::<PathBuf>().join(&stem),
            ),
            None => (folder.to_path_buf(), stem),
        };
        Self {
            folder: root.join(SNAPSHOTS).join(&inner),
            source: slashes(path.strip_prefix(&root).unwrap_or(&path)),
            name: slashes(&inner),
        }
    }

    /// The file of the accepted snapshot that holds for every release without a variant.
    #[must_use]
    pub fn base(&self, case: &str) -> PathBuf {
        self.folder.join(format!("{}{ACCEPTED}", file_name(case)))
    }
}

/// The name of a case as a part of a file name that is safe on every system. Different names give
/// different results: a space becomes `+`, and every other character that is no ASCII letter or
/// digit nor one of `-_.=,` its bytes in hexadecimal behind `%`. The `@` of variants is therefore
/// never part of it.
///
/// ```
/// use lockstep::snapshot::file_name;
///
/// assert_eq!(file_name("isolation=read committed"), "isolation=read+committed");
/// assert_eq!(file_name("a/b@13"), "a%2Fb%4013");
/// ```
#[must_use]
pub fn file_name(case: &str) -> String {
    let reserved = is_reserved(case);
    let mut name = String::with_capacity(case.len());
    for (at, byte) in case.bytes().enumerate() {
        match byte {
            b' ' => name.push('+'),
            b'.' if at == 0 => name.push_str("%2E"),
            _ if at == 0 && reserved => name.push_str(&format!("%{byte:02X}")),
            b'-' | b'_' | b'.' | b'=' | b',' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() {
        // A lone `%` is no escape, so no other name gives it.
        name.push('%');
    }
    if name.len() > LONGEST {
        // `~` is not among the characters above, so that a cut name is like no whole one.
        let digest = Sha256::digest(case.as_bytes());
        name.truncate(LONGEST - 17);
        name.push('~');
        for byte in &digest[..8] {
            name.push_str(&format!("{byte:02x}"));
        }
    }
    name
}

/// Whether Windows keeps the name (whatever its extension) for a device.
fn is_reserved(case: &str) -> bool {
    let stem = case.split('.').next().unwrap_or_default();
    let stem = stem.to_ascii_lowercase();
    match stem.as_str() {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            (stem.starts_with("com") || stem.starts_with("lpt"))
                && stem.len() == 4
                && stem.ends_with(|digit: char| digit.is_ascii_digit())
        }
    }
}

/// The path without `.` and `..`, as far as names alone can tell.
pub(super) fn resolve(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(
                    resolved.components().next_back(),
                    Some(Component::Normal(_))
                ) =>
            {
                resolved.pop();
            }
            _ => resolved.push(part),
        }
    }
    resolved
}

/// The path as from a folder, with `..` where a few are enough; `None` if it lies far away. Both
/// are [resolved](resolve).
pub(super) fn relative(path: &Path, folder: &Path) -> Option<PathBuf> {
    for (up, ancestor) in folder.ancestors().take(MOST_UP + 1).enumerate() {
        if up > 0 && ancestor.file_name().is_none() {
            // Everything is below the root of the file system.
            return None;
        }
        if let Ok(rest) = path.strip_prefix(ancestor) {
            let ups = std::iter::repeat_n(Path::new(".."), up);
            return Some(ups.chain([rest]).collect());
        }
    }
    None
}

/// The path with `/` between its parts on every system.
fn slashes(path: &Path) -> String {
    path.components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_mirror_the_scenarios_folder() {
        let layout = Layout::of(Path::new("shop/scenarios/queue/two-workers.yaml"));
        assert_eq!(
            layout.base("default"),
            Path::new("shop/snapshots/queue/two-workers/default.snap")
        );
        assert_eq!(layout.source, "scenarios/queue/two-workers.yaml");
        assert_eq!(layout.name, "queue/two-workers");
    }

    #[test]
    fn the_last_scenarios_folder_counts() {
        let layout = Layout::of(Path::new("/scenarios/shop/scenarios/a.yaml"));
        assert_eq!(layout.folder, Path::new("/scenarios/shop/snapshots/a"));
    }

    #[test]
    fn a_file_named_scenarios_is_no_folder() {
        let layout = Layout::of(Path::new("lab/scenarios"));
        assert_eq!(layout.folder, Path::new("lab/snapshots/scenarios"));
    }

    #[test]
    fn elsewhere_snapshots_stand_beside_the_file() {
        let layout = Layout::of(Path::new("race.yaml"));
        assert_eq!(layout.folder, Path::new("snapshots/race"));
        assert_eq!(layout.source, "race.yaml");
        assert_eq!(layout.name, "race");
    }

    #[test]
    fn dots_in_a_path_do_not_matter() {
        for path in [
            "./scenarios/a.yaml",
            "scenarios/b/../a.yaml",
            "x/../scenarios/./a.yaml",
        ] {
            assert_eq!(
                Layout::of(Path::new(path)),
                Layout::of(Path::new("scenarios/a.yaml")),
                "{path}"
            );
        }
        // The folder is left again, so it is not the one that counts.
        let layout = Layout::of(Path::new("/p/scenarios/../lab/a.yaml"));
        assert_eq!(layout.folder, Path::new("/p/lab/snapshots/a"));
    }

    #[test]
    fn paths_are_shown_from_where_the_user_is() {
        for (path, folder, shown) in [
            ("/p/snapshots/a", "/p", Some("snapshots/a")),
            (
                "/p/snapshots/a",
                "/p/scenarios/queue",
                Some("../../snapshots/a"),
            ),
            ("/p/snapshots/a", "/p/1/2/3/4", None),
            ("/p/snapshots/a", "/q", None),
            ("/p/snapshots/a", "/", Some("p/snapshots/a")),
            ("snapshots/a", "", Some("snapshots/a")),
            ("snapshots/a", "x", None),
        ] {
            let found = relative(Path::new(path), Path::new(folder));
            assert_eq!(
                found.as_deref(),
                shown.map(Path::new),
                "{path} from {folder}"
            );
        }
    }

    #[test]
    fn names_that_are_alike_get_files_of_their_own() {
        let long = "s1r ".repeat(100);
        let longer = "s1r ".repeat(101);
        let names = [
            "default", "a b", "a+b", "a-b", "a_b", "a/b", "a\\b", "a%b", "a%20b", "..", ".", "",
            "%", "con", "con.x", "%63on", "nul", "café", "cafe", &long, &longer,
        ];
        let mut files: Vec<String> = names.iter().map(|name| file_name(name)).collect();
        for file in &files {
            assert!(
                !file.contains(['/', '\\', '@', ':']) && !file.starts_with('.'),
                "{file}"
            );
            assert!(file.len() <= LONGEST, "{file}");
        }
        files.sort();
        files.dedup();
        assert_eq!(files.len(), names.len());
    }
}
