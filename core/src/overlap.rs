//! Short grams, counted: how much of each of two documents the other has too, wherever it stands.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::parallel::in_order;

/// The grams of a document as numbers of terms, each with how often it stands there, in order.
type Bag = Vec<(u32, u32)>;

pub struct Bags {
    bags: Vec<Bag>,
    /// In how many documents each term stands.
    frequencies: Vec<u32>,
}

impl Bags {
    /// Grams of n symbols of documents that are given one after another.
    pub fn new(symbols: &[u32], offsets: &[u64], n: usize) -> Self {
        let mut numbers: HashMap<u64, u32, BuildHasherDefault<AsItIs>> = HashMap::default();
        let mut frequencies: Vec<u32> = Vec::new();
        let mut bags = Vec::with_capacity(offsets.len().saturating_sub(1));
        for ends in offsets.windows(2) {
            let stream = &symbols[ends[0] as usize..ends[1] as usize];
            let mut terms: Vec<u32> = stream
                .windows(n)
                .map(|gram| {
                    let next = numbers.len() as u32;
                    *numbers.entry(mixed(gram)).or_insert(next)
                })
                .collect();
            terms.sort_unstable();
            frequencies.resize(numbers.len(), 0);
            let bag: Bag = terms.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
            bag.iter().for_each(|&(term, _)| frequencies[term as usize] += 1);
            bags.push(bag);
        }
        Bags { bags, frequencies }
    }

    /// For each pair the share of the left's grams that the right has too, and the other way round, each gram by
    /// its rarity; `rarity` is the weight of a gram by the number of documents it stands in. Pairs with the same left
    /// one after another are fastest.
    pub fn shares(&self, pairs: &[u32], rarity: &[f32], threads: usize) -> [Vec<f32>; 2] {
        let weights: Vec<f64> = self.frequencies.iter().map(|&n| rarity[n as usize] as f64).collect();
        let total = |bag: &Bag| bag.iter().map(|&(term, n)| weights[term as usize] * n as f64).sum::<f64>();
        let totals: Vec<f64> = self.bags.iter().map(total).collect();
        let found = in_order(pairs.len() / 2, 4096, threads, |range| {
            // How often each term stands in the left one.
            let mut counts = vec![0u32; weights.len()];
            let mut counted = None;
            let mut shares = Vec::with_capacity(range.len());
            for i in range {
                let (left, right) = (pairs[2 * i] as usize, pairs[2 * i + 1] as usize);
                if counted != Some(left) {
                    let before: &[(u32, u32)] = counted.map_or(&[], |l: usize| &self.bags[l]);
                    before.iter().for_each(|&(term, _)| counts[term as usize] = 0);
                    self.bags[left].iter().for_each(|&(term, n)| counts[term as usize] = n);
                    counted = Some(left);
                }
                let common: f64 = self.bags[right]
                    .iter()
                    .map(|&(term, n)| weights[term as usize] * counts[term as usize].min(n) as f64)
                    .sum();
                let share = |total: f64| if total > 0.0 { (common / total) as f32 } else { 0.0 };
                shares.push((share(totals[left]), share(totals[right])));
            }
            shares
        });
        let (left, right) = found.into_iter().flatten().unzip();
        [left, right]
    }

    /// The shares of each document's grams that each of the others has, added up, without a look at any pair.
    pub fn with_all(&self, rarity: &[f32]) -> Vec<f32> {
        let mut most = vec![0u32; self.frequencies.len()];
        self.bags.iter().flatten().for_each(|&(term, n)| most[term as usize] = most[term as usize].max(n));
        let mut starts = vec![0];
        starts.extend(most.iter().scan(0, |end, &n| {
            *end += n as usize;
            Some(*end)
        }));
        // For each term, how many have it once, twice and so on; then how many have it that often or more; then, up
        // to n times, how many of those all documents have.
        let mut often = vec![0u64; starts[most.len()]];
        self.bags.iter().flatten().for_each(|&(term, n)| often[starts[term as usize] + n as usize - 1] += 1);
        for ends in starts.windows(2) {
            let own = &mut often[ends[0]..ends[1]];
            (1..own.len()).rev().for_each(|i| own[i - 1] += own[i]);
            (1..own.len()).for_each(|i| own[i] += own[i - 1]);
        }
        let share = |bag: &Bag| {
            let (mut common, mut total) = (0.0, 0.0);
            for &(term, n) in bag {
                let weight = rarity[self.frequencies[term as usize] as usize] as f64;
                common += weight * (often[starts[term as usize] + n as usize - 1] - n as u64) as f64;
                total += weight * n as f64;
            }
            if total > 0.0 { (common / total) as f32 } else { 0.0 }
        };
        self.bags.iter().map(share).collect()
    }
}

/// A number for a gram; that two get the same is as good as impossible.
fn mixed(gram: &[u32]) -> u64 {
    let mix = |sum: u64, &symbol: &u32| {
        let product = (sum ^ symbol as u64) as u128 * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    };
    gram.iter().fold(gram.len() as u64 ^ 0x6a09_e667_f3bc_c908, mix)
}

/// Numbers that are mixed already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed");
    }
}
