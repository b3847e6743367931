//! Where the virtual clock stands at first: `clock: "2026-01-01 09:00:00+00"`.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use super::super::virtual_time::VirtualTime;
use super::mistakes::{Mistake, Mistakes};
use super::node::Node;
use super::values;

const HELP: &str =
    "write a date, a time and the offset from UTC: `clock: \"2026-01-01 09:00:00+00\"`";

/// The clock of a scenario while its steps are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clock {
    /// The scenario lives in real time.
    Real,
    /// There is a virtual clock, but a mistake leaves it open where it stands.
    Unknown,
    /// The virtual clock stands here.
    At(VirtualTime),
}

impl Clock {
    /// Whether the scenario lives in virtual time.
    pub(super) const fn is_virtual(self) -> bool {
        !matches!(self, Self::Real)
    }

    /// Where it stands.
    pub(super) const fn time(self) -> Option<VirtualTime> {
        match self {
            Self::At(time) => Some(time),
            Self::Real | Self::Unknown => None,
        }
    }
}

/// Reads `clock:`.
pub(super) fn read(mistakes: &mut Mistakes, node: Option<&Node>) -> Clock {
    let Some(node) = node else {
        return Clock::Real;
    };
    let Some(text) = values::text(mistakes, node, "a point in time", HELP) else {
        return Clock::Unknown;
    };
    match parse(&text) {
        Ok(time) => Clock::At(time),
        Err(problem) => {
            let shown = values::shown(&text);
            let help = match problem {
                Problem::NoOffset => format!("write `\"{shown}+00\"`"),
                _ => HELP.to_owned(),
            };
            mistakes.report(
                Mistake::new(node.span, format!("`{shown}` is not a point in time"))
                    .label(problem.label())
                    .help(help),
            );
            Clock::Unknown
        }
    }
}

/// What keeps a text from being a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Shape,
    NoTime,
    NoOffset,
    TooFine,
    NotThere,
}

impl Problem {
    const fn label(self) -> &'static str {
        match self {
            Self::Shape => "not written as a date and a time",
            Self::NoTime => "the time of the day is missing",
            Self::NoOffset => "the offset from UTC is missing",
            Self::TooFine => "PostgreSQL keeps no more than microseconds",
            Self::NotThere => "no calendar or no clock shows this",
        }
    }
}

/// A point in time as PostgreSQL prints it, or with a `T` between date and time and a `Z` behind.
fn parse(text: &str) -> Result<VirtualTime, Problem> {
    let (date, rest) = text
        .split_at_checked("2026-01-01".len())
        .ok_or(Problem::Shape)?;
    let [year, month, day] = numbers(date, '-', &[4, 2, 2])?;
    if rest.is_empty() {
        return Err(Problem::NoTime);
    }
    let rest = rest.strip_prefix([' ', 'T']).ok_or(Problem::Shape)?;
    let behind_time = rest
        .find(|c: char| !(c.is_ascii_digit() || ":.".contains(c)))
        .unwrap_or(rest.len());
    let (time, offset) = rest.split_at(behind_time);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = match time.len() {
        5 => {
            let [hour, minute] = numbers(time, ':', &[2, 2])?;
            [hour, minute, 0]
        }
        _ => numbers(time, ':', &[2, 2, 2])?,
    };
    let microseconds = match fraction.len() {
        0 => return Err(Problem::Shape),
        1..=6 => format!("{fraction:0<6}")
            .parse::<i32>()
            .map_err(|_| Problem::Shape)?,
        _ => return Err(Problem::TooFine),
    };
    let offset = offset_seconds(offset.trim_start())?;
    if year == 0 {
        return Err(Problem::NotThere);
    }
    let narrow = |number: i32| i8::try_from(number).map_err(|_| Problem::NotThere);
    let year = i16::try_from(year).map_err(|_| Problem::NotThere)?;
    let date = Date::new(year, narrow(month)?, narrow(day)?).map_err(|_| Problem::NotThere)?;
    let time = Time::new(
        narrow(hour)?,
        narrow(minute)?,
        narrow(second)?,
        microseconds * 1000,
    )
    .map_err(|_| Problem::NotThere)?;
    let at = Offset::from_seconds(offset)
        .and_then(|offset| offset.to_timestamp(DateTime::from_parts(date, time)))
        .map_err(|_| Problem::NotThere)?;
    VirtualTime::from_microseconds(at.as_microsecond()).ok_or(Problem::NotThere)
}

/// Numbers of so many digits with a character between them.
fn numbers<const N: usize>(
    text: &str,
    between: char,
    digits: &[usize; N],
) -> Result<[i32; N], Problem> {
    let mut numbers = [0; N];
    let mut parts = text.split(between);
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().ok_or(Problem::Shape)?;
        let is_right = part.len() == *digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part
            .parse()
            .ok()
            .filter(|_| is_right)
            .ok_or(Problem::Shape)?;
    }
    match parts.next() {
        Some(_) => Err(Problem::Shape),
        None => Ok(numbers),
    }
}

/// The seconds that `+02`, `-05:30` or `Z` stands before UTC.
fn offset_seconds(text: &str) -> Result<i32, Problem> {
    match text {
        "" => return Err(Problem::NoOffset),
        "Z" | "UTC" => return Ok(0),
        _ => {}
    }
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ => return Err(Problem::Shape),
    };
    let (hours, minutes) = if digits.len() == 2 {
        let [hours] = numbers(digits, ':', &[2])?;
        (hours, 0)
    } else {
        let [hours, minutes] = numbers(digits, ':', &[2, 2])?;
        (hours, minutes)
    };
    if hours > 15 || minutes > 59 {
        return Err(Problem::NotThere);
    }
    Ok(sign * (hours * 60 + minutes) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_the_server_would_read_them() {
        for (written, shown) in [
            ("2026-01-01 09:00:00+00", "2026-01-01 09:00:00+00"),
            ("2026-01-01T09:00Z", "2026-01-01 09:00:00+00"),
            ("2026-01-01 09:00:00.25 UTC", "2026-01-01 09:00:00.25+00"),
            ("2024-02-29 23:30:00-05:30", "2024-03-01 05:00:00+00"),
            ("2026-01-01 00:30+01", "2025-12-31 23:30:00+00"),
        ] {
            let read = parse(written).map(|time| time.to_string());
            assert_eq!(read.as_deref(), Ok(shown), "{written}");
        }
    }

    #[test]
    fn what_is_no_point_is_told_apart() {
        for (written, problem) in [
            ("now", Problem::Shape),
            ("1.1.2026 09:00", Problem::Shape),
            ("2026-01-01 9:00+00", Problem::Shape),
            ("2026-01-01 09:00:00 CET", Problem::Shape),
            ("2026-01-01 09:00:00.+00", Problem::Shape),
            ("2026-01-01", Problem::NoTime),
            ("2026-01-01 09:00:00", Problem::NoOffset),
            ("2026-01-01 09:00:00.1234567+00", Problem::TooFine),
            ("2026-02-29 09:00:00+00", Problem::NotThere),
            ("2026-01-01 24:00:00+00", Problem::NotThere),
            ("0000-01-01 00:00:00+00", Problem::NotThere),
            ("9999-12-31 23:59:59-15", Problem::NotThere),
            ("2026-01-01 09:00:00+16", Problem::NotThere),
        ] {
            assert_eq!(parse(written), Err(problem), "{written}");
        }
    }
}
