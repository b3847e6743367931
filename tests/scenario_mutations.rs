//! Whatever the bytes are, the loader answers, and its answer can be drawn.

use std::path::Path;
use std::time::{Duration, Instant};

use lockstep::scenario::{self, Diagnostic, RenderStyle, Scenario, SourceFile};

/// A small generator of numbers, the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("it is below a usize")
    }
}

const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    ":",
    ": ",
    "- ",
    "#",
    " #",
    "'",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "|2-",
    ">+",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "---\n",
    "...\n",
    "~",
    "null",
    "é",
    "表",
    "😀",
    "\u{200b}",
    "\0",
    "\u{feff}",
    "\\u00e9",
    "\\x",
    "%YAML",
    "? ",
    "A: ",
    "$$",
    "/*",
    "expect: {}",
    "use",
    "0",
    "99999999999999999999",
];

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        let until = (at + numbers.below(24)).min(bytes.len());
        match numbers.below(4) {
            0 => drop(bytes.drain(at..until)),
            1 => {
                let piece = bytes[at..until].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            2 if !bytes.is_empty() => {
                bytes[at] = u8::try_from(numbers.below(256)).expect("a byte");
            }
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parse(text: &str) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let source = SourceFile {
        path: "mutated.yaml".into(),
        text: text.into(),
    };
    let started = Instant::now();
    let result = scenario::parse(&source);
    let elapsed = started.elapsed();
    assert!(
        elapsed < Duration::from_secs(20),
        "{elapsed:?} for {text:?}"
    );
    result
}

/// The places of the SQL of a scenario go forward, within the file.
fn hold_places(text: &str, scenario: &Scenario) {
    for sql in scenario.all_sql() {
        let places: Vec<_> = sql
            .text
            .char_indices()
            .map(|(offset, _)| sql.origin(offset))
            .collect();
        assert!(places.is_sorted(), "{places:?} of {sql:?} in {text:?}");
        assert!(
            places.iter().all(|place| text.is_char_boundary(*place)),
            "{places:?} of {sql:?} in {text:?}"
        );
    }
}

#[test]
fn mutated_files_never_bring_the_loader_down() {
    let mut numbers = Numbers(0x10c5_7e90);
    for path in scenario::discover(&["tests/data/ok", "tests/data/err"]).expect("the data is there")
    {
        let original = std::fs::read(Path::new(&path)).expect("a file");
        let original = String::from_utf8_lossy(&original);
        for _ in 0..40 {
            let text = mutate(&original, &mut numbers);
            let mistakes = match parse(&text) {
                Ok(scenarios) => {
                    for scenario in &scenarios {
                        hold_places(&text, scenario);
                    }
                    continue;
                }
                Err(mistakes) => mistakes,
            };
            assert!(!mistakes.is_empty(), "no word on what is wrong in {text:?}");
            for mistake in &mistakes {
                assert!(
                    text.get(mistake.span.start..mistake.span.end).is_some(),
                    "{mistake:?} is outside of {text:?}"
                );
            }
            assert!(!scenario::render(&mistakes, RenderStyle::plain()).is_empty());
        }
    }
}
