//! Finds seeds, which are equal fingerprints, and extends each to the maximal run of equal symbols around it.
//!
//! Every run of t symbols that two documents share holds a seed, because in every window both choose the same gram.
//! There are two exceptions, both in documents that repeat themselves. A gram may stand several times in one window, and
//! the documents may choose different copies of it. And there may be too many seeds to try them all. Then `cover.rs`
//! finds what is missing.

use crate::compare::cover::add_covering_runs;
use crate::compare::to_u32;

/// One of the two documents of a pair; a submission of several files counts as one document.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub symbols: &'a [u32],
    /// The kind of every symbol as in `blanks.rs`, or empty if there is no base code. Base code equals only the same
    /// base code.
    pub kinds: &'a [u8],
    /// Fingerprints, sorted by hash.
    pub hashes: &'a [u64],
    pub positions: &'a [u32],
}

/// `len` equal symbols from `left` and from `right` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub left: u32,
    pub right: u32,
    pub len: u32,
}

impl Run {
    pub fn left_start(&self) -> u32 {
        self.left
    }

    pub fn right_start(&self) -> u32 {
        self.right
    }

    pub fn left_end(&self) -> u32 {
        self.left + self.len
    }

    pub fn right_end(&self) -> u32 {
        self.right + self.len
    }
}

/// A position on the left and one on the right where the same gram begins.
pub(crate) type Seed = (u32, u32);

/// Seeds for each fingerprint of a pair. More than this is repetition.
const MAX_SEEDS: usize = 4;

/// Seeds that any pair may have.
const FREE_SEEDS: usize = 1 << 10;

/// How many times fewer seeds a pair has if it has too many. They are those of the rarest hashes.
const FEWER: usize = 16;

/// Return the maximal runs of at least k symbols that hold a seed, sorted by their start on the left, and as many
/// others as it takes for every t symbols that both have to lie in a run on either side.
pub fn maximal_runs(left: Side, right: Side, k: usize, t: usize) -> Vec<Run> {
    let (mut seeds, is_complete) = find_seeds(left, right);
    let diagonal = |l: u32, r: u32| r as i64 - l as i64;
    // The seeds of one run lie on one diagonal and become neighbours.
    seeds.sort_unstable_by_key(|&(l, r)| (diagonal(l, r), l));
    let mut runs: Vec<Run> = Vec::new();
    for &(l, r) in &seeds {
        let is_inside = |run: &Run| diagonal(run.left, run.right) == diagonal(l, r) && l < run.left_end();
        if runs.last().is_some_and(is_inside) {
            continue;
        }
        let run = extend(left.symbols, right.symbols, l as usize, r as usize);
        // A collision of hashes extends to less than a gram.
        if run.len as usize >= k {
            runs.push(run);
        }
    }
    let t = t.max(k);
    if !is_complete || has_copies_nearby(right.symbols, &seeds, k, t) {
        add_covering_runs(left.symbols, right.symbols, t, &mut runs);
    }
    runs.sort_unstable_by_key(|run| (run.left, run.right));
    runs
}

/// Whether the gram of a seed stands several times in a window on the right.
fn has_copies_nearby(right: &[u32], seeds: &[Seed], k: usize, t: usize) -> bool {
    let reach = if t > k { t - k } else { k };
    let mut starts: Vec<usize> = seeds.iter().map(|&(_, r)| r as usize).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.iter().any(|&r| {
        let Some(gram) = right.get(r..r + k) else { return false };
        let mut around = (r.saturating_sub(reach)..=r + reach).filter(|&copy| copy != r);
        // Nearly always the first symbol tells already.
        around.any(|copy| right.get(copy) == Some(&gram[0]) && right.get(copy..copy + k) == Some(gram))
    })
}

/// Pair the positions of equal hashes, and tell whether all of them are paired.
fn find_seeds(left: Side, right: Side) -> (Vec<Seed>, bool) {
    let mut shared: Vec<(&[u32], &[u32])> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.hashes.len() && j < right.hashes.len() {
        let (a, b) = (left.hashes[i], right.hashes[j]);
        if a < b {
            i += 1;
        } else if b < a {
            j += 1;
        } else {
            let m = left.hashes[i..].iter().take_while(|&&hash| hash == a).count();
            let n = right.hashes[j..].iter().take_while(|&&hash| hash == a).count();
            shared.push((&left.positions[i..i + m], &right.positions[j..j + n]));
            i += m;
            j += n;
        }
    }
    let product = |(lefts, rights): &(&[u32], &[u32])| lefts.len() * rights.len();
    let largest = largest_product(shared.iter().map(product), left.hashes.len() + right.hashes.len());
    let all = shared.len();
    shared.retain(|positions| product(positions) <= largest);
    let seeds = shared
        .iter()
        .flat_map(|(lefts, rights)| lefts.iter().flat_map(move |&l| rights.iter().map(move |&r| (l, r))));
    (seeds.collect(), shared.len() == all)
}

/// Return the most seeds that a hash may have to be used, given the seeds of every hash.
pub(crate) fn largest_product(products: impl Iterator<Item = usize> + Clone, fingerprints: usize) -> usize {
    let max_seeds = MAX_SEEDS * fingerprints + FREE_SEEDS;
    if products.clone().sum::<usize>() <= max_seeds {
        return usize::MAX;
    }
    let mut ascending: Vec<usize> = products.collect();
    ascending.sort_unstable();
    let (mut room, mut largest) = (max_seeds / FEWER, 0);
    for same in ascending.chunk_by(|a, b| a == b) {
        let seeds = same[0] * same.len();
        if seeds > room {
            break;
        }
        (room, largest) = (room - seeds, same[0]);
    }
    largest
}

/// Return the longest run of equal symbols around two positions.
pub(crate) fn extend(left: &[u32], right: &[u32], l: usize, r: usize) -> Run {
    let behind = left[l..].iter().zip(&right[r..]).take_while(|(a, b)| a == b).count();
    let before = left[..l].iter().rev().zip(right[..r].iter().rev()).take_while(|(a, b)| a == b).count();
    Run { left: to_u32(l - before), right: to_u32(r - before), len: to_u32(before + behind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::hash::mix64;

    /// Return random pieces of a few symbols, one after another, and every gram of k symbols as a fingerprint.
    fn document(seed: u64, pieces: u64, k: usize) -> (Vec<u32>, Vec<u64>, Vec<u32>) {
        let piece = |i: u64| [[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 9, 9]][(mix64(seed << 32 | i) % 3) as usize];
        let symbols: Vec<u32> = (0..pieces).flat_map(piece).collect();
        let hash = |gram: &[u32]| gram.iter().fold(0, |hash, &symbol| mix64(hash ^ (symbol as u64 + 1)));
        let mut grams: Vec<(u64, u32)> = symbols.windows(k).map(hash).zip(0..).collect();
        grams.sort_unstable();
        let (hashes, positions) = grams.into_iter().unzip();
        (symbols, hashes, positions)
    }

    #[test]
    fn seeds_and_runs_grow_no_faster_than_documents() {
        let k = 12;
        for pieces in [50, 500, 5000] {
            let documents = [document(1, pieces, k), document(2, pieces, k)];
            let [left, right] = documents.each_ref().map(|(symbols, hashes, positions)| Side {
                symbols,
                kinds: &[],
                hashes,
                positions,
            });
            let fingerprints = left.hashes.len() + right.hashes.len();
            let (seeds, _) = find_seeds(left, right);
            assert!(seeds.len() <= MAX_SEEDS * fingerprints + FREE_SEEDS);
            let runs = maximal_runs(left, right, k, k + 8);
            assert!(runs.len() <= MAX_SEEDS * fingerprints + FREE_SEEDS);
        }
    }

    #[test]
    fn only_the_rarest_hashes_are_seeds_if_there_are_too_many() {
        assert_eq!(largest_product([1, 9, 100].into_iter(), 100), usize::MAX);
        assert_eq!(largest_product([1, 9, 100_000].into_iter(), 100), 9);
        assert_eq!(largest_product([1, 100_000, 50, 50].into_iter(), 100), 1);
    }
}
