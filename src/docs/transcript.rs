//! The accepted transcript of a case.

use std::path::Path;

use super::context::Context;
use super::library::{Case, Entry};
use super::markdown;
use crate::scenario::{Mistake, Spanned, suggestion};

/// The text of the snapshot, as a block of code.
pub(super) fn render(
    context: &mut Context<'_>,
    file: &Spanned<String>,
    case: Option<&Spanned<String>>,
) -> Option<String> {
    let entries = context.entries(file)?;
    let is_meant = |entry: &&Entry| entry.path == Path::new(&file.value);
    let Some(entry) = entries.first().filter(is_meant) else {
        let help = "name one of the files in it";
        context.refuse(
            file.span,
            "expected a scenario file",
            "this is a folder",
            help,
        );
        return None;
    };
    let case = match case {
        Some(name) => {
            let named = |case: &&Case| case.scenario.case == name.value;
            let Some(case) = entry.cases.iter().find(named) else {
                let cases = entry.cases.iter().map(|case| case.scenario.case.as_str());
                let help = suggestion(&context.mistakes, &name.value, cases, "its cases are");
                let message = format!("the scenario has no case `{}`", name.value);
                let mistake = Mistake::new(name.span, message).label("unknown case");
                context.mistakes.report(mistake.maybe_help(help));
                return None;
            };
            case
        }
        None => match entry.cases.as_slice() {
            [case] => case,
            [first, ..] => {
                let help = format!(
                    "name one of them behind the file: `{}`",
                    first.scenario.case
                );
                let message = "the scenario has more than one case";
                context.refuse(file.span, message, "which one?", &help);
                return None;
            }
            [] => return None,
        },
    };
    let Some((_, text)) = case.newest() else {
        context.refuse_unaccepted(file.span, &entry.path, &case.scenario.case);
        return None;
    };
    Some(markdown::code(text))
}
