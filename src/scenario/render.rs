//! Draws diagnostics with the text they are about.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use super::diagnostic::Diagnostic;
use super::source::Span;

/// How much of a line the renderer is given before and behind a place, in bytes: enough for any
/// width of a terminal.
const FAR: usize = 2000;

/// How diagnostics are drawn.
///
/// # Examples
///
/// ```
/// use lockstep::scenario::RenderStyle;
///
/// let style = RenderStyle::coloured().width(100);
/// assert_ne!(style, RenderStyle::plain());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderStyle {
    coloured: bool,
    width: usize,
}

impl RenderStyle {
    const DEFAULT_WIDTH: usize = 120;

    /// Text alone.
    #[must_use]
    pub const fn plain() -> Self {
        Self {
            coloured: false,
            width: Self::DEFAULT_WIDTH,
        }
    }

    /// Text with ANSI colours.
    #[must_use]
    pub const fn coloured() -> Self {
        Self {
            coloured: true,
            width: Self::DEFAULT_WIDTH,
        }
    }

    /// The columns there are; longer lines are cut around the underlined place.
    #[must_use]
    pub const fn width(mut self, columns: usize) -> Self {
        self.width = columns;
        self
    }
}

/// Draws diagnostics one below the other, each with its file, line, the piece of text underlined,
/// what is wrong and what to write.
///
/// # Examples
///
/// ```
/// use lockstep::scenario::{self, RenderStyle, SourceFile};
///
/// let source = SourceFile {
///     path: "race.yaml".into(),
///     text: "titel: A race\nsessions: [A]\nsteps:\n  - A: SELECT 1;\n".into(),
/// };
/// let mistakes = scenario::parse(&source).unwrap_err();
/// assert_eq!(
///     scenario::render(&mistakes, RenderStyle::plain()),
///     "error: a scenario has no key `titel`
///  --> race.yaml:1:1
///   |
/// 1 | titel: A race
///   | ^^^^^ unknown key
///   |
///   = help: did you mean `title`?
/// "
/// );
/// ```
#[must_use]
pub fn render(diagnostics: &[Diagnostic], style: RenderStyle) -> String {
    let renderer = if style.coloured {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
    .term_width(style.width);
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&render_one(diagnostic, &renderer));
        text.push('\n');
    }
    text
}

fn render_one(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let source = &*diagnostic.source.text;
    let path = diagnostic.source.path.display().to_string();
    let places = std::iter::once(diagnostic.span)
        .chain(diagnostic.related.iter().map(|(span, _)| *span))
        .map(|span| within(source, span));
    let window = Window::around(source, places);
    let primary = AnnotationKind::Primary
        .span(window.range(diagnostic.span))
        .label(&*diagnostic.label);
    let related = diagnostic.related.iter().map(|(span, label)| {
        AnnotationKind::Context
            .span(window.range(*span))
            .label(label.as_str())
    });
    let snippet = Snippet::source(window.text)
        .line_start(window.first_line)
        .annotation(primary)
        .annotations(related);
    let group = Level::ERROR.primary_title(diagnostic.message.as_str());
    let group = if window.begins_line() {
        group.element(snippet.path(path))
    } else {
        // The renderer cannot count the columns that it is not given.
        let start = within(source, diagnostic.span).start;
        let column = source[line_start(source, start)..start].chars().count() + 1;
        let origin = Origin::path(path)
            .line(line_number(source, start))
            .char_column(column);
        group.element(origin).element(snippet)
    };
    let group = match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    };
    renderer.render(&[group])
}

/// The piece of a file that one diagnostic is about: the renderer looks at all it is given.
struct Window<'a> {
    text: &'a str,
    start: usize,
    first_line: usize,
    source: &'a str,
}

impl<'a> Window<'a> {
    /// The lines of some places, without the far ends of very long ones.
    fn around(source: &'a str, places: impl Iterator<Item = Span>) -> Self {
        let (mut first, mut last) = (source.len(), 0);
        for place in places {
            first = first.min(place.start);
            last = last.max(place.end);
        }
        let start = line_start(source, first).max(first.saturating_sub(FAR));
        let start = source.floor_char_boundary(start);
        let line_end = source[last..]
            .find('\n')
            .map_or(source.len(), |newline| last + newline + 1);
        let end = source.ceil_char_boundary(line_end.min(last + FAR));
        Self {
            text: &source[start..end],
            start,
            first_line: line_number(source, start),
            source,
        }
    }

    fn begins_line(&self) -> bool {
        self.start == line_start(self.source, self.start)
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let span = within(self.source, span);
        span.start - self.start..span.end - self.start
    }
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The line of an offset, counted from 1.
fn line_number(source: &str, at: usize) -> usize {
    source[..at].matches('\n').count() + 1
}

/// A place moved to the nearest character boundaries of the text.
fn within(source: &str, span: Span) -> Span {
    let start = source.floor_char_boundary(span.start.min(source.len()));
    let end = source.ceil_char_boundary(span.end.clamp(start, source.len()));
    Span { start, end }
}
