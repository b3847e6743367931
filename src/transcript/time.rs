//! Lengths of time as a transcript shows them.

use std::time::Duration;

/// A length of time in whole seconds where it can be, else in milliseconds: `61 s`, `200 ms`.
pub(super) fn shown(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_secs_f64() * 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_the_unit_that_needs_no_point() {
        assert_eq!(shown(Duration::from_secs(61)), "61 s");
        assert_eq!(shown(Duration::from_millis(200)), "200 ms");
        assert_eq!(shown(Duration::from_millis(1_500)), "1500 ms");
        assert_eq!(shown(Duration::from_micros(1_500)), "1.5 ms");
    }
}
