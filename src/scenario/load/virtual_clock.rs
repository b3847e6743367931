//! SQL that a virtual clock cannot catch.

use super::super::model::Scenario;
use super::super::sql::{Uncaught, split, uncaught};
use super::mistakes::{Mistake, Mistakes};
use super::sql;

/// Reports SQL that would show real time, or hide the functions of the clock.
pub(super) fn check(mistakes: &mut Mistakes, scenario: &Scenario) {
    for text in scenario.all_sql() {
        // What cannot be split was reported.
        for statement in split(&text.text).unwrap_or_default() {
            for (range, what) in uncaught(&statement.text) {
                let piece = statement.text[range.clone()].to_owned();
                let place = sql::statement_place(mistakes, text, &statement, range);
                let (message, label, help) = refusal(&what, &piece);
                mistakes.report(Mistake::new(place, message).label(label).help(help));
            }
        }
    }
    for setting in scenario.sessions.iter().flat_map(|it| &it.settings) {
        let mut schemas = setting
            .value
            .split(',')
            .map(|schema| schema.trim().trim_matches('"'));
        if setting.name.value == "search_path" && schemas.any(|schema| schema == "pg_catalog") {
            mistakes.report(
                Mistake::new(
                    setting.name.span,
                    "`pg_catalog` in the path hides the functions of the virtual clock",
                )
                .label("the real `now()` is found first")
                .help("leave `pg_catalog` out: it is searched all the same, behind the clock's functions"),
            );
        }
    }
}

fn refusal(what: &Uncaught, piece: &str) -> (String, &'static str, String) {
    let line = piece.split_whitespace().collect::<Vec<_>>().join(" ");
    let shows = format!("`{line}` shows real time, which the virtual clock cannot catch");
    match what {
        Uncaught::KeyWord(instead) => (
            shows,
            "a key word, not a function",
            format!("write `{instead}`"),
        ),
        Uncaught::Literal(instead) => (
            shows,
            "read as a time when the statement is parsed",
            format!("write `{instead}`"),
        ),
        Uncaught::Age => (
            "`age` of one value counts from the real midnight, which the virtual clock cannot catch"
                .to_owned(),
            "no second value",
            "write from when: `age(now()::date, …)`".to_owned(),
        ),
        Uncaught::Qualified(function) => (
            shows,
            "the function of `pg_catalog`, not the clock's",
            format!("write `{function}()`, without `pg_catalog.`"),
        ),
        Uncaught::SearchPath => (
            "a change of `search_path` hides the functions of the virtual clock".to_owned(),
            "the real `now()` is found from here on",
            "write it under the session, `settings: { search_path: app }`, which the clock is added to; or name the schema where it is needed: `app.jobs`".to_owned(),
        ),
        Uncaught::SearchPathOfFunction => (
            "the function's own `search_path` hides the functions of the virtual clock".to_owned(),
            "the real `now()` is found inside of the function",
            "leave it out, and name the schema where it is needed: `app.jobs`".to_owned(),
        ),
    }
}
