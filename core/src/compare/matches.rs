//! Finds the matches of two documents, the symbols they cover, and how many other documents have them.

use crate::compare::blanks;
use crate::compare::blocks::{blocks, thin};
use crate::compare::chain::{chain, symbols};
use crate::compare::seeds::{Run, Side, maximal_runs};
use crate::compare::to_u32;
use crate::read::symbol::RESERVED;

/// Matches that any pair may have. If it also has more than one for each guaranteed run that the shorter document has
/// room for, they are merged.
const FREE_MATCHES: usize = 64;

#[derive(Clone, Copy)]
pub struct Settings {
    pub k: usize,
    /// Other symbols that may stand between two runs of a match.
    pub gap: u32,
    /// Runs of this many symbols are always found, shorter ones by chance. Matches with fewer symbols are dropped,
    /// unless there are no others.
    pub guarantee: u32,
}

pub struct Match {
    pub runs: Vec<Run>,
    /// How many documents have most of it.
    pub owners: u32,
}

pub struct PairMatches {
    pub matches: Vec<Match>,
    /// Symbols that matches cover on the left and on the right.
    pub covered: [u32; 2],
}

/// How many documents have each passage: positions of fingerprints, each with the owners of what stands from there up
/// to the next.
pub struct OwnerCounts(Vec<(u32, u32)>);

impl OwnerCounts {
    /// Take positions in any order.
    pub fn new(positions: &[u32], owners: &[u32]) -> Self {
        let mut counts: Vec<_> = positions.iter().copied().zip(owners.iter().copied()).collect();
        counts.sort_by_key(|&(position, _)| position);
        OwnerCounts(counts)
    }

    /// Return the median number of owners over the symbols of a match.
    fn median(&self, runs: &[Run]) -> u32 {
        let mut owned: Vec<(u32, u32)> = Vec::new();
        for run in runs {
            let (mut position, end) = (run.left, run.left_end());
            // The last fingerprint up to here. The first one also counts for what stands before it.
            let first = self.0.partition_point(|&(from, _)| from <= position).saturating_sub(1);
            for (i, &(_, owners)) in self.0.iter().enumerate().skip(first) {
                let next = self.0.get(i + 1).map_or(end, |&(from, _)| from.clamp(position, end));
                owned.push((owners, next - position));
                position = next;
                if position == end {
                    break;
                }
            }
        }
        owned.sort_unstable();
        let middle = owned.iter().map(|&(_, symbols)| symbols as u64).sum::<u64>() / 2;
        let mut passed = 0;
        let reaches_middle = |&&(_, symbols): &&(u32, u32)| {
            passed += symbols as u64;
            passed > middle
        };
        owned.iter().find(reaches_middle).map_or(1, |&(owners, _)| owners)
    }
}

/// Find the matches of two documents. At least these two have them, even if `owners` says less.
pub fn find_matches(left: Side, right: Side, owners: &OwnerCounts, settings: Settings) -> PairMatches {
    let runs = maximal_runs(left, right, settings.k, settings.guarantee as usize);
    matches_of_runs(&runs, [left, right], owners, settings)
}

/// Find the matches of runs that are sorted by their start on the left.
pub fn matches_of_runs(
    runs: &[Run],
    [left, right]: [Side; 2],
    owners: &OwnerCounts,
    settings: Settings,
) -> PairMatches {
    let gap = settings.gap;
    let has_kinds = !left.kinds.is_empty() && !right.kinds.is_empty();
    let kinds = [left.kinds, right.kinds];
    let chains =
        if has_kinds { blanks::join(runs, kinds, settings, |own| chain(own, gap)) } else { chain(runs, gap) };
    let mut joined = prefer_guaranteed(chains, settings.guarantee);
    let most = left.symbols.len().min(right.symbols.len()) / settings.guarantee.max(1) as usize;
    if settings.guarantee > 0 && joined.len() > most.max(FREE_MATCHES) {
        let few = thin(runs, settings.guarantee);
        joined = if has_kinds {
            blanks::join(&few, kinds, settings, |own| blocks(own, gap, [&[], &[]]))
        } else {
            blocks(&few, gap, [&separators(left.symbols), &separators(right.symbols)])
        };
    }
    let covered = covered_symbols(joined.iter().flatten());
    let with_owners = |runs: Vec<Run>| Match { owners: owners.median(&runs).max(2), runs };
    PairMatches { matches: joined.into_iter().map(with_owners).collect(), covered }
}

/// Return the positions of separators between files, and of masked symbols.
fn separators(symbols: &[u32]) -> Vec<u32> {
    let is_reserved = |symbol: u32| symbol & RESERVED != 0 && symbol < 2 * RESERVED;
    (0..to_u32(symbols.len())).filter(|&position| is_reserved(symbols[position as usize])).collect()
}

fn prefer_guaranteed(matches: Vec<Vec<Run>>, guarantee: u32) -> Vec<Vec<Run>> {
    let is_guaranteed = |runs: &Vec<Run>| symbols(runs) >= guarantee as u64;
    if !matches.iter().any(is_guaranteed) {
        return matches;
    }
    matches.into_iter().filter(is_guaranteed).collect()
}

/// Count the symbols that lie in at least one run, on the left and on the right.
pub fn covered_symbols<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> [u32; 2] {
    [Run::left_start, Run::right_start].map(|start| {
        let mut spans: Vec<(u32, u32)> = runs.clone().map(|run| (start(run), start(run) + run.len)).collect();
        spans.sort_unstable();
        let (mut covered, mut reached) = (0, 0);
        for (start, end) in spans {
            covered += end.saturating_sub(start.max(reached));
            reached = reached.max(end);
        }
        covered
    })
}
