//! The mistakes found in one file, collected so that all of them can be reported at once.

use super::super::diagnostic::Diagnostic;
use super::super::source::{SourceFile, Span};

/// How many mistakes of one file are reported; whoever has more sees them after the first are
/// corrected.
const MOST_REPORTED: usize = 100;

/// One mistake, being put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    message: String,
    span: Span,
    label: String,
    related: Vec<(Span, String)>,
    help: Option<String>,
}

impl Mistake {
    /// A mistake at a place; the message is a lower-case fragment.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// What stands beside the underline.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Another place that matters.
    pub(crate) fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// What to write instead.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What to write instead, if there is anything to say.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// The mistakes of one file.
#[derive(Debug)]
pub(crate) struct Mistakes {
    source: SourceFile,
    found: Vec<Mistake>,
}

impl Mistakes {
    pub(crate) fn new(source: SourceFile) -> Self {
        Self {
            source,
            found: Vec::new(),
        }
    }

    pub(crate) fn report(&mut self, mistake: Mistake) {
        self.found.push(mistake);
    }

    /// Whether so much is wrong that it is not worth looking for what was meant: the search takes
    /// longer than all else.
    pub(super) const fn are_many(&self) -> bool {
        self.found.len() > 10 * MOST_REPORTED
    }

    pub(super) fn source(&self) -> &SourceFile {
        &self.source
    }

    /// The text of the file at a place.
    pub(super) fn text(&self, span: Span) -> &str {
        &self.source.text[span.start..span.end]
    }

    pub(super) fn into_found(self) -> Vec<Mistake> {
        self.found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them, in the order of their places, each once: an alias repeats the mistakes of the
    /// text it stands for.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let Self { source, mut found } = self;
        found.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        found.dedup();
        if found.len() > MOST_REPORTED {
            let left = found.len() - MOST_REPORTED;
            found.truncate(MOST_REPORTED + 1);
            let last = &mut found[MOST_REPORTED];
            *last = Mistake::new(last.span, format!("{left} more mistakes from here on"))
                .help("correct those above first; the rest is shown then");
        }
        found
            .into_iter()
            .map(|mistake| Diagnostic {
                source: source.clone(),
                message: mistake.message,
                span: mistake.span,
                label: mistake.label,
                related: mistake.related,
                help: mistake.help,
            })
            .collect()
    }
}
