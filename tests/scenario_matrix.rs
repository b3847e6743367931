//! A file with a matrix is several scenarios, whose SQL knows where in the file it stands.

use std::path::Path;

use lockstep::scenario::{self, RenderStyle, Scenario, SourceFile};

fn parse(text: &str) -> Vec<Scenario> {
    let source = SourceFile {
        path: "matrix.yaml".into(),
        text: text.into(),
    };
    scenario::parse(&source)
        .unwrap_or_else(|mistakes| panic!("{}", scenario::render(&mistakes, RenderStyle::plain())))
}

fn cases(scenarios: &[Scenario]) -> Vec<&str> {
    scenarios.iter().map(|scenario| &*scenario.case).collect()
}

#[test]
fn each_combination_is_a_case_in_the_order_of_the_file() {
    let scenarios = parse(
        "title: ${b}\nmatrix: { a: [x, y], b: [1, 2, 3] }\nsessions: [A]\nsteps:\n  - A: SELECT '${a}';\n",
    );
    assert_eq!(
        cases(&scenarios),
        ["x,1", "x,2", "x,3", "y,1", "y,2", "y,3"]
    );
    let last = scenarios.last().expect("there are some");
    assert_eq!(last.title, "3");
    assert_eq!(
        last.matrix,
        [
            ("a".to_owned(), "y".to_owned()),
            ("b".to_owned(), "3".to_owned())
        ]
    );
    let sql = &last.steps[0].action.sql()[0].text;
    assert_eq!(sql, "SELECT 'y';");
}

#[test]
fn without_a_matrix_there_is_one_case_and_nothing_is_put_in() {
    let scenarios = parse("title: T\nsessions: [A]\nsteps:\n  - A: SELECT '${a}', $$${b}$$;\n");
    assert_eq!(cases(&scenarios), ["default"]);
    let sql = &scenarios[0].steps[0].action.sql()[0].text;
    assert_eq!(sql, "SELECT '${a}', $$${b}$$;");
}

#[test]
fn cases_have_names_beside_values_where_values_alone_are_not_enough() {
    let path = Path::new("tests/data/ok/matrix-names.yaml");
    let scenarios = scenario::load(path).expect("it is right");
    assert_eq!(
        cases(&scenarios),
        ["a=1,1,b=1", "a=1,1,b=1,1", "a=1,b=1", "a=1,b=1,1"]
    );
    let blank = parse(
        "title: T\nmatrix: { lock: ['', FOR UPDATE] }\nsessions: [A]\nsteps:\n  - A: SELECT 1 ${lock};\n",
    );
    assert_eq!(cases(&blank), ["lock=", "lock=FOR UPDATE"]);
}

/// The piece of the file where a piece of the SQL stands.
fn written<'a>(scenario: &'a Scenario, piece: &str) -> &'a str {
    let sql = scenario.steps[0].action.sql()[0].clone();
    let start = sql.text.find(piece).expect("the SQL has the piece");
    let place = sql.place(start..start + piece.len());
    &scenario.source.text[place.start..place.end]
}

#[test]
fn a_place_in_a_value_is_that_of_its_name_and_those_around_it_are_their_own() {
    for sql in [
        "SELECT ${n}, é${word} FROM t${n};",
        "\"SELECT ${n}, é${word}\\u0020FROM t${n};\"",
        "|\n      SELECT ${n}, é${word}\n      FROM t${n};\n",
        ">\n      SELECT ${n},\n      é${word} FROM t${n};\n",
    ] {
        let scenarios = parse(&format!(
            "title: T\nmatrix: {{ n: [1, 22222222222222], word: [w, 'some more words'] }}\nsessions: [A]\nsteps:\n  - A: {sql}\n"
        ));
        let [first, .., last] = &scenarios[..] else {
            panic!("four cases");
        };
        for (scenario, n, word) in [
            (first, "1", "w"),
            (last, "22222222222222", "some more words"),
        ] {
            assert_eq!(written(scenario, n), "${n}", "{sql}");
            assert_eq!(written(scenario, &format!("t{n}")), "t${n}", "{sql}");
            assert_eq!(written(scenario, &format!("é{word}")), "é${word}", "{sql}");
            assert_eq!(written(scenario, "SELECT"), "SELECT", "{sql}");
            assert_eq!(written(scenario, "FROM"), "FROM", "{sql}");
            assert_eq!(written(scenario, ";"), ";", "{sql}");
        }
        assert_eq!(written(last, "more"), "${word}", "{sql}");
        assert_eq!(written(last, "2222"), "${n}", "{sql}");
    }
}

#[test]
fn a_text_that_is_nothing_but_a_value_is_what_the_value_is() {
    let path = Path::new("tests/data/ok/matrix.yaml");
    let scenarios = scenario::load(path).expect("it is right");
    let of = |case: &str| {
        let mut scenarios = scenarios.iter();
        let scenario = scenarios.find(|scenario| scenario.case == case);
        scenario.unwrap_or_else(|| panic!("no case {case}"))
    };
    let expected = |case: &str| {
        let outcomes = &of(case).steps[0].expect[0].outcomes[0];
        let rows = outcomes.rows.as_ref().expect("rows are expected");
        rows.rows[0].value.clone()
    };
    assert_eq!(
        expected("isolation=repeatable read,n=2,tail=,result=null"),
        [Some("2".to_owned()), None]
    );
    assert_eq!(
        expected("isolation=repeatable read,n=1,tail=FOR UPDATE,result=t"),
        [Some("1".to_owned()), Some("t".to_owned())]
    );
}

#[test]
fn an_expectation_counts_where_its_condition_holds() {
    let scenarios = parse(
        "title: ${level}\nmatrix: { level: [read committed, serializable] }\nsessions: [A]\nsteps:\n  - A: SELECT 1;\n    expect:\n      - { when: { level: serializable, postgres: '>=15' }, error: 40001 }\n      - { when: { level: read committed }, row_count: 1 }\n      - row_count: 2\n",
    );
    let expectations = |scenario: &Scenario| -> Vec<_> {
        let expect = scenario.steps[0].expect.iter();
        expect
            .map(|expectation| {
                let outcome = &expectation.outcomes[0];
                let count = outcome.row_count.as_ref().map(|count| count.value);
                (expectation.releases.contains(&[14, 23]), count)
            })
            .collect()
    };
    assert_eq!(
        expectations(&scenarios[0]),
        [(true, Some(1)), (true, Some(2))]
    );
    assert_eq!(
        expectations(&scenarios[1]),
        [(false, None), (true, Some(2))]
    );
}
