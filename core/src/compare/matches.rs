//! What two documents have in common: the matches that count, how much of both they cover, how many others have them.

use crate::compare::blanks;
use crate::compare::seeds::{Run, Side, chain, runs, symbols};

#[derive(Clone, Copy)]
pub struct How {
    pub k: usize,
    pub gap: u32,
    /// Matches of fewer symbols are found by chance: they are left out unless there is nothing else.
    pub sure: u32,
}

pub struct Match {
    pub runs: Vec<Run>,
    /// How many documents have most of it, by the fingerprints of the left that stand there.
    pub owners: u32,
}

impl Match {
    pub fn symbols(&self) -> u32 {
        symbols(&self.runs) as u32
    }

    pub fn longest(&self) -> u32 {
        self.runs.iter().map(|run| run.len).max().unwrap_or(0)
    }
}

pub struct Common {
    pub matches: Vec<Match>,
    /// Symbols of the left and of the right that stand in matches.
    pub covered: [u32; 2],
}

/// From each of these positions on so many documents have what is there, up to the next.
pub struct Spread(Vec<(u32, u32)>);

impl Spread {
    /// In any order.
    pub fn new(positions: &[u32], owners: &[u32]) -> Self {
        let mut stretches: Vec<_> = positions.iter().copied().zip(owners.iter().copied()).collect();
        stretches.sort_by_key(|&(from, _)| from);
        Spread(stretches)
    }

    /// How many documents have the symbol in the middle, when those of the runs are sorted by how many have them.
    fn usual(&self, runs: &[Run]) -> u32 {
        let mut owned: Vec<(u32, u32)> = Vec::new();
        for run in runs {
            let (mut at, end) = (run.left, run.left + run.len);
            // The stretch that begins there or last before; the first reaches back to the start.
            let first = self.0.partition_point(|&(from, _)| from <= at).saturating_sub(1);
            for (i, &(_, owners)) in self.0.iter().enumerate().skip(first) {
                let next = self.0.get(i + 1).map_or(end, |&(from, _)| from.clamp(at, end));
                owned.push((owners, next - at));
                at = next;
                if at == end {
                    break;
                }
            }
        }
        owned.sort_unstable();
        let middle = owned.iter().map(|&(_, symbols)| symbols as u64).sum::<u64>() / 2;
        let mut seen = 0;
        let is_middle = |&&(_, symbols): &&(u32, u32)| {
            seen += symbols as u64;
            seen > middle
        };
        owned.iter().find(is_middle).map_or(1, |&(owners, _)| owners)
    }
}

/// The matches of two documents; both have them, whatever the spread says.
pub fn common(left: Side, right: Side, spread: &Spread, how: How) -> Common {
    let found = runs(left, right, how.k, how.sure as usize);
    let chains = if left.given.is_empty() || right.given.is_empty() {
        chain(&found, how.gap)
    } else {
        blanks::chain(&found, left.given, right.given, how)
    };
    let chains = certain(chains, how.sure);
    let covered = [covered(&chains, |run| run.left), covered(&chains, |run| run.right)];
    let matched = |runs: Vec<Run>| Match { owners: spread.usual(&runs).max(2), runs };
    Common { matches: chains.into_iter().map(matched).collect(), covered }
}

fn certain(chains: Vec<Vec<Run>>, sure: u32) -> Vec<Vec<Run>> {
    let is_certain = |chain: &Vec<Run>| symbols(chain) >= sure as u64;
    if !chains.iter().any(is_certain) {
        return chains;
    }
    chains.into_iter().filter(is_certain).collect()
}

/// Symbols in at least one of the runs, on one side.
fn covered(chains: &[Vec<Run>], start: impl Fn(&Run) -> u32) -> u32 {
    let mut all: Vec<(u32, u32)> =
        chains.iter().flatten().map(|run| (start(run), start(run) + run.len)).collect();
    all.sort_unstable();
    let (mut covered, mut reached) = (0, 0);
    for (start, end) in all {
        covered += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    covered
}
