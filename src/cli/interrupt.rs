//! Ctrl-C and SIGTERM.

use std::io;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// Ctrl-C on the terminal.
    Interrupted,
    /// A polite request to end.
    Terminated,
}

impl Interrupt {
    /// The exit code: 128 and the number of the signal, as shells tell it.
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// Waits for one of the signals. From the first call on they no longer end the process by
/// themselves.
#[cfg(unix)]
pub(super) async fn interrupt() -> io::Result<Interrupt> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupted.recv() => Interrupt::Interrupted,
        _ = terminated.recv() => Interrupt::Terminated,
        _ = hung_up.recv() => Interrupt::Terminated,
    })
}

/// Waits for Ctrl-C. From the first call on it no longer ends the process by itself.
#[cfg(not(unix))]
pub(super) async fn interrupt() -> io::Result<Interrupt> {
    tokio::signal::ctrl_c().await?;
    Ok(Interrupt::Interrupted)
}
