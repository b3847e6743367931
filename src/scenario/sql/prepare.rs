//! Statements that prepare others, or a transaction.

use super::lexer::{Lexer, Token, TokenKind};

/// The tokens of a statement that mean something.
pub(super) fn significant(statement: &str) -> impl Iterator<Item = Token> {
    Lexer::new(statement).filter(|token| {
        !matches!(
            token.kind,
            TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment
        )
    })
}

/// The name under which `PREPARE` keeps a statement.
pub(crate) fn prepared_name(statement: &str) -> Option<String> {
    let mut tokens = significant(statement);
    let first = tokens.next()?;
    let is_prepare = statement[first.range].eq_ignore_ascii_case("prepare");
    let name = tokens.next().filter(|_| is_prepare)?;
    let written = &statement[name.range];
    match name.kind {
        TokenKind::Word if written.eq_ignore_ascii_case("transaction") => None,
        TokenKind::Word => Some(written.to_lowercase()),
        TokenKind::QuotedIdentifier => Some(written.trim_matches('"').replace("\"\"", "\"")),
        _ => None,
    }
}

/// Whether `PREPARE TRANSACTION` stands anywhere in some SQL: the identifiers of prepared
/// transactions are the whole server's.
pub(crate) fn prepares_transaction(sql: &str) -> bool {
    let mut after_prepare = false;
    significant(sql).any(|token| {
        let text = &sql[token.range];
        let found = after_prepare && text.eq_ignore_ascii_case("transaction");
        after_prepare = text.eq_ignore_ascii_case("prepare");
        found
    })
}

#[cfg(test)]
mod tests {
    use super::{prepared_name, prepares_transaction};

    #[test]
    fn names_are_those_that_the_server_keeps() {
        let name = |sql| prepared_name(sql);
        assert_eq!(
            name("/* a */ PREPARE Claim (int) AS SELECT $1").as_deref(),
            Some("claim")
        );
        assert_eq!(
            name("prepare \"Cl\"\"aim\" AS SELECT 1").as_deref(),
            Some("Cl\"aim")
        );
        assert_eq!(name("PREPARE TRANSACTION 'a'"), None);
        assert_eq!(name("EXECUTE claim"), None);
    }

    #[test]
    fn prepared_transactions_are_found() {
        assert!(prepares_transaction(
            "BEGIN; prepare -- it\n transaction 'a';"
        ));
        assert!(!prepares_transaction(
            "PREPARE a AS SELECT 'prepare transaction'; START TRANSACTION"
        ));
    }
}
