//! Statements are cut as psql cuts them: see `tests/data/split/README.md`.

use std::fs;
use std::path::Path;

use lockstep::scenario::split;

#[test]
fn statements_are_what_psql_sends() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/split");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder of the cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let sql = fs::read_to_string(&path).expect("the SQL");
        let sent = fs::read(path.with_extension("sent.json")).expect("what psql sent");
        let sent: Vec<String> = serde_json::from_slice(&sent).expect("a list of texts");

        let statements = split(&sql).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        let texts: Vec<&str> = statements.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, sent, "{name}");

        for statement in &statements {
            for (offset, character) in statement.text.char_indices() {
                let origin = statement.origin(offset);
                assert!(
                    statement.range.contains(&origin) && sql[origin..].starts_with(character),
                    "{name}: byte {offset} of {:?} does not come from {origin}",
                    statement.text
                );
            }
            assert_eq!(statement.origin(statement.text.len()), statement.range.end);
        }
        names.push(name);
    }
    assert!(names.len() > 15, "only {names:?} were found");
}
