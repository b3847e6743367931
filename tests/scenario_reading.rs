//! Files that are no text, files that are hard to read on purpose, and the search for files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep::scenario::{self, LoadError, RenderStyle, SourceFile};

/// What a user is told of a file with these bytes.
fn told(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("race.yaml");
    fs::write(&path, bytes).expect("a file");
    let started = Instant::now();
    let text = match scenario::load(&path) {
        Ok(scenarios) => format!("right: {}", scenarios[0].title),
        Err(LoadError::Read(error)) => error.to_string(),
        Err(LoadError::Mistakes(mistakes)) => scenario::render(&mistakes, RenderStyle::plain()),
    };
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    text.replace(&format!("{}/", folder.path().display()), "")
}

const RIGHT: &str = "title: Right\nsessions: [A]\nsteps:\n  - A: BEGIN;\n";

#[test]
fn a_file_that_cannot_be_text_is_told_apart() {
    assert_eq!(
        told(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe\x00"),
        "failed to read race.yaml: it is a binary file, not a scenario"
    );
    assert_eq!(
        told(b"title: T\nsummary: caf\xe9\n"),
        "failed to read race.yaml: line 2, column 13: the byte 0xe9 is not UTF-8; save the file as UTF-8"
    );
    let utf16: Vec<u8> = "\u{feff}title: T"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        told(&utf16),
        "failed to read race.yaml: the file is encoded as UTF-16 or UTF-32; save it as UTF-8"
    );
    assert_eq!(
        told(&vec![b'x'; 10_000_000]),
        "failed to read race.yaml: the file is larger than 1 MiB, which no scenario needs"
    );
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    assert_eq!(told(format!("\u{feff}{RIGHT}").as_bytes()), "right: Right");
    let wrong = told(b"\xef\xbb\xbftitel: T\n");
    assert!(wrong.contains("race.yaml:1:1\n"), "{wrong}");
}

#[test]
fn a_file_that_cannot_be_opened_is_named_as_the_user_named_it() {
    let error = scenario::load(Path::new("no/such/../race.yaml")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read no/such/../race.yaml: No such file or directory (os error 2)"
    );
    let error = scenario::load(Path::new("tests")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read tests: it is a folder, not a scenario file"
    );
}

#[test]
fn a_file_of_the_largest_size_is_answered_at_once() {
    let many = |piece: &dyn Fn(usize) -> String, length: usize| -> String {
        (0..)
            .map(piece)
            .scan(0, |bytes, piece| {
                *bytes += piece.len();
                (*bytes < length).then_some(piece)
            })
            .collect()
    };
    let mib = (1 << 20) - 200;
    let head = "title: T\nsessions: [A]\nsteps:\n";
    let files = [
        format!("{head}{}", many(&|i| format!("- B{i}: x\n"), mib / 3)),
        format!(
            "{head}{}",
            many(&|i| format!("- A: x\n  id: i{i}\n"), mib / 4)
        ) + "claims:\n- claim: x\n  steps: ["
            + &many(&|i| format!("j{i},"), mib / 6)
            + "]\n",
        format!(
            "title: T\nsessions: [{}]\n",
            many(&|i| format!("s{i}, "), mib / 2)
        ),
        format!(
            "title: T\ntags: [{}]\n",
            many(&|i| format!("s{i}, "), mib / 2)
        ),
        format!(
            "title: T\nsessions:\n  A: {{ settings: {{ {} }} }}\n",
            many(&|i| format!("a.s{i}: 1, "), mib / 2)
        ),
        format!(
            "title: T\nstatements: {{ {} }}\n",
            many(&|i| format!("s{i}: x, "), mib / 2)
        ),
        many(&|i| format!("k{i}: 1\n"), mib / 3),
        many(&|_| "[".to_owned(), mib),
        many(&|_| "- ".to_owned(), mib),
        many(&|_| "a: ".to_owned(), mib),
        many(&|_| "? ".to_owned(), mib),
        many(&|_| "{a: ".to_owned(), mib),
        many(&|_| "&a ".to_owned(), mib),
        many(&|_| "*a ".to_owned(), mib),
        many(&|_| "#\n".to_owned(), mib),
        many(&|_| " \n".to_owned(), mib),
        many(&|_| "\t".to_owned(), mib),
        many(&|_| "\r".to_owned(), mib),
        many(&|_| "x".to_owned(), mib),
        many(&|i| format!("{}x\n", " ".repeat(i)), mib),
        format!("{head}- A: \"{}", many(&|_| "\\n".to_owned(), mib)),
        format!("{head}- A: |\n{}", many(&|_| "\n".to_owned(), mib)),
        format!("{head}- A: |9\n{}", many(&|_| " \n".to_owned(), mib)),
        format!("{head}- A: '{}'\n", many(&|_| "''\n\n".to_owned(), mib)),
        format!(
            "{head}- A: x\n  expect: {{ rows: [{}] }}\n",
            many(&|_| "[true],".to_owned(), mib / 5)
        ),
        format!(
            "title: T\nmatrix: {{ n: [1, 2] }}\nsessions: [A]\nsteps:\n- A: |\n  {}\n",
            many(&|i| format!("${{n}} ${{m{i}}}\n  "), mib)
        ),
        format!(
            "title: T\nmatrix: {{ n: [1, 2], m: [3, 4] }}\nsessions: [A]\nsteps:\n{}",
            many(&|_| "- A: SELECT ${n};\n".to_owned(), mib / 20)
        ),
        format!(
            "{head}{}",
            many(
                &|i| format!("- A: {{ execute: p{i}, params: [1] }}\n"),
                mib / 2
            )
        ),
        format!(
            "title: T\nclock: \"2026-01-01 00:00:00+00\"\nsessions: [A]\nsteps:\n- A: SELECT {}\n",
            many(&|_| "age(".to_owned(), mib)
        ),
        format!(
            "title: T\nclock: \"2026-01-01 00:00:00+00\"\nsessions: [A]\nsteps:\n- A: DO $$ {} $$\n",
            many(&|i| format!("$a{i}$ "), mib)
        ),
        format!(
            "big: &b {}\nall: [{}]\n",
            "x".repeat(mib / 2),
            many(&|_| "*b,".to_owned(), mib / 2 - 100)
        ),
    ];
    for file in files {
        let text = told(file.as_bytes());
        assert!(
            text.len() < 200_000,
            "{} bytes of answer for {file:.200}",
            text.len()
        );
    }
}

#[test]
fn colours_are_the_callers_choice() {
    let source = SourceFile {
        path: "race.yaml".into(),
        text: "titel: T\n".into(),
    };
    let mistakes = scenario::parse(&source).unwrap_err();
    let plain = scenario::render(&mistakes, RenderStyle::plain());
    let coloured = scenario::render(&mistakes, RenderStyle::coloured());
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains('\x1b'));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn many_files_are_loaded_though_some_are_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path
    };
    let loaded = scenario::load_all(&[
        file("a.yaml", RIGHT.as_bytes()),
        file(
            "b.yaml",
            b"titel: T\nsessions: [A]\nsteps:\n  - A: BEGIN;\n  - B: BEGIN;\n",
        ),
        file("c.yaml", b"\xff\x00"),
        file("d.yaml", RIGHT.as_bytes()),
    ]);
    assert_eq!(loaded.scenarios.len(), 2);
    assert_eq!(loaded.mistakes.len(), 2);
    assert_eq!(loaded.unreadable.len(), 1);
    assert!(!loaded.is_right());
}

#[test]
fn folders_are_walked_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for name in [
        "b.yaml",
        "a.yml",
        "notes.txt",
        ".hidden.yaml",
        "deep/er/c.yaml",
        ".git/d.yaml",
        "target/e.yaml",
        "node_modules/f.yaml",
        "snapshots/g.yaml",
        "z.yaml",
        "odd.YAML",
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, RIGHT).expect("a file");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root, root.join("deep/loop")).expect("a link");
        std::os::unix::fs::symlink("nowhere", root.join("broken.yaml")).expect("a link");
        std::os::unix::fs::symlink("itself.yaml", root.join("itself.yaml")).expect("a link");
    }
    let found = |paths: &[PathBuf]| -> Vec<String> {
        scenario::discover(paths)
            .expect("the folder is there")
            .iter()
            .map(|path| {
                path.strip_prefix(root)
                    .expect("it is below")
                    .display()
                    .to_string()
            })
            .collect()
    };
    assert_eq!(
        found(&[root.to_owned()]),
        ["a.yml", "b.yaml", "deep/er/c.yaml", "z.yaml"]
    );
    // What is named is taken, whatever it is called, once, in the order of the names given.
    assert_eq!(
        found(&[
            root.join("notes.txt"),
            root.join("z.yaml"),
            root.join("target"),
            root.to_owned()
        ]),
        [
            "notes.txt",
            "z.yaml",
            "target/e.yaml",
            "a.yml",
            "b.yaml",
            "deep/er/c.yaml"
        ]
    );
    assert!(
        found(&[root.join(".git/../node_modules/../snapshots/../deep/er/../../.git")]).len() == 1
    );

    let error = scenario::discover(&[root.join("gone")]).unwrap_err();
    assert_eq!(error.path, root.join("gone"));
    assert_eq!(error.source.kind(), std::io::ErrorKind::NotFound);
    let empty = root.join("empty");
    fs::create_dir(&empty).expect("a folder");
    assert!(found(&[empty]).is_empty());
}

#[test]
fn what_a_server_says_is_drawn_in_the_file_and_cannot_colour_the_terminal() {
    let source = SourceFile {
        path: "race.yaml".into(),
        text: "steps:\r\n  - A: |\r\n      SELECT nothing\r\n      FROM nowhere;\r\n".into(),
    };
    let start = source.text.find("SELECT").expect("it is there");
    let end = source.text.find(";").expect("it is there");
    let drawn = scenario::render(
        &[scenario::Diagnostic {
            source,
            message: "ERROR:  relation \"\x1b[31mnowhere\" does not exist".to_owned(),
            span: scenario::Span { start, end },
            label: "42P01".to_owned(),
            related: Vec::new(),
            help: None,
        }],
        RenderStyle::plain().width(80),
    );
    insta::assert_snapshot!(drawn, @r#"
    error: ERROR:  relation "␛[31mnowhere" does not exist
     --> race.yaml:3:7
      |
    3 | /       SELECT nothing
    4 | |       FROM nowhere;
      | |__________________^ 42P01
    "#);
}

#[test]
fn of_very_many_mistakes_the_first_hundred_are_shown_and_the_rest_counted() {
    let steps = "  - C: SELECT 1;\n".repeat(120);
    let source = SourceFile {
        path: "race.yaml".into(),
        text: format!("title: T\nsessions: [A]\nsteps:\n{steps}").into(),
    };
    let mistakes = scenario::parse(&source).unwrap_err();
    assert_eq!(mistakes.len(), 101);
    assert_eq!(mistakes[100].message, "20 more mistakes from here on");
    let line = source.text[..mistakes[100].span.start].lines().count();
    assert_eq!(line, 3 + 101);
}

#[test]
fn a_step_that_ends_with_an_alias_has_its_own_place() {
    let scenario =
        &scenario::load(Path::new("tests/data/ok/aliases.yaml")).expect("it is right")[0];
    let step = &scenario.steps[1];
    let written = &scenario.source.text[step.span.start..step.span.end];
    assert_eq!(written, "B: *count\n    expect: *none");
}
