//! The error that must come out of a step.

use super::super::model::ExpectedError;
use super::mistakes::{Mistake, Mistakes};
use super::node::{Kind, Node};
use super::values::{self, Fields, Keys};

const KEYS: Keys = Keys {
    of: "an expected error",
    known: &["code", "message"],
    later: &[],
};

const HELP: &str = "write the SQLSTATE, `error: 40001`, or `error: { code: \"55P03\", message: \"could not obtain lock*\" }`";

/// Names that PL/pgSQL has for the errors races end in (PostgreSQL manual, appendix A).
const CONDITIONS: &[(&str, &str)] = &[
    ("check_violation", "23514"),
    ("deadlock_detected", "40P01"),
    ("exclusion_violation", "23P01"),
    ("foreign_key_violation", "23503"),
    ("idle_in_transaction_session_timeout", "25P03"),
    ("in_failed_sql_transaction", "25P02"),
    ("lock_not_available", "55P03"),
    ("not_null_violation", "23502"),
    ("object_in_use", "55006"),
    ("query_canceled", "57014"),
    ("read_only_sql_transaction", "25006"),
    ("serialization_failure", "40001"),
    ("transaction_timeout", "25P04"),
    ("unique_violation", "23505"),
];

/// Reads an expected error.
pub(super) fn read(mistakes: &mut Mistakes, node: &Node) -> Option<ExpectedError> {
    match &node.kind {
        Kind::Scalar(_) => Some(ExpectedError {
            span: node.span,
            code: Some(code(mistakes, node)?),
            message: None,
        }),
        Kind::List(_) => {
            values::expected(mistakes, node, "a SQLSTATE or a mapping", HELP);
            None
        }
        Kind::Mapping(_) => {
            let fields = Fields::of(mistakes, node, "a SQLSTATE or a mapping", HELP)?;
            fields.refuse_others(mistakes, &KEYS);
            let code = fields.get("code").map(|node| code(mistakes, node));
            let message = fields.get("message").map(|node| {
                let help = "write the message, with `*` for any text";
                values::text(mistakes, node, "a message", help)
            });
            if code.is_none() && message.is_none() {
                // Another key was refused already.
                if fields.is_empty() {
                    mistakes.report(
                        Mistake::new(node.span, "neither `code` nor `message`")
                            .label("this expects nothing")
                            .help(HELP),
                    );
                }
                return None;
            }
            Some(ExpectedError {
                span: node.span,
                code: code.flatten(),
                message: message.flatten(),
            })
        }
    }
}

/// A SQLSTATE, as it is written: `08006` is no number.
fn code(mistakes: &mut Mistakes, node: &Node) -> Option<String> {
    let written = values::text(mistakes, node, "a SQLSTATE", HELP)?;
    let is_code = |text: &str| {
        text.len() == 5
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    let shown = values::shown(&written);
    let mistake = Mistake::new(node.span, format!("`{shown}` is not a SQLSTATE"));
    let mistake = if is_code(&written) {
        match &written[..2] {
            "00" | "01" | "02" => Mistake::new(
                node.span,
                format!("`{written}` is not the code of an error"),
            )
            .label("this class means success or a warning")
            .help("leave `error` out; a statement without it must succeed"),
            _ => return Some(written),
        }
    } else if is_code(&written.to_ascii_uppercase()) {
        mistake
            .label("with lower-case letters")
            .help(format!("write `{}`", written.to_ascii_uppercase()))
    } else if let Some((_, code)) = CONDITIONS
        .iter()
        .find(|(name, _)| *name == written.to_ascii_lowercase())
    {
        mistake
            .label("the name of a condition")
            .help(format!("write its code: `{code}`"))
    } else if written.contains(' ') {
        mistake
            .label("this looks like a message")
            .help(format!("write `error: {{ message: \"{shown}\" }}`"))
    } else {
        mistake
            .label("a SQLSTATE is five digits or capital letters")
            .help(HELP)
    };
    mistakes.report(mistake);
    None
}
