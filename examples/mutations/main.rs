//! Whether every expectation of a scenario can fail: changes one thing at a time, and says which
//! changes no expectation notices.
//!
//! `.ci/mutations [--equivalent] [PATH…]`; docs/mutations.md says what is changed, and how a change
//! is judged.

mod clauses;
mod conditions;
mod expected;
mod judging;
mod mutant;
mod replay;
mod report;
#[path = "../../benches/support/mod.rs"]
mod support;
mod tokens;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use lockstep::runner::{Fleet, Start};
use lockstep::scenario::{self, RenderStyle};
use lockstep::server::embedded;
use lockstep::server::{Pin, Pins, Server};

use judging::{File, judge};
use mutant::Kind;
use report::Fate;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let began = Instant::now();
    let (options, mut paths): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| *option != "--equivalent") {
        return Err(format!("there is no option {unknown}").into());
    }
    if paths.is_empty() {
        paths.push("scenarios".to_owned());
    }
    let mut files = read(&paths)?;
    let mut pins: Vec<&Pin> = Pins::built_in().iter().collect();
    pins.sort_by_key(|pin| std::cmp::Reverse(pin.release));
    for pin in pins {
        if files.iter().all(File::is_judged) {
            break;
        }
        let fleet = fleet(pin);
        let judged = judge(&mut files, &fleet, pin.release).await;
        let left = fleet.stop().await;
        judged?;
        if !left.is_empty() {
            return Err(left.join("\n").into());
        }
    }
    let fates = tell(&files, !options.is_empty());
    print!("{}", report::table(&fates));
    let took = began.elapsed().as_secs_f64();
    println!("{}, in {took:.1} s", report::share(&fates));
    let has_survivor = fates.iter().any(|(_, fate)| *fate == Fate::Survived);
    Ok(ExitCode::from(u8::from(has_survivor)))
}

/// The scenario files, and their mutants.
fn read(paths: &[String]) -> Result<Vec<File>, Box<dyn Error>> {
    let mut files = Vec::new();
    for path in scenario::discover(paths)? {
        let source = scenario::read(&path).map_err(|error| error.to_string())?;
        let cases = scenario::parse(&source)
            .map_err(|mistakes| scenario::render(&mistakes, RenderStyle::plain()))?;
        let mutants = mutant::of_file(&cases).into_iter();
        files.push(File {
            source,
            mutants: mutants.map(|mutant| (mutant, Fate::Unseen)).collect(),
            cases,
        });
    }
    Ok(files)
}

/// A server of a release.
fn fleet(pin: &'static Pin) -> Fleet {
    let start: Box<Start> = Box::new(move |_, _| {
        Box::pin(async move {
            let report = |progress| eprintln!("{progress}");
            let server = embedded::start(pin, &support::environment(), &report).await?;
            Ok(Server::Embedded(server))
        })
    });
    Fleet::start(&[pin.release], start)
}

/// Prints a line for each mutant that has to be seen, and gives what became of all.
fn tell(files: &[File], with_equivalent: bool) -> Vec<(Kind, Fate)> {
    let mut fates = Vec::new();
    for File {
        source, mutants, ..
    } in files
    {
        for (mutant, fate) in mutants {
            fates.push((mutant.edit.kind, *fate));
            match fate {
                Fate::Survived => println!("survived    {}", report::line(source, &mutant.edit)),
                Fate::Equivalent if with_equivalent => {
                    println!("equivalent  {}", report::line(source, &mutant.edit));
                }
                Fate::Unseen => println!("unseen      {}", report::line(source, &mutant.edit)),
                _ => {}
            }
        }
    }
    fates
}
