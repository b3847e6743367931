//! Whether every expectation of a scenario can fail: changes one thing at a time, and says which
//! changes no expectation notices.
//!
//! `.ci/mutations [--equivalent] [PATH…]`; see docs/mutations.md.

mod clauses;
mod expected;
mod mutant;
mod replay;
mod report;
#[path = "../../tests/support/mod.rs"]
mod support;
mod tokens;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lockstep::runner::{Fleet, Verdict};
use lockstep::scenario::{self, RenderStyle, Scenario, SourceFile};
use lockstep::server::Release;

use mutant::{Kind, Mutant, Site};
use replay::{Case, came_out};
use report::Fate;

/// A step of a mutant that takes longer is stuck: the change is noticed.
const LIMIT: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (options, mut paths): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| *option != "--equivalent") {
        return Err(format!("there is no option {unknown}").into());
    }
    if paths.is_empty() {
        paths.push("scenarios".to_owned());
    }
    let (fleet, release) = support::fleet();
    let told = tell(&paths, !options.is_empty(), &fleet, release).await;
    let left = fleet.stop().await;
    if !left.is_empty() {
        return Err(left.join("\n").into());
    }
    told
}

async fn tell(
    paths: &[String],
    with_equivalent: bool,
    fleet: &Fleet,
    release: Release,
) -> Result<ExitCode, Box<dyn Error>> {
    let began = Instant::now();
    let mut files = Vec::new();
    for path in scenario::discover(paths)? {
        let source = scenario::read(&path).map_err(|error| error.to_string())?;
        let scenarios = scenario::parse(&source)
            .map_err(|mistakes| scenario::render(&mistakes, RenderStyle::plain()))?;
        files.push((source, scenarios));
    }
    let files = unchanged(files, fleet, release).await?;
    let mut fates = Vec::new();
    let mut mutants = Vec::new();
    for (file, (source, cases)) in files.iter().enumerate() {
        let cases: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
        let of_file = mutant::of_file(&cases);
        mutants.extend(of_file.into_iter().map(|mutant| (file, source, mutant)));
    }
    let mut replays = Vec::new();
    let mut scenarios = Vec::new();
    for (number, (file, source, mutant)) in mutants.iter().enumerate() {
        let Some(changed) = mutant.load(source) else {
            fates.push(Fate::Refused);
            continue;
        };
        let mut fate = Fate::Unseen;
        for site in &mutant.sites {
            let case = &files[*file].1[site.case];
            match at_site(mutant, *site, case, &changed, release) {
                Judged::Now(now) => fate = fate.max(now),
                Judged::ByReplay(scenario) => {
                    replays.push((number, case));
                    scenarios.push(*scenario);
                }
            }
        }
        fates.push(fate);
    }
    for ended in replay::all(scenarios, fleet, release).await? {
        let (number, case) = replays[ended.number];
        let kind = mutants[number].2.edit.kind;
        let fate = match ended.verdict {
            Verdict::Unmet(_) | Verdict::Invalid(_) => Fate::Caught,
            Verdict::Pass if matches!(kind, Kind::Expected(_)) => Fate::Survived,
            Verdict::Pass if came_out(&ended.transcript) == came_out(&case.transcript) => {
                Fate::Equivalent
            }
            Verdict::Pass => Fate::Survived,
            trouble => {
                let (_, source, mutant) = &mutants[number];
                return Err(format!("{}\n{trouble:?}", report::line(source, &mutant.edit)).into());
            }
        };
        fates[number] = fates[number].max(fate);
    }
    for ((_, source, mutant), fate) in mutants.iter().zip(&fates) {
        match fate {
            Fate::Survived => println!("survived    {}", report::line(source, &mutant.edit)),
            Fate::Equivalent if with_equivalent => {
                println!("equivalent  {}", report::line(source, &mutant.edit));
            }
            _ => {}
        }
    }
    let kinds = mutants.iter().map(|(_, _, mutant)| mutant.edit.kind);
    let fates: Vec<(Kind, Fate)> = kinds.zip(fates).collect();
    print!("{}", report::table(&fates));
    println!(
        "{}, in {:.1} s",
        report::share(&fates),
        began.elapsed().as_secs_f64()
    );
    let has_survivor = fates.iter().any(|(_, fate)| *fate == Fate::Survived);
    Ok(ExitCode::from(u8::from(has_survivor)))
}

/// Replays the scenarios of the files as they are written; all must pass.
async fn unchanged(
    files: Vec<(SourceFile, Vec<Scenario>)>,
    fleet: &Fleet,
    release: Release,
) -> Result<Vec<(SourceFile, Vec<Case>)>, Box<dyn Error>> {
    let mut cases: Vec<(SourceFile, Vec<Case>)> = Vec::new();
    let mut scenarios = Vec::new();
    let mut of_file = Vec::new();
    for (file, (source, all)) in files.into_iter().enumerate() {
        cases.push((source, Vec::new()));
        let release = [release.major, release.minor];
        for scenario in all
            .into_iter()
            .filter(|one| one.postgres.contains(&release))
        {
            of_file.push(file);
            scenarios.push(scenario);
        }
    }
    let mut ended = replay::all(scenarios.clone(), fleet, release).await?;
    ended.sort_by_key(|ended| ended.number);
    for ended in ended {
        let scenario = scenarios[ended.number].clone();
        match &ended.verdict {
            Verdict::Pass => {}
            Verdict::Unmet(mistakes) => {
                return Err(scenario::render(mistakes, RenderStyle::plain()).into());
            }
            other => {
                let path = scenario.source.path.display();
                return Err(format!("{path} does not pass as it is: {other:?}").into());
            }
        }
        cases[of_file[ended.number]].1.push(Case {
            scenario,
            transcript: ended.transcript,
        });
    }
    Ok(cases)
}

/// Whether it takes a replay to see what becomes of a mutant at one of its sites.
enum Judged {
    Now(Fate),
    ByReplay(Box<Scenario>),
}

/// What becomes of a mutant in one case. Expected values change nothing of what comes out, so the
/// replay of the unchanged case is held against them, unless the runner reads them.
fn at_site(
    mutant: &Mutant,
    site: Site,
    case: &Case,
    changed: &[Scenario],
    release: Release,
) -> Judged {
    let changed = changed.iter().find(|one| one.case == case.scenario.case);
    let Some(changed) = changed else {
        return Judged::Now(Fate::Refused);
    };
    let Some(outcome) = site.outcome else {
        return Judged::ByReplay(Box::new(within_limit(changed.clone())));
    };
    if !outcome.came(case, release) {
        return Judged::Now(Fate::Unseen);
    }
    let Some(alone) = outcome.alone(changed) else {
        return Judged::Now(Fate::Caught);
    };
    match mutant.edit.kind {
        Kind::Expected(true) => Judged::ByReplay(Box::new(within_limit(alone))),
        _ if outcome.is_met(&alone, case, release) => Judged::Now(Fate::Survived),
        _ => Judged::Now(Fate::Caught),
    }
}

fn within_limit(scenario: Scenario) -> Scenario {
    let limit = scenario.timeout.unwrap_or(LIMIT).min(LIMIT);
    Scenario {
        timeout: Some(limit),
        ..scenario
    }
}
