//! Points on the virtual clock.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

/// A point in virtual time, to the microsecond, as PostgreSQL's `timestamptz` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtualTime {
    microseconds: i64,
}

impl VirtualTime {
    /// The point so many microseconds after 1970-01-01 00:00:00 UTC; `None` outside of the years
    /// that a clock can show.
    #[must_use]
    pub fn from_microseconds(microseconds: i64) -> Option<Self> {
        Timestamp::from_microsecond(microseconds)
            .ok()
            .map(|_| Self { microseconds })
    }

    /// Microseconds since 1970-01-01 00:00:00 UTC.
    #[must_use]
    pub const fn microseconds(self) -> i64 {
        self.microseconds
    }

    /// The point that is later by a duration; `None` where that is no point any more.
    #[must_use]
    pub fn checked_add(self, by: Duration) -> Option<Self> {
        let by = i64::try_from(by.as_micros()).ok()?;
        Self::from_microseconds(self.microseconds.checked_add(by)?)
    }
}

impl fmt::Display for VirtualTime {
    /// As PostgreSQL prints it in UTC: `2026-01-01 09:00:00+00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Timestamp::from_microsecond(self.microseconds).map_err(|_| fmt::Error)?;
        write!(f, "{}", at.strftime("%Y-%m-%d %H:%M:%S"))?;
        let fraction = self.microseconds.rem_euclid(1_000_000);
        if fraction != 0 {
            write!(f, ".{}", format!("{fraction:06}").trim_end_matches('0'))?;
        }
        f.write_str("+00")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_written_as_the_server_writes_it() {
        let at =
            |microseconds| VirtualTime::from_microseconds(microseconds).map(|at| at.to_string());
        assert_eq!(
            at(1_767_258_000_000_000).as_deref(),
            Some("2026-01-01 09:00:00+00")
        );
        assert_eq!(
            at(1_767_258_000_250_000).as_deref(),
            Some("2026-01-01 09:00:00.25+00")
        );
        assert_eq!(at(-1).as_deref(), Some("1969-12-31 23:59:59.999999+00"));
        assert_eq!(at(i64::MAX), None);
    }

    #[test]
    fn the_clock_ends_somewhere() {
        let at = VirtualTime::from_microseconds(0).unwrap();
        assert_eq!(at.checked_add(Duration::MAX), None);
        assert_eq!(
            at.checked_add(Duration::from_secs(61))
                .map(VirtualTime::microseconds),
            Some(61_000_000)
        );
    }
}
