//! A server that does not answer when a step's time is over: that is not the scenario's fault.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::observer::Observer;
use super::outcome::Trouble;
use super::replay::Halt;
use super::trouble::{HEEDS_WITHIN, seconds};

/// How long a server may be silent under a time limit. A machine that is busy makes it slow; half of
/// the limit it does not take.
fn patience(limit: Duration) -> Duration {
    HEEDS_WITHIN.max(limit / 2)
}

/// What the end of a step's time comes to, where the server has last answered the runner at `heard`.
pub(crate) fn time_is_over(limit: Duration, heard: Instant) -> Halt {
    let silent = heard.elapsed();
    if silent >= patience(limit) {
        Halt::from(told(silent))
    } else {
        Halt::TimeLimit
    }
}

/// Asks the server for a sign of life; its trouble, if it does not give one soon. One that has lost
/// the runner's connection says so to the next question.
pub(crate) async fn silence(observer: &Observer, limit: Duration) -> Option<Trouble> {
    let patience = patience(limit);
    let answered = timeout(patience, observer.answers()).await;
    answered.is_err().then(|| told(patience))
}

fn told(silent: Duration) -> Trouble {
    let whole = Duration::from_secs(silent.as_secs());
    Trouble::Server(format!(
        "the server did not answer for {}, and the time of the step was over",
        seconds(whole)
    ))
}
