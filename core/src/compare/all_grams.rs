//! Finds every run of at least k symbols that one document shares with others, without fingerprints.

use crate::compare::cover::add_covering_runs;
use crate::compare::seeds::{Run, extend, largest_product};
use crate::compare::to_u32;
use crate::select::hash::Identity;

/// Stands for no position.
const NONE: u32 = u32::MAX;

/// How many more bits than the hash table has slots the filter has, as a power of two.
const FILTER_BITS: u32 = 3;

/// All grams of a document, by their hash.
pub struct GramIndex<'a> {
    symbols: &'a [u32],
    identity: Identity,
    k: usize,
    hashes: Vec<u64>,
    /// A bit for each of several times as many values as there are hashes: most grams of another document stop here.
    filter: Vec<u64>,
    filter_shift: u32,
    /// An open hash table: the first position of a gram, or `NONE`.
    slots: Vec<u32>,
    /// The bits of a hash below those that choose a slot.
    shift: u32,
    /// The positions of one gram after another, each gram's in order.
    positions: Vec<u32>,
    /// Where those of a gram begin and end, for the first position of each.
    ranges: Vec<(u32, u32)>,
}

/// Memory that is used again for the next document.
#[derive(Default)]
pub struct Scratch {
    hashes: Vec<u64>,
    /// For every gram, the first position of the same gram in the indexed document, or `NONE`.
    firsts: Vec<u32>,
    /// How often the gram stands in this document, for its first position in the indexed one.
    counts: Vec<u32>,
    /// How far the last run on each diagonal reaches.
    reached: Vec<u32>,
}

impl<'a> GramIndex<'a> {
    pub fn new(symbols: &'a [u32], k: usize) -> Self {
        let identity = Identity::new(k, 0);
        let mut hashes = Vec::new();
        identity.roll_all(symbols, &mut hashes);
        hashes.iter_mut().for_each(|value| *value = identity.finish(*value));
        let bits = (2 * hashes.len()).next_power_of_two().ilog2().max(1);
        let filter_bits = (bits + FILTER_BITS).max(6);
        let (slots, shift) = (vec![NONE; 1 << bits], 64 - bits);
        let (filter, filter_shift) = (vec![0; 1 << (filter_bits - 6)], 64 - filter_bits);
        let (positions, ranges) = (vec![0; hashes.len()], vec![(0, 0); hashes.len()]);
        let mut index =
            GramIndex { symbols, identity, k, hashes, filter, filter_shift, slots, shift, positions, ranges };
        let firsts: Vec<u32> = (0..index.hashes.len()).map(|position| index.insert(position)).collect();
        let mut begin = 0;
        for (position, &first) in firsts.iter().enumerate() {
            let first = first as usize;
            if first == position {
                let count = index.ranges[first].1;
                index.ranges[first] = (begin, begin);
                begin += count;
            }
            let end = &mut index.ranges[first].1;
            index.positions[*end as usize] = to_u32(position);
            *end += 1;
        }
        index
    }

    /// Enter the gram at a position, count it, and return its first position.
    fn insert(&mut self, position: usize) -> u32 {
        let bit = self.hashes[position] >> self.filter_shift;
        self.filter[bit as usize / 64] |= 1 << (bit % 64);
        let slot = self.slot(self.hashes[position]);
        if self.slots[slot] == NONE {
            self.slots[slot] = to_u32(position);
        }
        let first = self.slots[slot];
        self.ranges[first as usize].1 += 1;
        first
    }

    /// Return the slot where the first position of a gram is, or where it would be.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let mut slot = (hash >> self.shift) as usize;
        while self.slots[slot] != NONE && self.hashes[self.slots[slot] as usize] != hash {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    /// Return the positions of the gram that first stands at `first`, in order.
    fn positions(&self, first: u32) -> &[u32] {
        let (begin, end) = self.ranges[first as usize];
        &self.positions[begin as usize..end as usize]
    }

    /// Set, for every gram of another document, the first position of the same gram here.
    fn find_firsts(&self, symbols: &[u32], hashes: &mut Vec<u64>, firsts: &mut Vec<u32>) {
        self.identity.roll_all(symbols, hashes);
        firsts.clear();
        firsts.extend(hashes.iter().map(|&value| {
            let hash = self.identity.finish(value);
            let bit = hash >> self.filter_shift;
            let may_be_here = self.filter[bit as usize / 64] >> (bit % 64) & 1 != 0;
            if may_be_here { self.slots[self.slot(hash)] } else { NONE }
        }));
    }

    /// Call back with the position of every gram of another document that stands here too, and its positions here.
    pub fn each_shared(&self, symbols: &[u32], mut each: impl FnMut(usize, &[u32])) {
        let mut firsts = Vec::new();
        self.find_firsts(symbols, &mut Vec::new(), &mut firsts);
        for (position, &first) in firsts.iter().enumerate().filter(|(_, first)| **first != NONE) {
            each(position, self.positions(first));
        }
    }

    /// Return the maximal runs of at least k symbols, sorted by their start on the left, which is the indexed document.
    /// Where grams stand very often on both sides, not all pairs of their positions are tried.
    pub fn maximal_runs(&self, right: &[u32], scratch: &mut Scratch) -> Vec<Run> {
        let Scratch { hashes, firsts, counts, reached } = scratch;
        self.find_firsts(right, hashes, firsts);
        counts.clear();
        counts.resize(self.hashes.len(), 0);
        firsts.iter().filter(|first| **first != NONE).for_each(|&first| counts[first as usize] += 1);
        let product = |first: u32| self.positions(first).len() * counts[first as usize] as usize;
        let products = (0..to_u32(counts.len())).filter(|&l| counts[l as usize] > 0).map(product);
        let largest = largest_product(products, self.hashes.len() + firsts.len());
        reached.clear();
        reached.resize(self.symbols.len() + right.len(), 0);
        let mut runs = Vec::new();
        let mut is_complete = true;
        for (r, &first) in firsts.iter().enumerate().filter(|(_, first)| **first != NONE) {
            if product(first) > largest {
                is_complete = false;
                continue;
            }
            for &l in self.positions(first) {
                let end = &mut reached[r + self.symbols.len() - l as usize];
                if *end as usize > r {
                    continue;
                }
                let run = extend(self.symbols, right, l as usize, r);
                if run.len as usize >= self.k {
                    *end = run.right_end();
                    runs.push(run);
                }
            }
        }
        if !is_complete {
            add_covering_runs(self.symbols, right, self.k, &mut runs);
        }
        runs.sort_unstable_by_key(|run| (run.left, run.right));
        runs.dedup();
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::seeds::{Side, maximal_runs};
    use crate::select::hash::mix64;

    fn side<'a>(symbols: &'a [u32], grams: &'a (Vec<u64>, Vec<u32>)) -> Side<'a> {
        Side { symbols, kinds: &[], hashes: &grams.0, positions: &grams.1 }
    }

    /// Return all grams as fingerprints, sorted by hash.
    fn all_grams(symbols: &[u32], k: usize) -> (Vec<u64>, Vec<u32>) {
        let hash = |gram: &[u32]| gram.iter().fold(0, |hash, &symbol| mix64(hash ^ (symbol as u64 + 1)));
        let mut grams: Vec<(u64, u32)> = symbols.windows(k).map(hash).zip(0..).collect();
        grams.sort_unstable();
        grams.into_iter().unzip()
    }

    fn symbols(seed: u64, len: usize, alphabet: u64) -> Vec<u32> {
        (0..len as u64).map(|i| (mix64(seed << 32 | i) % alphabet) as u32).collect()
    }

    #[test]
    fn the_runs_are_those_of_all_grams_as_seeds() {
        for seed in 0..300 {
            let (k, alphabet) = (1 + (seed % 7) as usize, 2 + seed % 5);
            let left = symbols(3 * seed, (seed * 7 % 150) as usize, alphabet);
            let mut right = symbols(3 * seed + 1, (seed * 11 % 90) as usize, alphabet);
            right.extend_from_slice(&left[left.len() / 3..left.len() / 2]);
            right.extend(symbols(3 * seed + 2, 20, alphabet));
            let (grams, others) = (all_grams(&left, k), all_grams(&right, k));
            let expected = maximal_runs(side(&left, &grams), side(&right, &others), k, k);
            let index = GramIndex::new(&left, k);
            let mut scratch = Scratch::default();
            for _ in 0..2 {
                assert_eq!(index.maximal_runs(&right, &mut scratch), expected, "{seed}");
            }
        }
    }

    #[test]
    fn endless_repetition_is_covered_on_both_sides() {
        for period in [1, 2, 7] {
            let repeated = |len: usize| (0..len).map(|i| (i % period) as u32).collect::<Vec<u32>>();
            let (left, right) = (repeated(5000), repeated(3000));
            let runs = GramIndex::new(&left, 20).maximal_runs(&right, &mut Scratch::default());
            assert!(runs.iter().any(|run| run.left == 0 && run.right == 0 && run.len == 3000));
            let reach = runs.iter().map(|run| run.left_end()).max();
            assert_eq!(reach, Some(5000));
        }
    }
}
