//! What becomes of the mutants: on the default release, and on older ones where only those have what
//! is changed.

use std::collections::HashMap;
use std::error::Error;

use lockstep::runner::{Fleet, Verdict};
use lockstep::scenario::{self, RenderStyle, Scenario, SourceFile};
use lockstep::server::Release;

use super::mutant::{Kind, Mutant, Site};
use super::replay::{self, Case, came_out};
use super::report::{self, Fate};

/// A scenario file with its cases, and its mutants with what has become of them so far.
pub struct File {
    pub source: SourceFile,
    pub cases: Vec<Scenario>,
    pub mutants: Vec<(Mutant, Fate)>,
}

impl File {
    /// Whether there is a word on each of its mutants.
    pub fn is_judged(&self) -> bool {
        self.mutants.iter().all(|(_, fate)| *fate != Fate::Unseen)
    }
}

/// The position of a case: of its file, and in it.
type Place = (usize, usize);

/// Judges on one release the mutants that no release before has had a word on.
pub async fn judge(
    files: &mut [File],
    fleet: &Fleet,
    release: Release,
) -> Result<(), Box<dyn Error>> {
    let cases = unchanged(files, fleet, release).await?;
    let mut replays = Vec::new();
    let mut scenarios = Vec::new();
    for (file, all) in files.iter_mut().enumerate() {
        for (number, (mutant, fate)) in all.mutants.iter_mut().enumerate() {
            let is_replayed = |site: &&Site| cases.contains_key(&(file, site.case));
            let sites: Vec<&Site> = mutant.sites.iter().filter(is_replayed).collect();
            if *fate != Fate::Unseen || sites.is_empty() {
                continue;
            }
            let Some(changed) = mutant.load(&all.source) else {
                *fate = Fate::Refused;
                continue;
            };
            for site in sites {
                let place = (file, site.case);
                match at_site(mutant, *site, &cases[&place], &changed, release) {
                    Judged::Now(now) => *fate = now.max(*fate),
                    Judged::ByReplay(scenario) => {
                        replays.push((place, number));
                        scenarios.push(*scenario);
                    }
                }
            }
        }
    }
    for ended in replay::all(scenarios, fleet, release).await? {
        let (place, number) = replays[ended.number];
        let File {
            source, mutants, ..
        } = &mut files[place.0];
        let (mutant, fate) = &mut mutants[number];
        let now = match ended.verdict {
            Verdict::Unmet(_) | Verdict::Invalid(_) => Fate::Caught,
            Verdict::Pass if matches!(mutant.edit.kind, Kind::Expected { .. }) => Fate::Survived,
            Verdict::Pass if came_out(&ended.transcript) == came_out(&cases[&place].transcript) => {
                Fate::Equivalent
            }
            Verdict::Pass => Fate::Survived,
            trouble => {
                let line = report::line(source, &mutant.edit);
                return Err(format!("{line}\n{trouble:?}").into());
            }
        };
        *fate = now.max(*fate);
    }
    Ok(())
}

/// Replays the cases on which there is no word yet as they are written; all must pass.
async fn unchanged(
    files: &[File],
    fleet: &Fleet,
    release: Release,
) -> Result<HashMap<Place, Case>, Box<dyn Error>> {
    let mut places = Vec::new();
    let mut scenarios = Vec::new();
    for (file, all) in files.iter().enumerate() {
        for (number, scenario) in all.cases.iter().enumerate() {
            let is_open = |(mutant, fate): &(Mutant, Fate)| {
                *fate == Fate::Unseen && mutant.sites.iter().any(|site| site.case == number)
            };
            let is_meaningful = scenario.postgres.contains(&[release.major, release.minor]);
            if is_meaningful && all.mutants.iter().any(is_open) {
                places.push((file, number));
                scenarios.push(scenario.clone());
            }
        }
    }
    let mut cases = HashMap::new();
    for ended in replay::all(scenarios, fleet, release).await? {
        let (file, number) = places[ended.number];
        let scenario = files[file].cases[number].clone();
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
        let case = Case {
            scenario,
            transcript: ended.transcript,
        };
        cases.insert((file, number), case);
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
        return Judged::ByReplay(Box::new(replay::within_limit(changed.clone())));
    };
    // Of schedules not every transcript is kept.
    let is_scheduled = case.scenario.schedules.is_some();
    if !is_scheduled && !outcome.came(case, release) {
        return Judged::Now(Fate::Unseen);
    }
    let Some(alone) = outcome.alone(changed) else {
        return Judged::Now(Fate::Caught);
    };
    match mutant.edit.kind {
        Kind::Expected { steers } if steers || is_scheduled => {
            Judged::ByReplay(Box::new(replay::within_limit(alone)))
        }
        _ if outcome.is_met(&alone, case, release) => Judged::Now(Fate::Survived),
        _ => Judged::Now(Fate::Caught),
    }
}
