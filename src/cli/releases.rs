//! Which releases `--pg` means.

use crate::server::Release;

/// The releases that a text such as `14..18` or `15,18.6` means, among those that are pinned (one a
/// major, oldest first): each once, oldest first.
pub(super) fn choose(text: &str, pinned: &[Release]) -> Result<Vec<Release>, ChoiceError> {
    let mut chosen = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        chosen.extend(choose_part(part, pinned)?);
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}

/// A text that does not say which releases are meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ChoiceError {
    /// There is nothing where a release should be.
    #[error("a release is missing")]
    Missing,
    /// It is no release.
    #[error("`{0}` is no release")]
    NoRelease(String),
    /// It is a release, but none that is pinned.
    #[error("release {0} is not pinned")]
    NotPinned(String),
    /// The range begins after its end.
    #[error("no release lies in `{first}..{last}`")]
    Backwards {
        /// Where it begins.
        first: String,
        /// Where it ends.
        last: String,
    },
}

impl ChoiceError {
    /// What to do about it.
    pub(super) fn help(&self, pinned: &[Release]) -> String {
        match self {
            Self::Missing | Self::NoRelease(_) => {
                "write `18`, `18.6`, `15,18`, `14..18` (both ends are meant) or `all`".to_owned()
            }
            Self::NotPinned(_) => {
                let pinned: Vec<String> = pinned.iter().map(Release::to_string).collect();
                format!("pinned are: {}", pinned.join(", "))
            }
            Self::Backwards { first, last } => format!("write `{last}..{first}`"),
        }
    }
}

fn choose_part(part: &str, pinned: &[Release]) -> Result<Vec<Release>, ChoiceError> {
    if part == "all" {
        return Ok(pinned.to_vec());
    }
    let Some((first, last)) = part.split_once("..") else {
        return find(part, pinned).map(|release| vec![release]);
    };
    let (first, last) = (first.trim(), last.trim());
    let (from, to) = (find(first, pinned)?, find(last, pinned)?);
    if from > to {
        return Err(ChoiceError::Backwards {
            first: first.to_owned(),
            last: last.to_owned(),
        });
    }
    let between = |release: &&Release| (from..=to).contains(*release);
    Ok(pinned.iter().filter(between).copied().collect())
}

/// The pinned release that a major or an exact version names.
fn find(text: &str, pinned: &[Release]) -> Result<Release, ChoiceError> {
    if text.is_empty() {
        return Err(ChoiceError::Missing);
    }
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 2 || !parts.iter().all(|part| is_number(part)) {
        return Err(ChoiceError::NoRelease(text.to_owned()));
    }
    let found = match text.parse::<Release>() {
        Ok(exact) => pinned.iter().find(|release| **release == exact),
        Err(_) => {
            let is_major = |release: &&Release| Ok(release.major) == text.parse();
            pinned.iter().find(is_major)
        }
    };
    found
        .copied()
        .ok_or_else(|| ChoiceError::NotPinned(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned() -> Vec<Release> {
        ["13.23", "14.23", "15.18", "16.14", "17.10", "18.6"]
            .map(|release| release.parse().expect("a release"))
            .to_vec()
    }

    #[test]
    fn releases_are_named_in_many_ways() {
        for (text, majors) in [
            ("18", vec![18]),
            ("18.6", vec![18]),
            ("15,18", vec![15, 18]),
            ("18, 15", vec![15, 18]),
            ("18,18.6,17..18", vec![17, 18]),
            ("14..18", vec![14, 15, 16, 17, 18]),
            ("16.14..17", vec![16, 17]),
            ("15..15", vec![15]),
            ("all", vec![13, 14, 15, 16, 17, 18]),
            ("13,all", vec![13, 14, 15, 16, 17, 18]),
        ] {
            let chosen = choose(text, &pinned()).expect(text);
            let chosen: Vec<u32> = chosen.iter().map(|release| release.major).collect();
            assert_eq!(chosen, majors, "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let told: Vec<String> = [
            "",
            "15,",
            "..18",
            "x",
            "18.6.1",
            "-1",
            "14..=18",
            "v18",
            "12",
            "18.5",
            "12..18",
            "18..14",
            "99999999999",
        ]
        .into_iter()
        .map(|text| {
            let error = choose(text, &pinned()).expect_err(text);
            format!("{text:>12}: {error}; {}", error.help(&pinned()))
        })
        .collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
