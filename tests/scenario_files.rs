//! Files that must load, and files whose mistakes must be shown well.

use std::path::Path;

use lockstep::scenario::{self, LoadError, RenderStyle};

fn rendered(path: &Path) -> String {
    match scenario::load(path) {
        Ok(_) => "no mistake".to_owned(),
        Err(LoadError::Read(error)) => format!("error: {error}\n"),
        Err(LoadError::Mistakes(mistakes)) => scenario::render(&mistakes, RenderStyle::plain()),
    }
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let files = scenario::discover(&[folder]).expect("the folder is there");
    assert!(!files.is_empty(), "no files in {folder}");
    files
}

#[test]
fn right_files_load() {
    for path in files("tests/data/ok") {
        if let Err(LoadError::Mistakes(mistakes)) = scenario::load(&path) {
            panic!("{}", scenario::render(&mistakes, RenderStyle::plain()));
        }
    }
}

#[test]
fn wrong_files_are_refused_with_all_their_mistakes() {
    for path in files("tests/data/err") {
        let name = path
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned();
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "data/err", omit_expression => true }, {
            insta::assert_snapshot!(name, rendered(&path));
        });
    }
}
