//! Errors that were expected and did not come, or came and were not expected.

use super::observed::Answered;
use super::unmet::Subject;
use super::{glob, place};
use crate::scenario::{Diagnostic, ExpectedError, SourceFile, SqlText, Statement, Step};
use crate::transcript::ServerMessage;

/// An error of the server that nothing in the scenario expects, at the place in the file where the
/// server found it. `statement` is what was sent of `sql`.
#[must_use]
pub fn server_error(
    source: &SourceFile,
    sql: &SqlText,
    statement: &Statement,
    error: &ServerMessage,
) -> Diagnostic {
    let span = match error.position {
        Some(position) => place::of_position(source, sql, statement, position),
        None => place::of_statement(source, sql, statement),
    };
    Diagnostic {
        source: source.clone(),
        message: format!(
            "unexpected {} {}: {}",
            error.severity.as_str(),
            error.code,
            error.message
        ),
        span,
        label: error.detail.clone().unwrap_or_default(),
        related: Vec::new(),
        help: error.hint.clone(),
    }
}

/// What is wrong when a step fails that must not.
pub(super) fn unexpected(subject: &Subject<'_>) -> Option<Diagnostic> {
    let expects_error = subject
        .step
        .expect
        .first()
        .and_then(|wanted| wanted.outcomes.first())
        .is_some_and(|expect| expect.error.is_some());
    if expects_error {
        return None;
    }
    if let Some((answered, error)) = subject.observed.error() {
        return Some(step_error(subject, answered, error));
    }
    let lost = subject.observed.connection_lost()?;
    let source = &subject.scenario.source;
    let span = subject.sql(lost.part).map_or(subject.step.span, |sql| {
        place::of_statement(source, sql, lost.statement)
    });
    Some(subject.diagnostic(
        span,
        "the connection ended unexpectedly".to_owned(),
        "no answer came to this statement".to_owned(),
    ))
}

fn step_error(subject: &Subject<'_>, answered: Answered<'_>, error: &ServerMessage) -> Diagnostic {
    let source = &subject.scenario.source;
    let mut diagnostic = match subject.sql(answered.part) {
        Some(sql) => server_error(source, sql, answered.statement, error),
        None => subject.diagnostic(
            subject.step.span,
            format!(
                "unexpected {} {}: {}",
                error.severity.as_str(),
                error.code,
                error.message
            ),
            error.detail.clone().unwrap_or_default(),
        ),
    };
    let wanted = format!(
        "if the scenario is to show this error, write `expect: {{ error: \"{}\" }}`",
        error.code
    );
    diagnostic.help = Some(match &error.hint {
        Some(hint) => format!("{hint}\n{wanted}"),
        None => wanted,
    });
    diagnostic
}

/// What is wrong when a step must fail.
pub(super) fn expected(subject: &Subject<'_>, expected: &ExpectedError) -> Option<Diagnostic> {
    let wanted = describe(expected);
    let Some((_, error)) = subject.observed.error() else {
        let message = if subject.observed.connection_lost().is_some() {
            format!("expected {wanted}, but the connection ended without a word")
        } else {
            format!("expected {wanted}, but the step succeeded")
        };
        return Some(subject.diagnostic(expected.span, message, subject.observed.summary()));
    };
    let code_fits = expected
        .code
        .as_ref()
        .is_none_or(|code| code.eq_ignore_ascii_case(&error.code));
    let message_fits = expected
        .message
        .as_ref()
        .is_none_or(|pattern| glob::matches(pattern, &error.message));
    if code_fits && message_fits {
        return None;
    }
    let mut diagnostic = subject.diagnostic(
        expected.span,
        format!("expected {wanted}, got another error"),
        subject.observed.summary(),
    );
    diagnostic.help = error.detail.clone();
    Some(diagnostic)
}

/// Whether a step expects an error, on any release and as any of its outcomes.
pub(crate) fn expects(step: &Step, error: &ServerMessage) -> bool {
    let outcomes = step.expect.iter().flat_map(|expected| &expected.outcomes);
    let mut errors = outcomes.filter_map(|outcome| outcome.error.as_ref());
    errors.any(|expected| {
        let (code, message) = (expected.code.as_ref(), expected.message.as_ref());
        code.is_none_or(|code| code.eq_ignore_ascii_case(&error.code))
            && message.is_none_or(|pattern| glob::matches(pattern, &error.message))
    })
}

fn describe(expected: &ExpectedError) -> String {
    match (&expected.code, &expected.message) {
        (Some(code), Some(message)) => format!("error {code} with message `{message}`"),
        (Some(code), None) => format!("error {code}"),
        (None, Some(message)) => format!("an error with message `{message}`"),
        (None, None) => "an error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{
        FILE, command, judge, message, nothing, rows, source, span, spanned, sql,
    };
    use super::*;
    use crate::scenario::{Expect, Span, split};
    use crate::transcript::{Answer, Severity};

    fn locked() -> ServerMessage {
        message(
            Severity::Error,
            "55P03",
            "could not obtain lock on row in relation \"jobs\"",
        )
    }

    fn expecting(code: Option<&str>, message: Option<&str>) -> Expect {
        Expect {
            error: Some(ExpectedError {
                span: span("{ code: 55P03 }"),
                code: code.map(str::to_owned),
                message: message.map(str::to_owned),
            }),
            ..nothing()
        }
    }

    #[test]
    fn an_expected_error_is_no_mistake() {
        for (code, pattern) in [
            (Some("55P03"), None),
            (Some("55p03"), Some("could not obtain lock*")),
            (None, Some("*\"jobs\"")),
            (None, None),
        ] {
            assert!(judge(expecting(code, pattern), &[Answer::Error(locked())]).is_empty());
        }
    }

    #[test]
    fn another_error_is_not_the_expected_one() {
        let got = "got error 55P03: could not obtain lock on row in relation \"jobs\"";
        for (code, pattern, wanted) in [
            (Some("40001"), None, "error 40001"),
            (Some("55P03"), Some("x*"), "error 55P03 with message `x*`"),
            (None, Some("could"), "an error with message `could`"),
        ] {
            assert_eq!(
                judge(expecting(code, pattern), &[Answer::Error(locked())]),
                [[
                    "{ code: 55P03 }",
                    &format!("expected {wanted}, got another error"),
                    got
                ]]
            );
        }
    }

    #[test]
    fn an_expected_error_must_come() {
        assert_eq!(
            judge(expecting(Some("55P03"), None), &[command("UPDATE 1")]),
            [[
                "{ code: 55P03 }",
                "expected error 55P03, but the step succeeded",
                "got `UPDATE 1`"
            ]]
        );
        assert_eq!(
            judge(expecting(None, None), &[Answer::ConnectionLost]),
            [[
                "{ code: 55P03 }",
                "expected an error, but the connection ended without a word",
                "the connection ended"
            ]]
        );
        let fatal = message(Severity::Fatal, "57P01", "terminating connection");
        let answers = [Answer::Error(fatal), Answer::ConnectionLost];
        assert!(judge(expecting(Some("57P01"), None), &answers).is_empty());
    }

    #[test]
    fn an_unexpected_error_is_underlined_where_the_server_found_it() {
        for (position, piece) in [
            (1, "SELECT"),
            (12, "task"),
            (17, "FROM"),
            (26, ";"),
            (99, ";"),
        ] {
            let mut error = message(Severity::Error, "42P01", "relation \"jobs\" does not exist");
            error.position = Some(position);
            error.detail = Some("The detail.".to_owned());
            assert_eq!(
                judge(nothing(), &[Answer::Error(error)]),
                [[
                    piece,
                    "unexpected ERROR 42P01: relation \"jobs\" does not exist",
                    "The detail."
                ]]
            );
        }
    }

    #[test]
    fn an_unexpected_error_without_a_place_underlines_the_statement() {
        let found = judge(nothing(), &[Answer::Error(locked())]);
        assert_eq!(found[0][0], "SELECT id, task\n      FROM jobs;");
    }

    #[test]
    fn what_a_failed_step_did_not_give_is_no_news() {
        let expect = || Expect {
            tag: Some(spanned("UPDATE 1", "UPDATE 1".to_owned())),
            ..nothing()
        };
        assert_eq!(judge(expect(), &[Answer::Error(locked())]).len(), 1);
        assert_eq!(
            judge(expect(), &[rows(&[])]).len(),
            1,
            "a step that did not fail"
        );
    }

    #[test]
    fn a_lost_connection_is_an_error_that_nobody_expects() {
        assert_eq!(
            judge(nothing(), &[Answer::ConnectionLost]),
            [[
                "SELECT id, task\n      FROM jobs;",
                "the connection ended unexpectedly",
                "no answer came to this statement"
            ]]
        );
    }

    #[test]
    fn the_second_statement_of_a_text_with_empty_lines_is_found() {
        // The fixture's SQL, after another statement and with an empty line in it.
        let sql = SqlText {
            text: "SET x;\nSELECT id, task\n\nFROM jobs;".to_owned(),
            origins: vec![(0, 0), (7, span("SELECT").start), (24, span("FROM").start)],
            ..sql()
        };
        let mut error = message(Severity::Error, "42P01", "relation \"jobs\" does not exist");
        error.position = Some(22);
        error.hint = Some("The hint.".to_owned());
        let found = server_error(&source(), &sql, &split(&sql.text).unwrap()[1], &error);
        let Span { start, end } = found.span;
        assert_eq!(&FILE[start..end], "jobs");
        assert_eq!(found.help.as_deref(), Some("The hint."));
    }
    #[test]
    fn positions_count_characters_and_not_bytes() {
        let text = "A: SELECT 'äö', \"größe\" FROM t;";
        let source = SourceFile {
            path: "race.yaml".into(),
            text: text.into(),
        };
        let sql = SqlText {
            text: text[3..].to_owned(),
            span: Span {
                start: 3,
                end: text.len(),
            },
            origins: vec![(0, 3)],
        };
        let mut error = message(Severity::Error, "42703", "column \"größe\" does not exist");
        error.position = Some(14);
        let found = server_error(&source, &sql, &split(&sql.text).unwrap()[0], &error);
        assert_eq!(&text[found.span.start..found.span.end], "\"größe\"");
    }
}
