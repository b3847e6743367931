//! The lines of a Markdown file that generated parts begin and end with.

use crate::scenario::{Mistake, Mistakes, Span};

use super::directive::NAMES;

const HELP: &str = "write `<!-- lockstep: NAME … -->` on a line of its own, and `<!-- /lockstep -->` \
     below the part";

/// A line that begins with so many spaces is code.
const CODE: usize = 4;

/// What a line says about generated parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A part begins; its directive stands here.
    Begin(Span),
    /// A part ends.
    End,
}

/// Reads a line that begins at an offset. A mistake in it still leaves a mark, so that the other
/// half of the part is none.
pub(super) fn read(mistakes: &mut Mistakes, line: &str, start: usize) -> Option<Mark> {
    let line = line.trim_end();
    let begin = line.len() - line.trim_start().len();
    if begin >= CODE || line[..begin].contains('\t') {
        return None;
    }
    let inner = line[begin..].strip_prefix("<!--")?.trim_start();
    let word = inner.split_whitespace().next()?;
    let rest = inner[word.len()..].trim_start();
    let is_end = word == "/lockstep" || word.starts_with("/lockstep-->");
    let lacks_colon = word == "lockstep" && NAMES.iter().any(|name| rest.starts_with(name));
    if !is_end && !inner.starts_with("lockstep:") && !lacks_colon {
        return None;
    }
    let place = |from: usize, to: usize| Span {
        start: start + from,
        end: start + to,
    };
    let whole = place(begin, line.len());
    let mut refuse = |span, message: &str, label: &str| {
        mistakes.report(Mistake::new(span, message).label(label).help(HELP));
    };
    if begin > 0 {
        let span = place(0, begin);
        refuse(
            span,
            "a directive begins its line",
            "nothing may stand before it",
        );
    } else if lacks_colon {
        refuse(whole, "a directive without a colon", "`lockstep:` is meant");
    }
    let end = line.find("-->").unwrap_or_else(|| {
        refuse(whole, "a directive ends on its line", "no `-->` here");
        line.len()
    });
    let behind = place((end + "-->".len()).min(line.len()), line.len());
    if behind.start < behind.end {
        refuse(
            behind,
            "a directive ends its line",
            "nothing may stand behind it",
        );
    }
    let first = line.len() - inner.len();
    if is_end {
        let name = first + "/lockstep".len();
        if !line[name..end].trim().is_empty() {
            refuse(
                place(name, end),
                "the end of a part has no arguments",
                "not needed",
            );
        }
        return Some(Mark::End);
    }
    let colon = first + "lockstep".len();
    let first = (colon + usize::from(line[colon..].starts_with(':'))).min(end);
    let directive = line[first..end].trim();
    let first = first + line[first..end].find(directive).unwrap_or(0);
    Some(Mark::Begin(place(first, first + directive.len())))
}

/// A fence of a code block, in which nothing is a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    /// The fence that a line begins a code block with.
    pub(super) fn beginning(line: &str) -> Option<Self> {
        let line = line.trim();
        let sign = line.chars().next().filter(|sign| "`~".contains(*sign))?;
        let length = line.chars().take_while(|other| *other == sign).count();
        // Three back quotes in a line and more behind them are code in the line.
        let is_inline = sign == '`' && line[length..].contains(sign);
        (length >= 3 && !is_inline).then_some(Self { sign, length })
    }

    /// Whether a line ends the code block.
    pub(super) fn is_ended_by(self, line: &str) -> bool {
        let line = line.trim();
        line.chars().all(|sign| sign == self.sign) && line.len() >= self.length
    }
}
