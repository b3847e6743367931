//! What a generated part is to hold: `transcript scenarios/queue/two-workers.yaml`.

use crate::scenario::{Mistake, Mistakes, Span, Spanned, suggestion};

/// The directives.
pub(super) const NAMES: [&str; 3] = ["transcript", "matrix", "library"];

/// What a generated part is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Directive {
    /// The accepted transcript of a scenario.
    Transcript {
        scenario: Spanned<String>,
        /// Which case; a scenario without a matrix has but one.
        case: Option<Spanned<String>>,
    },
    /// A table of what a step printed for each value of a matrix.
    Matrix {
        path: Spanned<String>,
        key: Spanned<String>,
        step: Spanned<String>,
    },
    /// The scenarios, with what they claim.
    Library { path: Spanned<String> },
}

impl Directive {
    /// Reads the text at a place of the file.
    pub(super) fn read(mistakes: &mut Mistakes, text: &str, span: Span) -> Option<Self> {
        let mut words = words(mistakes, &text[span.start..span.end], span.start)?;
        if words.is_empty() {
            mistakes.report(
                Mistake::new(span, "a directive without a name")
                    .label("nothing is asked for")
                    .help("the directives are `transcript`, `matrix` and `library`"),
            );
            return None;
        }
        let name = words.remove(0);
        let mut words = words.into_iter();
        let usage = match name.value.as_str() {
            "transcript" => "transcript FILE [CASE]",
            "matrix" => "matrix PATH KEY STEP",
            "library" => "library PATH",
            other => {
                let help = suggestion(mistakes, other, NAMES, "the directives are");
                mistakes.report(
                    Mistake::new(name.span, format!("there is no directive `{other}`"))
                        .label("unknown directive")
                        .maybe_help(help),
                );
                return None;
            }
        };
        let read = match name.value.as_str() {
            "transcript" => words.next().map(|scenario| Self::Transcript {
                scenario,
                case: all_of(&mut words),
            }),
            "matrix" => match (words.next(), words.next(), words.next()) {
                (Some(path), Some(key), Some(step)) => Some(Self::Matrix { path, key, step }),
                _ => None,
            },
            _ => words.next().map(|path| Self::Library { path }),
        };
        let help = format!("write `<!-- lockstep: {usage} -->`");
        if read.is_none() {
            mistakes.report(
                Mistake::new(name.span, format!("`{}` needs more than that", name.value))
                    .label("something is missing behind it")
                    .help(help),
            );
        } else if let Some(extra) = words.next() {
            mistakes.report(
                Mistake::new(
                    extra.span,
                    format!("`{}` needs no more than that", name.value),
                )
                .label("not understood")
                .help(format!(
                    "{help}; a name with spaces stands in double quotes"
                )),
            );
            return None;
        }
        read
    }

    /// The file or folder it is about.
    pub(super) const fn path(&self) -> &Spanned<String> {
        match self {
            Self::Transcript { scenario: path, .. }
            | Self::Matrix { path, .. }
            | Self::Library { path } => path,
        }
    }
}

/// The words that are left as one, with single spaces between them: `read committed`.
fn all_of(words: &mut impl Iterator<Item = Spanned<String>>) -> Option<Spanned<String>> {
    words.reduce(|mut all, word| {
        all.value.push(' ');
        all.value.push_str(&word.value);
        all.span.end = word.span.end;
        all
    })
}

/// The words of a text that stands at an offset; a word in double quotes may hold spaces.
fn words(mistakes: &mut Mistakes, text: &str, start: usize) -> Option<Vec<Spanned<String>>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        at += skipped;
        let rest = &text[at..];
        let (from, length, next) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let Some(length) = quoted.find('"') else {
                    let span = Span {
                        start: start + at,
                        end: start + at + rest.trim_end().len(),
                    };
                    mistakes.report(
                        Mistake::new(span, "this name has no end")
                            .label("it begins here")
                            .help("close it with `\"`"),
                    );
                    return None;
                };
                (at + 1, length, at + length + 2)
            }
            None => {
                let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (at, length, at + length)
            }
        };
        words.push(Spanned {
            value: text[from..from + length].to_owned(),
            span: Span {
                start: start + from,
                end: start + from + length,
            },
        });
        at = next;
    }
    Some(words)
}
