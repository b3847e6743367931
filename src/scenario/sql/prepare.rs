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

/// The identifiers of prepared transactions that some SQL names where it prepares or ends them, as
/// they are written: they are the whole server's.
pub(crate) fn prepared_transactions(sql: &str) -> impl Iterator<Item = &str> {
    let mut before = [""; 2];
    significant(sql).filter_map(move |token| {
        let text = &sql[token.range];
        let is_named = [
            ["prepare", "transaction"],
            ["commit", "prepared"],
            ["rollback", "prepared"],
        ]
        .iter()
        .any(|[verb, object]| {
            before[0].eq_ignore_ascii_case(verb) && before[1].eq_ignore_ascii_case(object)
        });
        before = [before[1], text];
        is_named.then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::{prepared_name, prepared_transactions};

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
        let found = |sql| prepared_transactions(sql).collect::<Vec<_>>();
        assert_eq!(
            found(
                "BEGIN; prepare -- it\n transaction 'a'; COMMIT PREPARED E'b'; ROLLBACK PREPARED $$c$$"
            ),
            ["'a'", "E'b'", "$$c$$"]
        );
        let sql = "PREPARE a AS SELECT 'prepare transaction ''b'''; START TRANSACTION";
        assert!(found(sql).is_empty());
    }
}
