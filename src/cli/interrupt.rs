//! Ctrl-C, SIGTERM and SIGHUP.

use std::io;

use tokio::sync::oneshot;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// Ctrl-C on the terminal.
    Interrupted,
    /// A polite request to end.
    Terminated,
    /// The terminal is gone.
    HungUp,
}

impl Interrupt {
    /// The exit code: 128 and the number of the signal, as shells tell it.
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// Listens for the signals, which no longer end the process by themselves from now on. The first
/// one is received; the second one ends the process at once, whatever it is doing. What it leaves
/// behind ends by itself.
pub(super) fn listen() -> io::Result<oneshot::Receiver<Interrupt>> {
    let mut signals = Signals::new()?;
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        // Nobody asks any more when the program is about to end anyway.
        let _ = tell.send(signals.next().await);
        let second = signals.next().await;
        std::process::exit(second.exit_code().into())
    });
    Ok(told)
}

#[cfg(unix)]
struct Signals {
    interrupted: tokio::signal::unix::Signal,
    terminated: tokio::signal::unix::Signal,
    hung_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupted: signal(SignalKind::interrupt())?,
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupted.recv() => Interrupt::Interrupted,
            _ = self.terminated.recv() => Interrupt::Terminated,
            _ = self.hung_up.recv() => Interrupt::HungUp,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Interrupt {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Interrupt::Interrupted,
            Err(_) => std::future::pending().await,
        }
    }
}
