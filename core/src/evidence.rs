//! What a query has in common with documents: their bytes and the fingerprints both have -> matches, in bytes.

use std::collections::HashMap;

use crate::gather::{Gather, Laid};
use crate::grow::{Run, Side, chain, runs};
use crate::level::Level;
use crate::parallel::in_order;
use crate::text::Source;

/// The fingerprints of a query that matches grow from: positions in its stream, and which hash each has.
pub struct Asked<'a> {
    pub positions: &'a [u32],
    pub numbers: &'a [u32],
    /// From these positions on so many documents have what is there.
    pub spread: (&'a [u32], &'a [u32]),
}

/// Who has the query's hashes: the number of the hash, the document, the byte where it begins; sorted.
pub struct Seeds<'a> {
    pub hashes: &'a [u32],
    pub documents: &'a [u32],
    pub places: &'a [u32],
}

#[derive(Clone, Copy)]
pub struct How {
    pub k: usize,
    pub gap: u32,
    /// Matches of fewer symbols are found by chance: they are left out unless there is nothing else.
    pub sure: u32,
    pub level: Level,
}

/// Equal bytes, as start and end on the left and on the right.
pub type Spans = [u32; 4];

#[derive(Default)]
pub struct Match {
    pub runs: Vec<Spans>,
    pub symbols: u32,
    pub longest: u32,
    /// How many documents have most of it, by the fingerprints of the query that stand there.
    pub owners: u32,
}

#[derive(Default)]
pub struct Evidence {
    pub matches: Vec<Match>,
    /// Symbols of the query and of the document that stand in matches.
    pub covered: [u32; 2],
    /// The length of the document's stream.
    pub symbols: u32,
    /// Whether its stream is that of the query.
    pub same: bool,
}

/// For each of the numbered documents its evidence; and the length of the query's stream.
pub fn evidence(
    query: &Source,
    documents: &[Source],
    numbers: &[u32],
    asked: &Asked,
    seeds: &Seeds,
    how: How,
    threads: usize,
) -> (Vec<Evidence>, u32) {
    let mut gather = Gather::new(query);
    let query = gather.lay(query, how.level);
    let size = query.symbols.len();
    let mut left: Vec<(u64, u32)> =
        asked.numbers.iter().map(|&n| n as u64).zip(asked.positions.iter().copied()).collect();
    left.sort_unstable();
    let (hashes, positions): (Vec<u64>, Vec<u32>) = left.into_iter().unzip();
    let left = Side { symbols: query.symbols, hashes: &hashes, positions: &positions };
    let (from, owners) = asked.spread;
    let mut stretches: Vec<(u32, u32)> = from.iter().copied().zip(owners.iter().copied()).collect();
    stretches.sort_by_key(|&(from, _)| from);
    let rows = rows(seeds, numbers);
    let share = documents.len().div_ceil(threads.max(1)).max(1);
    let found = in_order(documents.len(), share, threads, |range| {
        let mut gather = Gather::new(&documents[range.start]);
        let one = |i: usize| {
            let document = gather.lay(&documents[i], how.level);
            let (hashes, positions) = placed(document, seeds, &rows[i]);
            let right = Side { symbols: document.symbols, hashes: &hashes, positions: &positions };
            let chains = certain(chain(&runs(left, right, how.k), how.gap), how.sure);
            Evidence {
                covered: [covered(&chains, |run| run.left), covered(&chains, |run| run.right)],
                matches: chains.iter().map(|chain| matched(chain, query, document, &stretches)).collect(),
                symbols: document.symbols.len() as u32,
                same: document.symbols == query.symbols,
            }
        };
        range.map(one).collect::<Vec<_>>()
    });
    (found.into_iter().flatten().collect(), size as u32)
}

/// The hashes of seeds, and the symbols that begin at their bytes. Symbols that come of one character begin at one byte:
/// each may be meant, the others grow to nothing.
fn placed(document: Laid, seeds: &Seeds, rows: &[usize]) -> (Vec<u64>, Vec<u32>) {
    let mut found = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for &row in rows {
        let place = seeds.places[row];
        let first = document.starts.partition_point(|&start| start < place);
        let meant = document.starts[first..].iter().take_while(|&&start| start == place).count();
        found.0.extend((0..meant).map(|_| seeds.hashes[row] as u64));
        found.1.extend((first..first + meant).map(|at| at as u32));
    }
    found
}

fn bytes(stream: Laid, start: u32, len: u32) -> (u32, u32) {
    (stream.starts[start as usize], stream.ends[(start + len - 1) as usize])
}

/// The rows of each document, in their order.
fn rows(seeds: &Seeds, numbers: &[u32]) -> Vec<Vec<usize>> {
    let which: HashMap<u32, usize> = numbers.iter().enumerate().map(|(i, &number)| (number, i)).collect();
    let mut rows = vec![Vec::new(); numbers.len()];
    for (row, document) in seeds.documents.iter().enumerate() {
        if let Some(&i) = which.get(document) {
            rows[i].push(row);
        }
    }
    rows
}

fn certain(chains: Vec<Vec<Run>>, sure: u32) -> Vec<Vec<Run>> {
    let is_certain = |chain: &Vec<Run>| symbols(chain) >= sure;
    if !chains.iter().any(is_certain) {
        return chains;
    }
    chains.into_iter().filter(is_certain).collect()
}

fn symbols(chain: &[Run]) -> u32 {
    chain.iter().map(|run| run.len).sum()
}

fn matched(chain: &[Run], query: Laid, document: Laid, stretches: &[(u32, u32)]) -> Match {
    let spans = |run: &Run| {
        let (left, right) = (bytes(query, run.left, run.len), bytes(document, run.right, run.len));
        [left.0, left.1, right.0, right.1]
    };
    Match {
        runs: chain.iter().map(spans).collect(),
        symbols: symbols(chain),
        longest: chain.iter().map(|run| run.len).max().unwrap_or(0),
        owners: usual(chain, stretches).max(2),
    }
}

/// How many documents have the symbol in the middle, when those of the runs are sorted by how many have them.
fn usual(chain: &[Run], stretches: &[(u32, u32)]) -> u32 {
    let mut owned: Vec<(u32, u32)> = Vec::new();
    for run in chain {
        let (mut at, end) = (run.left, run.left + run.len);
        // The stretch that begins there or last before; the first reaches back to the start.
        let first = stretches.partition_point(|&(from, _)| from <= at).saturating_sub(1);
        for (i, &(_, owners)) in stretches.iter().enumerate().skip(first) {
            let next = stretches.get(i + 1).map_or(end, |&(from, _)| from.clamp(at, end));
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
