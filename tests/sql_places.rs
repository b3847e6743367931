//! Every character of the SQL in a scenario knows its place in the file, in each way YAML has to
//! write text.

use lockstep::scenario::{self, RenderStyle, SourceFile, SqlText};

/// The SQL of `setup:`, written in some way, with the whole text of the file.
fn setup(written: &str) -> (String, SqlText) {
    let text = format!(
        "title: é places\nsetup: {written}\nsessions:\n  A: {{ setup: SELECT 1; }}\nsteps:\n  - A: BEGIN;\n"
    );
    let source = SourceFile {
        path: "places.yaml".into(),
        text: text.clone().into(),
    };
    match scenario::parse(&source) {
        Ok(mut scenarios) => (text, scenarios.remove(0).setup.remove(0)),
        Err(mistakes) => panic!("{}", scenario::render(&mistakes, RenderStyle::plain())),
    }
}

/// Holds every character of the SQL against the file at its place.
fn check(written: &str, expected_sql: &str) {
    let (file, sql) = setup(written);
    assert_eq!(sql.text, expected_sql, "{written:?}");
    let mut before = None;
    for (offset, character) in sql.text.char_indices() {
        let place = sql.origin(offset);
        let there = &file[place..];
        let is_there = there.starts_with(character)
            // A folded line break is a space.
            || (character == ' ' && (there.starts_with('\n') || there.starts_with("\r\n")))
            || (character == '\n' && there.starts_with("\r\n"))
            // The line break that YAML adds to a block which ends with the file.
            || (character == '\n' && there.is_empty())
            || (there.starts_with('\\') && file[sql.span.start..].starts_with('"'));
        assert!(
            is_there,
            "{character:?} at {offset} of {:?} is said to stand at {:?}\nin {written:?}",
            sql.text,
            there.chars().take(12).collect::<String>()
        );
        assert!(
            before.is_none_or(|before| before < place),
            "places go back at {offset} in {written:?}"
        );
        assert!(sql.span.start <= place, "{written:?}");
        before = Some(place);
    }
    let end = sql.origin(sql.text.len());
    assert!(
        before.is_none_or(|before| before < end || end == file.len()),
        "{written:?}: {before:?} {end}"
    );
}

#[test]
fn plain() {
    check("SELECT 'a', \"b\" FROM t;", "SELECT 'a', \"b\" FROM t;");
    check(
        "  SELECT 'é' AS \u{8868}, '😀';   # end",
        "SELECT 'é' AS \u{8868}, '😀';",
    );
    check(
        "SELECT 1,\n  2,\t3\n\n  FROM t;",
        "SELECT 1, 2,\t3\nFROM t;",
    );
    check(
        "SELECT 1,  \r\n   2 \r\n\r\n  \r\n FROM t;\r",
        "SELECT 1, 2\n\nFROM t;",
    );
}

#[test]
fn single_quoted() {
    check("'SELECT ''it''''s'', 2;'", "SELECT 'it''s', 2;");
    check("'SELECT 1,\n    2,\n\n    3   '", "SELECT 1, 2,\n3   ");
    check("' SELECT ''\\n'' é;'", " SELECT '\\n' é;");
    check("'a  \r\n  b\r\n\r\n  c'", "a b\nc");
}

#[test]
fn double_quoted() {
    check(
        r#""SELECT \"A\", '\\', 'x\ty\nz';""#,
        "SELECT \"A\", '\\', 'x\ty\nz';",
    );
    check(r#""a\u00e9b\x41c\U0001F600d\/e\ fg""#, "aébAc😀d/e fg");
    check(r#""a\ud83d\ude00b""#, "a😀b");
    check("\"SELECT 1,\n  2,\n\n\n  3\"", "SELECT 1, 2,\n\n3");
    check("\"SELECT \\\n    1, \\\n  \\ 2\"", "SELECT 1,  2");
    check("\"a \t\\\n\n  b\"", "a \t\nb");
    check("\"a\\t \n b\"", "a\t b");
    check("\"a\\\r\n  b \r\n c\"", "ab c");
}

#[test]
fn literal() {
    check(
        "|\n  SELECT 1;\n  SELECT é, 2;",
        "SELECT 1;\nSELECT é, 2;\n",
    );
    check("|-\n  SELECT\n\n    1;\n\n", "SELECT\n\n  1;");
    check("|+  # kept\n  a\n\n", "a\n\n\n");
    check("|\n\n \n  a\n  b", "\n\na\nb\n");
    check("|2\n    a\n   b\n  c", "  a\n b\nc\n");
    check("|1-\n  a\n b", " a\nb");
    check("|\r\n  a\r\n\r\n    b\r\n", "a\n\n  b\n");
    check("|\n  \tSELECT 1;\n  a\tb", "\tSELECT 1;\na\tb\n");
    check("|\n  a  \n   \n  b", "a  \n \nb\n");
}

#[test]
fn folded() {
    check(
        ">\n  SELECT 1,\n  2\n\n  FROM t\n    WHERE x\n  AND y;",
        "SELECT 1, 2\nFROM t\n  WHERE x\nAND y;\n",
    );
    check(">-\n\n  a\n  b\n\n\n  c\n\n", "\na b\n\nc");
    check(">2-\n    a\n  b\n  c", "  a\nb c");
    check(">\r\n  a\r\n  b\r\n\r\n  c\r\n", "a b\nc\n");
    check(">\n  a\n\n    x\n\n    y\n\n  b", "a\n\n  x\n\n  y\n\nb\n");
    check(">\n  a\n  \tb\n  c", "a\n\tb\nc\n");
}

#[test]
fn a_block_that_ends_with_the_file() {
    let text = "title: t\nsessions: [A]\nsteps:\n  - A: |\n      SELECT é\n      + 1";
    let source = SourceFile {
        path: "end.yaml".into(),
        text: text.into(),
    };
    let scenario = &scenario::parse(&source).expect("the scenario is right")[0];
    let [sql] = scenario.steps[0].action.sql()[..] else {
        panic!("a statement");
    };
    let plus = sql.text.find('+').expect("there is a plus");
    assert_eq!(&text[sql.origin(plus)..], "+ 1");
    assert_eq!(sql.origin(sql.text.len()), text.len());
}

#[test]
fn a_block_inside_lists_and_mappings() {
    let text = "title: t\nstatements:\n    s: |2\n        SELECT\n      1;\nsessions: [A]\nsteps:\n  - A: {use: s}\n  - A: >-\n\n       a\n       b\n  - A: >\n      c\n      b\n\n\n  - A: |+\n      d b\n\n  - A: COMMIT; b\n";
    let source = SourceFile {
        path: "nested.yaml".into(),
        text: text.into(),
    };
    let scenario = &scenario::parse(&source).expect("the scenario is right")[0];
    let places: Vec<_> = scenario
        .steps
        .iter()
        .flat_map(|step| step.action.sql())
        .map(|sql| {
            let last = sql.text.trim_end().len() - 1;
            (sql.text.clone(), &text[sql.origin(last)..][..2])
        })
        .collect();
    assert_eq!(
        places,
        [
            ("  SELECT\n1;\n".to_owned(), ";\n"),
            ("\na b".to_owned(), "b\n"),
            ("c b\n".to_owned(), "b\n"),
            ("d b\n\n".to_owned(), "b\n"),
            ("COMMIT; b".to_owned(), "b\n")
        ]
    );
}
