//! A Markdown file with generated parts.

use std::ops::Range;
use std::path::Path;

use super::context::Context;
use super::directive::Directive;
use super::library::Library;
use super::mark::{self, Fence, Mark};
use super::{list, matrix, transcript};
use crate::scenario::{Diagnostic, Mistake, Mistakes, SourceFile, Span};

/// A Markdown file that was found right as far as it says itself.
#[derive(Debug, Clone)]
pub struct Page {
    source: SourceFile,
    parts: Vec<Part>,
}

/// A generated part.
#[derive(Debug, Clone)]
struct Part {
    directive: Directive,
    /// What stands between the comments.
    body: Range<usize>,
    /// What its lines end in.
    line_end: &'static str,
}

/// A part whose end has not come yet.
struct Open {
    span: Span,
    directive: Option<Directive>,
    body: usize,
    line_end: &'static str,
}

impl Page {
    /// Finds the generated parts of a file. What stands in blocks of code is none.
    ///
    /// # Errors
    ///
    /// With every mistake in the comments that begin and end parts.
    pub fn read(source: SourceFile) -> Result<Self, Vec<Diagnostic>> {
        let mut mistakes = Mistakes::new(source.clone());
        let mut parts = Vec::new();
        let mut open: Option<Open> = None;
        let mut fence: Option<Fence> = None;
        let mut at = 0;
        for line in source.text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            if let Some(begun) = fence {
                fence = Some(begun).filter(|begun| !begun.is_ended_by(line));
                continue;
            }
            fence = Fence::beginning(line);
            match mark::read(&mut mistakes, line, start) {
                None => {}
                Some(Mark::Begin(span)) => {
                    let next = Open {
                        span,
                        directive: Directive::read(&mut mistakes, &source.text, span),
                        body: at,
                        line_end: if line.ends_with("\r\n") { "\r\n" } else { "\n" },
                    };
                    if let Some(open) = open.replace(next) {
                        refuse_endless(&mut mistakes, &open);
                    }
                }
                Some(Mark::End) => match open.take() {
                    Some(open) => parts.extend(open.directive.map(|directive| Part {
                        directive,
                        body: open.body..start,
                        line_end: open.line_end,
                    })),
                    None => mistakes.report(
                        Mistake::new(
                            Span {
                                start,
                                end: start + line.trim_end().len(),
                            },
                            "no generated part ends here",
                        )
                        .label("none has begun")
                        .help("take it out, or write the directive above the part"),
                    ),
                },
            }
        }
        if let Some(open) = open {
            refuse_endless(&mut mistakes, &open);
        }
        if mistakes.is_empty() {
            Ok(Self { source, parts })
        } else {
            Err(mistakes.into_diagnostics())
        }
    }

    /// The file.
    #[must_use]
    pub const fn source(&self) -> &SourceFile {
        &self.source
    }

    /// How many generated parts it has.
    #[must_use]
    pub const fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The files and folders that its parts are about, as they are written.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .map(|part| part.directive.path().value.as_str())
    }

    /// The text of the file with all its parts as they should be.
    ///
    /// # Errors
    ///
    /// With every directive that cannot be followed, and every scenario that does not say what is
    /// needed.
    pub fn fill(&self, library: &Library) -> Result<String, Vec<Diagnostic>> {
        let mut context = Context {
            library,
            folder: self.source.path.parent().unwrap_or(Path::new("")),
            mistakes: Mistakes::new(self.source.clone()),
            in_scenarios: Vec::new(),
        };
        let text = &self.source.text;
        let mut filled = String::with_capacity(text.len());
        let mut at = 0;
        for part in &self.parts {
            filled.push_str(&text[at..part.body.start]);
            if let Some(body) = render(&mut context, &part.directive) {
                filled.push_str(&body.replace('\n', part.line_end));
            }
            at = part.body.end;
        }
        filled.push_str(&text[at..]);
        let mut found = context.mistakes.into_diagnostics();
        found.extend(context.in_scenarios);
        if found.is_empty() {
            Ok(filled)
        } else {
            Err(found)
        }
    }
}

fn refuse_endless(mistakes: &mut Mistakes, open: &Open) {
    mistakes.report(
        Mistake::new(open.span, "this part has no end")
            .label("it begins here")
            .help("write `<!-- /lockstep -->` on a line of its own below it"),
    );
}

fn render(context: &mut Context<'_>, directive: &Directive) -> Option<String> {
    match directive {
        Directive::Transcript { scenario, case } => {
            transcript::render(context, scenario, case.as_ref())
        }
        Directive::Matrix { path, key, step } => matrix::render(context, path, key, step),
        Directive::Library { path } => list::render(context, path),
    }
}
