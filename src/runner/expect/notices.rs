//! The notices that came.

use super::glob;
use super::unmet::Subject;
use crate::scenario::{Diagnostic, Spanned};
use crate::transcript::Answer;

pub(super) fn check(subject: &Subject<'_>, expected: &Spanned<Vec<String>>) -> Option<Diagnostic> {
    let got: Vec<&str> = subject
        .observed
        .answers()
        .filter_map(|answer| match answer {
            Answer::Notice(notice) => Some(notice.message.as_str()),
            _ => None,
        })
        .collect();
    let patterns = &expected.value;
    let different = patterns
        .iter()
        .zip(&got)
        .position(|(pattern, message)| !glob::matches(pattern, message));
    let label = match different {
        Some(at) => format!("expected `{}`, got `{}`", patterns[at], got[at]),
        None if got.len() > patterns.len() => {
            format!("one too many: `{}`", got[patterns.len()])
        }
        None if got.len() < patterns.len() => {
            format!("`{}` did not come", patterns[got.len()])
        }
        None => return None,
    };
    let message = match different {
        Some(at) => format!("notice {} is not the expected one", at + 1),
        None => format!("expected {}, got {}", count(patterns.len()), got.len()),
    };
    let mut diagnostic = subject.diagnostic(expected.span, message, label);
    if !got.is_empty() {
        diagnostic.help = Some(format!("the notices that came:\n  {}", got.join("\n  ")));
    }
    Some(diagnostic)
}

fn count(notices: usize) -> String {
    match notices {
        0 => "no notice".to_owned(),
        1 => "1 notice".to_owned(),
        many => format!("{many} notices"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{command, judge, message, nothing, spanned};
    use super::*;
    use crate::scenario::Expect;
    use crate::transcript::Severity;

    fn check(patterns: &[&str], notices: &[&str]) -> Vec<[String; 3]> {
        let expect = Expect {
            notices: Some(spanned(
                "['one*']",
                patterns
                    .iter()
                    .map(|pattern| (*pattern).to_owned())
                    .collect(),
            )),
            ..nothing()
        };
        let mut answers: Vec<Answer> = notices
            .iter()
            .map(|text| Answer::Notice(message(Severity::Notice, "00000", text)))
            .collect();
        answers.insert(answers.len() / 2, command("DO"));
        judge(expect, &answers)
    }

    #[test]
    fn notices_come_in_order_and_number() {
        assert!(check(&[], &[]).is_empty());
        assert!(check(&["one*", "*two"], &["one more", "and two"]).is_empty());
        assert_eq!(
            check(&["one*", "two"], &["one", "three"]),
            [[
                "['one*']",
                "notice 2 is not the expected one",
                "expected `two`, got `three`"
            ]]
        );
        assert_eq!(
            check(&["one"], &["one", "two"]),
            [[
                "['one*']",
                "expected 1 notice, got 2",
                "one too many: `two`"
            ]]
        );
        assert_eq!(
            check(&["one", "two"], &["one"]),
            [[
                "['one*']",
                "expected 2 notices, got 1",
                "`two` did not come"
            ]]
        );
        assert_eq!(
            check(&[], &["one"]),
            [[
                "['one*']",
                "expected no notice, got 1",
                "one too many: `one`"
            ]]
        );
    }
}
