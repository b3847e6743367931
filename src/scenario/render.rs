//! Draws diagnostics with the text they are about.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::diagnostic::Diagnostic;
use super::source::Span;

/// Lines of the file around a place that the renderer is given to choose from.
const CONTEXT: usize = 1;

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
        .path(path)
        .line_start(window.first_line)
        .annotation(primary)
        .annotations(related);
    let group = Level::ERROR
        .primary_title(diagnostic.message.as_str())
        .element(snippet);
    let group = match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    };
    renderer.render(&[group])
}

/// The lines of a file that one diagnostic is about: the renderer looks at every line it is given.
struct Window<'a> {
    text: &'a str,
    start: usize,
    first_line: usize,
    source: &'a str,
}

impl<'a> Window<'a> {
    fn around(source: &'a str, places: impl Iterator<Item = Span>) -> Self {
        let (mut start, mut end) = (source.len(), 0);
        for place in places {
            start = start.min(place.start);
            end = end.max(place.end);
        }
        for _ in 0..=CONTEXT {
            start = source[..start].rfind('\n').unwrap_or(0);
        }
        // The line break belongs to the line before, except at the very beginning.
        if source[start..].starts_with('\n') && start > 0 {
            start += 1;
        }
        for _ in 0..=CONTEXT {
            end = source[end..]
                .find('\n')
                .map_or(source.len(), |newline| end + newline + 1);
        }
        Self {
            text: &source[start..end],
            start,
            first_line: source[..start].matches('\n').count() + 1,
            source,
        }
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let span = within(self.source, span);
        span.start - self.start..span.end - self.start
    }
}

/// A place moved to the nearest character boundaries of the text.
fn within(source: &str, span: Span) -> Span {
    let start = source.floor_char_boundary(span.start.min(source.len()));
    let end = source.ceil_char_boundary(span.end.clamp(start, source.len()));
    Span { start, end }
}
