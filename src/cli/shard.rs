//! `--shard 2/4`: one of several parts of a run.

use std::str::FromStr;

use sha2::{Digest, Sha256};

/// One of several parts of a run, which together are the whole. To which part a case belongs
/// depends on its name only: another case more or less moves none, and all releases of a case are
/// in the same part, so that they are compared in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    /// Which part, counted from 1.
    number: u64,
    /// How many there are.
    parts: u64,
}

/// A text that names no part of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write which part of how many: `2/4` is the second of four")]
pub(super) struct ParseShardError;

impl FromStr for Shard {
    type Err = ParseShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, parts) = text.split_once('/').ok_or(ParseShardError)?;
        let read = |text: &str| text.parse().map_err(|_| ParseShardError);
        let (number, parts) = (read(number)?, read(parts)?);
        if !(1..=parts).contains(&number) {
            return Err(ParseShardError);
        }
        Ok(Self { number, parts })
    }
}

impl Shard {
    /// Whether a case is in this part.
    pub(super) fn contains(self, scenario: &str, case: &str) -> bool {
        let digest = Sha256::digest(format!("{scenario}\0{case}"));
        let number = digest[..8]
            .iter()
            .fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        number % self.parts + 1 == self.number
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_in_one_part_and_stays_there() {
        let shards: Vec<Shard> = (1..=4)
            .map(|number| format!("{number}/4").parse().expect("a shard"))
            .collect();
        let mut sizes = [0; 4];
        for case in 0..1000 {
            let name = format!("queue/{case}");
            let inside: Vec<usize> = (0..4)
                .filter(|at| shards[*at].contains(&name, "default"))
                .collect();
            assert_eq!(inside.len(), 1, "{name}");
            sizes[inside[0]] += 1;
        }
        assert!(
            sizes.iter().all(|size| (200..300).contains(size)),
            "{sizes:?}"
        );
        // Another version of Lockstep must not deal the cases anew.
        let of: Vec<bool> = shards.iter().map(|one| one.contains("a", "b")).collect();
        assert_eq!(of, [false, false, false, true]);
    }

    #[test]
    fn anything_else_is_no_part() {
        for text in ["", "1", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/2", "1/"] {
            assert_eq!(text.parse::<Shard>(), Err(ParseShardError), "{text}");
        }
    }
}
