//! Which files a case should have, given what is accepted and what was seen since.
//!
//! The default release, or of those known the newest before it, gives the base its text. Releases
//! known to behave otherwise share a variant for each text. Known is
//!
//! 1. what was seen since the snapshots were accepted;
//! 2. for other releases, what the variant that names them says;
//! 3. for the rest, what the base says, as far as its header lists them. A base whose own release
//!    was seen to behave otherwise says nothing of them any more: most often the scenario was
//!    changed, and a variant for every release that was not run would only be in the way.
//!
//! A case first seen on an old release has a base that lists only that one. When the default
//! release turns out to differ, the base becomes its, and the old text a variant.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::format::Snapshot;
use super::header::Header;
use super::variant::Majors;
use crate::server::Release;

/// The accepted snapshots of one case.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    /// What holds for every release that no variant names.
    pub base: Option<Snapshot>,
    /// What holds for only some.
    pub variants: Vec<Variant>,
}

/// An accepted snapshot that holds for only some releases.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    /// The majors that its name lists.
    pub majors: Majors,
    /// Its file.
    pub path: PathBuf,
    /// What is in it.
    pub snapshot: Snapshot,
}

/// What a release gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// The exact release; a variant can be named for a major that its header does not list.
    pub release: Option<Release>,
    /// The text.
    pub text: String,
    /// What was replaced in it.
    pub redacted: Vec<String>,
}

/// What is known, by major version.
pub(super) type Knowledge = BTreeMap<u32, Known>;

/// A file that a case should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    /// The majors it holds for; `None` is the base.
    pub majors: Option<Majors>,
    /// What is known of these majors. Empty for a base of which nothing is known.
    pub known: Knowledge,
    /// Its text.
    pub text: String,
}

impl Shelf {
    /// Where in [`Shelf::variants`] the variant of a major is: of several, the one that names the
    /// fewest. `Err` if there are several such with different texts.
    pub(super) fn variant_of(&self, major: u32) -> Result<Option<usize>, [usize; 2]> {
        let named = |at: &usize| self.variants[*at].majors.contains(major);
        let size = |at: usize| self.variants[at].majors.count();
        let all: Vec<usize> = (0..self.variants.len()).filter(named).collect();
        let Some(best) = all.iter().copied().min_by_key(|at| size(*at)) else {
            return Ok(None);
        };
        let rival = all.into_iter().find(|at| {
            let text = |at: usize| &self.variants[at].snapshot.text;
            size(*at) == size(best) && text(*at) != text(best)
        });
        rival.map_or(Ok(Some(best)), |rival| Err([best, rival]))
    }

    /// The text that holds for a major.
    pub(super) fn text_of(&self, major: u32) -> Option<&str> {
        let snapshot = match self.variant_of(major) {
            Ok(Some(at)) => Some(&self.variants[at].snapshot),
            Ok(None) => self.base.as_ref(),
            // Neither can be believed.
            Err(_) => None,
        };
        snapshot.map(|snapshot| snapshot.text.as_str())
    }

    /// What the base says of the releases that its header lists, but for those with a variant.
    fn known_by_base(&self) -> Knowledge {
        let Some(base) = &self.base else {
            return Knowledge::new();
        };
        let listed = base.header.exact_releases();
        listed
            .into_iter()
            .filter(|release| matches!(self.variant_of(release.major), Ok(None)))
            .map(|release| (release.major, Known::of(base, Some(release))))
            .collect()
    }

    fn known_by_variants(&self) -> Knowledge {
        let mut known = Knowledge::new();
        for (at, variant) in self.variants.iter().enumerate() {
            let listed = variant.snapshot.header.exact_releases();
            for major in variant.majors.iter() {
                if self.variant_of(major) == Ok(Some(at)) {
                    let release = listed.iter().copied().find(|one| one.major == major);
                    known.insert(major, Known::of(&variant.snapshot, release));
                }
            }
        }
        known
    }

    /// The files that this case should have, the base first, after some releases were seen.
    pub(super) fn plan(&self, seen: &Knowledge, default: u32) -> Vec<Planned> {
        let by_base = self.known_by_base();
        let is_replaced = leader(&by_base, default)
            .and_then(|(major, base)| Some(seen.get(major)?.text != base.text))
            .unwrap_or(false);
        let mut known = seen.clone();
        for (major, by_variant) in self.known_by_variants() {
            known.entry(major).or_insert(by_variant);
        }
        for (major, by_base) in by_base.iter().filter(|_| !is_replaced) {
            known.entry(*major).or_insert_with(|| by_base.clone());
        }
        let leading = leader(&known, default);
        let base = match (&self.base, leading) {
            // A base that does not say whose it is stays, unless the leading release was just seen.
            (Some(base), Some((major, _))) if by_base.is_empty() && !seen.contains_key(major) => {
                base.text.clone()
            }
            (_, Some((_, leading))) => leading.text.clone(),
            (Some(base), None) => base.text.clone(),
            (None, None) => return Vec::new(),
        };
        let mut files = vec![Planned {
            majors: None,
            known: Knowledge::new(),
            text: base,
        }];
        for (major, known) in known {
            let at = files.iter().position(|file| file.text == known.text);
            let at = at.unwrap_or_else(|| {
                files.push(Planned {
                    majors: Some(Majors::default()),
                    known: Knowledge::new(),
                    text: known.text.clone(),
                });
                files.len() - 1
            });
            files[at].known.insert(major, known);
        }
        for file in files.iter_mut().skip(1) {
            file.majors = Some(file.known.keys().copied().collect());
        }
        files
    }

    /// The files to put before the user, as if they were accepted: one for each text that is not
    /// yet, or that goes to another file.
    pub(super) fn proposals(&self, seen: &Knowledge, default: u32) -> Vec<Planned> {
        let plan = self.plan(seen, default);
        let base_changes = self
            .base
            .as_ref()
            .is_some_and(|base| plan.first().is_some_and(|file| file.text != base.text));
        let (mut proposals, mut others) = (Vec::new(), Vec::new());
        for file in plan {
            let differing = self.differing(&file, seen);
            // The text is accepted, but the file in which it stands is about to get another.
            let moves = base_changes
                && file.majors.is_some()
                && file
                    .known
                    .keys()
                    .any(|major| matches!(self.variant_of(*major), Ok(None)));
            if differing.is_empty() && !moves {
                others.push(file);
            } else if differing.is_empty() || !self.has(&file) {
                proposals.push(file);
            } else {
                proposals.extend(self.in_place(&file, &differing));
                others.push(file);
            }
        }
        if proposals.is_empty() {
            return proposals;
        }
        // Whoever accepts knows what is proposed and nothing of the run. Where a release that
        // passed would then go with another one's text, what it gave has to be told as well.
        let known = proposals.iter().flat_map(|file| file.known.clone());
        let outcome = self.plan(&known.collect(), default);
        others.retain(|file| {
            let is_kept = |major: &u32| text_in(&outcome, *major) == Some(file.text.as_str());
            let mut passed = file.known.keys().filter(|major| seen.contains_key(major));
            !passed.all(is_kept)
        });
        proposals.extend(others);
        proposals
    }

    /// The releases of a file that were seen to behave otherwise than is accepted.
    fn differing(&self, file: &Planned, seen: &Knowledge) -> Vec<u32> {
        let majors = file.known.keys().copied();
        majors
            .filter(|major| seen.contains_key(major) && self.text_of(*major) != Some(&file.text))
            .collect()
    }

    /// What to propose where a file is as it should be, and variants stand before it: that each of
    /// them gets the file's text. Then it does not matter for what holds whether they are removed.
    fn in_place(&self, file: &Planned, differing: &[u32]) -> Vec<Planned> {
        let mut by_variant: BTreeMap<Option<usize>, Knowledge> = BTreeMap::new();
        for major in differing {
            let variant = self.variant_of(*major).unwrap_or_default();
            let part = by_variant.entry(variant).or_default();
            part.insert(*major, file.known[major].clone());
        }
        let parts = by_variant.into_values();
        parts
            .map(|known| Planned {
                majors: Some(known.keys().copied().collect()),
                known,
                text: file.text.clone(),
            })
            .collect()
    }

    /// Whether a file stands there with the same text.
    fn has(&self, file: &Planned) -> bool {
        let found = match &file.majors {
            None => self.base.as_ref(),
            Some(majors) => {
                let named = self.variants.iter().find(|one| one.majors == *majors);
                named.map(|variant| &variant.snapshot)
            }
        };
        found.is_some_and(|snapshot| snapshot.text == file.text)
    }

    /// The files of the variants that change nothing: without them, and without all of them, each
    /// release has the same text.
    pub(super) fn redundant(&self) -> Vec<PathBuf> {
        let mut rest = self.clone();
        let mut redundant = Vec::new();
        for Variant { majors, path, .. } in &self.variants {
            let mut without = rest.clone();
            without.variants.retain(|variant| variant.path != *path);
            let same = |major| {
                let text = rest.text_of(major);
                text.is_some() && text == without.text_of(major)
            };
            if majors.iter().all(same) {
                redundant.push(path.clone());
                rest = without;
            }
        }
        redundant
    }
}

/// Of some releases the one whose text is the base's: the default one, else the newest before it,
/// else the first after it.
fn leader(known: &Knowledge, default: u32) -> Option<(&u32, &Known)> {
    let before = known.range(..=default).next_back();
    before.or_else(|| known.first_key_value())
}

/// The text that a major has according to files, the base first.
fn text_in(files: &[Planned], major: u32) -> Option<&str> {
    let names = |file: &&Planned| {
        let majors = file.majors.as_ref();
        majors.is_some_and(|majors| majors.contains(major))
    };
    let file = files.iter().find(names).or(files.first())?;
    Some(&file.text)
}

impl Known {
    /// What a snapshot says of a release.
    pub(super) fn of(snapshot: &Snapshot, release: Option<Release>) -> Self {
        Self {
            release,
            text: snapshot.text.clone(),
            redacted: snapshot.header.redacted.clone(),
        }
    }
}

impl Planned {
    /// The snapshot, with the scenario and the case of a header.
    pub(super) fn snapshot(&self, of: &Header) -> Snapshot {
        let newest = self.known.values().next_back();
        Snapshot {
            header: Header {
                releases: self
                    .known
                    .values()
                    .filter_map(|known| known.release)
                    .map(|release| release.to_string())
                    .collect(),
                redacted: newest.map_or_else(Vec::new, |known| known.redacted.clone()),
                ..of.clone()
            },
            text: self.text.clone(),
        }
    }
}
