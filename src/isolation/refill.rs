//! Set-ups that are made once for several schedules.

use super::spec::Spec;
use crate::scenario::{FilledTables, Spanned, changes_rows_only, dropped_tables, filled_tables};

/// SQL that does for the next schedule what the tear-down and the set-up of a spec do, if it cannot be
/// told from them: the tables that may have changed are emptied and filled anew, instead of all being
/// dropped and made.
///
/// That holds where the set-up does nothing but make tables and fill them, the tear-down drops just
/// those, and the sessions only read and change rows. TRUNCATE gives a table new, empty files, and so
/// for its indexes; sequences begin anew; PostgreSQL knows no more of its size than of a new one's.
/// What differs is the identity of the tables and what is counted of them, which the sessions do not
/// look at; and what a transaction keeps about a table, so that none may be open.
pub(super) fn refill(spec: &Spec) -> Option<Spanned<String>> {
    let [setup] = spec.setups.as_slice() else {
        return None;
    };
    let filled = filled_tables(&setup.value)?;
    let teardown = spec.teardown.as_ref()?;
    let by_sessions: Vec<&str> = spec
        .sessions
        .iter()
        .flat_map(|session| {
            let steps = session.steps.iter().map(|step| &step.sql);
            session.setup.iter().chain(steps).chain(&session.teardown)
        })
        .map(|sql| sql.value.as_str())
        .collect();
    let is_refillable = filled.are_dropped(&dropped_tables(&teardown.value)?)
        && by_sessions.iter().all(|sql| changes_rows_only(sql))
        && !may_keep_what_it_read(&by_sessions);
    is_refillable.then(|| Spanned {
        value: truncated_and_filled(&filled, &by_sessions),
        span: teardown.span,
    })
}

/// Tables that are only read stay as they are, unless there are no others; they are locked all the
/// same, as by a DROP, since who holds a lock on them is in the way of the tear-down.
fn truncated_and_filled(filled: &FilledTables, by_sessions: &[&str]) -> String {
    let changed = filled.changed_by(by_sessions);
    let all = || filled.tables.iter().map(String::as_str);
    let (locked, changed): (Vec<&str>, Vec<&str>) = if changed.is_empty() {
        (Vec::new(), all().collect())
    } else {
        all().partition(|table| !changed.contains(table))
    };
    let mut sql = String::new();
    if !locked.is_empty() {
        sql = format!("LOCK TABLE {};", locked.join(", "));
    }
    sql.push_str(&format!("TRUNCATE {} RESTART IDENTITY", changed.join(", ")));
    let inserts = filled.inserts.iter();
    for (_, insert) in inserts.filter(|(table, _)| changed.contains(&table.as_str())) {
        // Behind a comment at the end of the one before.
        sql.push_str("\n;");
        sql.push_str(insert);
    }
    sql
}

/// Whether a prepared transaction may be left that has read a table and holds no lock on it, so that
/// the table can be emptied: it has let go of it with a savepoint.
fn may_keep_what_it_read(sql: &[&str]) -> bool {
    let is_named = |word| {
        sql.iter()
            .any(|sql| sql.to_ascii_lowercase().contains(word))
    };
    is_named("prepare") && is_named("savepoint")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolation::parse;
    use crate::scenario::SourceFile;

    fn refilled(text: &str) -> Option<String> {
        let source = SourceFile {
            path: "a.spec".into(),
            text: text.into(),
        };
        refill(&parse(&source).expect("it holds no mistake")).map(|sql| sql.value)
    }

    #[test]
    fn tables_of_which_only_rows_change_are_filled_anew() {
        assert_eq!(
            refilled(
                "setup { CREATE TABLE a (b int); INSERT INTO a VALUES (1) -- one\n; CREATE TABLE c (d int); }
                 teardown { DROP TABLE c, a; }
                 session s setup { BEGIN; } step s1 { UPDATE a SET b = 2; } step s2 { DELETE FROM c; } teardown { COMMIT; }"
            )
            .as_deref(),
            Some("TRUNCATE a, c RESTART IDENTITY\n;INSERT INTO a VALUES (1) -- one\n;")
        );
    }

    #[test]
    fn tables_that_are_only_read_are_left_alone() {
        assert_eq!(
            refilled(
                "setup { CREATE TABLE one (b int); CREATE TABLE two (d int); INSERT INTO one VALUES (1); INSERT INTO two VALUES (2); }
                 teardown { DROP TABLE one, two; }
                 session s step s1 { UPDATE one SET b = 2; } step s2 { SELECT * FROM one, two; }"
            )
            .as_deref(),
            Some("LOCK TABLE two;TRUNCATE one RESTART IDENTITY\n;INSERT INTO one VALUES (1);")
        );
    }

    #[test]
    fn what_may_be_told_from_a_fresh_set_up_is_set_up_afresh() {
        for text in [
            // No tear-down, or not of just the tables.
            "setup { CREATE TABLE a (b int); } session s step s1 { SELECT 1; }",
            "setup { CREATE TABLE a (b int); } teardown { DROP TABLE a, b; } session s step s1 { SELECT 1; }",
            // Several set-ups, and what is more than rows.
            "setup { CREATE TABLE a (b int); } setup { INSERT INTO a VALUES (1); } teardown { DROP TABLE a; } session s step s1 { SELECT 1; }",
            "setup { CREATE TABLE a (b int); CREATE TABLE c (b int REFERENCES a); } teardown { DROP TABLE a; DROP TABLE c; } session s step s1 { SELECT 1; }",
            "setup { CREATE TABLE a (b int); CREATE INDEX ON a (b); } teardown { DROP TABLE a; } session s step s1 { SELECT 1; }",
            // Steps that change or see the table itself.
            "setup { CREATE TABLE a (b int); } teardown { DROP TABLE a; } session s step s1 { ALTER TABLE a ADD c int; }",
            "setup { CREATE TABLE a (b int); } teardown { DROP TABLE a; } session s step s1 { SELECT tableoid FROM a; }",
            "setup { CREATE TABLE a (b int); } teardown { DROP TABLE a; } session s step s1 { SELECT 1; } teardown { ANALYZE a; }",
            "setup { CREATE TABLE a (b int); } teardown { DROP TABLE a; } session s step s1 { BEGIN; SAVEPOINT x; } step s2 { PREPARE TRANSACTION 's'; }",
        ] {
            assert_eq!(refilled(text), None, "{text}");
        }
    }
}
