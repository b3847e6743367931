//! Errors that were expected and did not come, or came and were not expected.

use super::observed::{Answered, Why};
use super::unmet::Subject;
use super::{glob, place};
use crate::scenario::{
    Diagnostic, ExpectedError, SourceFile, Span, SqlText, Statement, Step, split,
};
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
        message: surprise(error),
        span,
        label: error.detail.clone().unwrap_or_default(),
        related: Vec::new(),
        help: error.hint.clone(),
    }
}

fn surprise(error: &ServerMessage) -> String {
    let severity = error.severity.as_str();
    format!("unexpected {severity} {}: {}", error.code, error.message)
}

/// What is wrong when a step fails that must not.
pub(super) fn unexpected(subject: &Subject<'_>) -> Option<Diagnostic> {
    let failure = subject.failure()?;
    let mut diagnostic = match failure.why {
        Why::Error(error) => step_error(subject, failure.answered, error),
        Why::Silence => subject.diagnostic(
            step_place(subject, failure.answered),
            "the connection ended unexpectedly".to_owned(),
            "no answer came to this statement".to_owned(),
        ),
    };
    let wanted = format!(
        "if the scenario is to show this error, write `expect: {{ error: \"{}\" }}`",
        failure.why.code()
    );
    diagnostic.help = Some(match diagnostic.help {
        Some(hint) => format!("{hint}\n{wanted}"),
        None => wanted,
    });
    Some(diagnostic)
}

fn step_error(subject: &Subject<'_>, answered: Answered<'_>, error: &ServerMessage) -> Diagnostic {
    let source = &subject.scenario.source;
    if let Some(sql) = subject.sql(answered.part) {
        return server_error(source, sql, answered.statement, error);
    }
    if let Some((name, Some(sql))) = subject.executed()
        && error.position.is_some()
        && let Some(statement) = split(&sql.text).ok().and_then(|all| all.into_iter().next())
    {
        // The position is one in the text that was prepared, in another step.
        let mut diagnostic = server_error(source, sql, &statement, error);
        diagnostic.related.push((name, "executed here".to_owned()));
        return diagnostic;
    }
    let mut diagnostic = subject.diagnostic(
        step_place(subject, answered),
        surprise(error),
        error.detail.clone().unwrap_or_default(),
    );
    diagnostic.help.clone_from(&error.hint);
    diagnostic
}

/// The place of a statement that was sent, or of what stands for it in the step.
fn step_place(subject: &Subject<'_>, answered: Answered<'_>) -> Span {
    match (subject.sql(answered.part), subject.executed()) {
        (Some(sql), _) => place::of_statement(&subject.scenario.source, sql, answered.statement),
        (None, Some((name, _))) => name,
        (None, None) => subject.step.span,
    }
}

/// What is wrong when a step must fail.
pub(super) fn expected(subject: &Subject<'_>, expected: &ExpectedError) -> Option<Diagnostic> {
    let wanted = describe(expected);
    let Some(failure) = subject.failure() else {
        return Some(subject.diagnostic(
            expected.span,
            format!("expected {wanted}, but the step did not fail"),
            subject.observed.summary(),
        ));
    };
    let code = expected.code.as_ref();
    let pattern = expected.message.as_ref();
    if code.is_none_or(|code| code.eq_ignore_ascii_case(failure.why.code()))
        && pattern.is_none_or(|pattern| glob::matches(pattern, failure.why.message()))
    {
        return None;
    }
    let (got, help) = match failure.why {
        Why::Error(error) => ("got another error", error.detail.clone()),
        Why::Silence => (
            "but the connection ended without a word",
            Some(format!("of that the code is {}", failure.why.code())),
        ),
    };
    let mut diagnostic = subject.diagnostic(
        expected.span,
        format!("expected {wanted}, {got}"),
        subject.observed.summary(),
    );
    diagnostic.help = help;
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
        FILE, RELEASE, command, judge, message, nothing, rows, scenario, source, span, spanned,
        sql, statement,
    };
    use super::super::{Observed, unmet};
    use super::*;
    use crate::scenario::{Action, Bound, Expect, Reply, Sending, SessionIndex};
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
                "expected error 55P03, but the step did not fail",
                "got `UPDATE 1`"
            ]]
        );
        assert_eq!(
            judge(expecting(Some("55P03"), None), &[Answer::ConnectionLost]),
            [[
                "{ code: 55P03 }",
                "expected error 55P03, but the connection ended without a word",
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
    fn a_connection_that_ends_can_be_expected() {
        let lost = [Answer::ConnectionLost];
        assert!(judge(expecting(Some("08006"), None), &lost).is_empty());
        // A server that is stopped at once has no time for an error.
        let warning = message(
            Severity::Warning,
            "57P01",
            "terminating connection due to immediate shutdown command",
        );
        let stopped = [Answer::Notice(warning), Answer::ConnectionLost];
        assert!(judge(expecting(Some("57P01"), None), &stopped).is_empty());
        assert_eq!(
            judge(nothing(), &stopped)[0][1],
            "unexpected WARNING 57P01: terminating connection due to immediate shutdown command"
        );
    }

    #[test]
    fn an_answer_that_nobody_was_to_read_is_no_failure() {
        for reply in [Reply::Lost, Reply::Unsent] {
            let mut scenario = scenario(nothing());
            let Action::Send { reply: of_step, .. } = &mut scenario.steps[0].action else {
                panic!("a session sends something");
            };
            *of_step = reply;
            let statement = statement();
            for answers in [
                [Answer::ReplyLost].as_slice(),
                &[Answer::ReplyLost, Answer::ConnectionLost],
            ] {
                let observed = Observed {
                    answered: vec![Answered {
                        part: 0,
                        statement: &statement,
                        answers,
                    }],
                    ..Observed::default()
                };
                let found = unmet(&scenario, &scenario.steps[0], &observed, RELEASE);
                assert!(found.is_empty(), "{found:?}");
            }
        }
    }

    #[test]
    fn each_piece_of_a_pipeline_has_a_place_of_its_own() {
        let mut scenario = scenario(nothing());
        let piece = |piece: &str| Bound {
            sql: SqlText {
                text: piece.to_owned(),
                span: span(piece),
                origins: vec![(0, span(piece).start)],
            },
            params: Vec::new(),
        };
        let Action::Send { sending, .. } = &mut scenario.steps[0].action else {
            panic!("a session sends something");
        };
        *sending = Sending::Pipeline(vec![piece("SELECT id, task"), piece("FROM jobs;")]);
        let statement = split("FROM jobs;").unwrap().remove(0);
        let mut error = message(Severity::Error, "42601", "syntax error");
        error.position = Some(6);
        let failed = [Answer::Error(error)];
        let one = |part, answers| Answered {
            part,
            statement: &statement,
            answers,
        };
        let observed = Observed {
            answered: vec![one(1, &failed[..]), one(0, &[Answer::Skipped])],
            ..Observed::default()
        };
        let found = unmet(&scenario, &scenario.steps[0], &observed, RELEASE);
        let [found] = found.as_slice() else {
            panic!("{} diagnostics", found.len());
        };
        assert_eq!(&FILE[found.span.start..found.span.end], "jobs");
    }

    #[test]
    fn an_error_in_a_prepared_statement_is_found_where_it_was_prepared() {
        let mut scenario = scenario(nothing());
        let name = || spanned("UPDATE 1", "claim".to_owned());
        let mut prepare = scenario.steps[0].clone();
        let send = |sending| Action::Send {
            session: SessionIndex(0),
            sending,
            reply: Reply::Awaited,
        };
        prepare.action = send(Sending::Prepare {
            name: name(),
            sql: sql(),
        });
        scenario.steps[0].action = send(Sending::Execute {
            name: name(),
            params: Vec::new(),
        });
        scenario.steps.insert(0, prepare);
        let statement = statement();
        let mut error = message(Severity::Error, "42P01", "relation \"jobs\" does not exist");
        let mut place = |position| {
            error.position = position;
            let answers = [Answer::Error(error.clone())];
            let observed = Observed {
                answered: vec![Answered {
                    part: 0,
                    statement: &statement,
                    answers: &answers,
                }],
                ..Observed::default()
            };
            let found = unmet(&scenario, &scenario.steps[1], &observed, RELEASE).remove(0);
            let related = found.related.first().map(|(_, label)| label.clone());
            (&FILE[found.span.start..found.span.end], related)
        };
        assert_eq!(place(Some(22)), ("jobs", Some("executed here".to_owned())));
        assert_eq!(place(None), ("UPDATE 1", None));
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
