//! Where the program prints: results on standard output, what it says about itself on standard
//! error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::args::Color;
use super::environment::Environment;
use crate::scenario::{Diagnostic, RenderStyle, render};
use crate::server::external::redact;

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The two streams, and whether each is coloured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// Whether standard output is coloured.
    pub out_colored: bool,
    err_colored: bool,
    /// Whether a person looks at standard error as it is written.
    pub err_is_terminal: bool,
}

impl Output {
    pub(super) fn new(color: Color, environment: &Environment) -> Self {
        let colored = |is_terminal| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !environment.no_color,
        };
        let err_is_terminal = io::stderr().is_terminal();
        Self {
            out_colored: colored(io::stdout().is_terminal()),
            err_colored: colored(err_is_terminal),
            err_is_terminal,
        }
    }

    /// Prints results. A reader that has gone away (`| head`) is no error.
    pub(super) fn print(self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// Says something about what the program does. It may be about what somebody has typed: of
    /// connection URLs only what is no secret is said.
    pub(super) fn say(self, text: impl Display) {
        let _ = writeln!(io::stderr(), "{}", redact(&text.to_string()));
    }

    /// Says what went wrong, and what to do about it.
    pub(super) fn fail(self, text: impl Display, help: Option<&str>) {
        let style = if self.err_colored {
            ERROR
        } else {
            Style::new()
        };
        self.say(format_args!("{style}error{style:#}: {text}"));
        if let Some(help) = help {
            self.say(format_args!("  help: {help}"));
        }
    }

    /// Draws mistakes in scenario files on standard error.
    pub(super) fn draw(self, diagnostics: &[Diagnostic]) {
        let style = if self.err_colored {
            RenderStyle::coloured()
        } else {
            RenderStyle::plain()
        };
        let _ = io::stderr().write_all(render(diagnostics, style).as_bytes());
    }
}
