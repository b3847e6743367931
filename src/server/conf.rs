//! The settings that every server has which Lockstep starts.

const SETTINGS: &str = include_str!("settings.conf");

/// Each setting and its value, without quotes.
pub(super) fn settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS.lines().filter_map(|line| {
        let (name, value) = line.split_once(" = ")?;
        (!name.starts_with('#')).then(|| (name, value.trim_matches('\'')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_is_no_comment_is_a_setting() {
        let lines = SETTINGS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(settings().count(), lines.count());
        for (name, value) in settings() {
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{name}"
            );
            assert!(!value.contains(['\'', '#']), "{name} = {value}");
        }
    }
}
