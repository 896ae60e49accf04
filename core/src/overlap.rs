//! Short grams, counted: how much of each of two documents the other has too, wherever it stands.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::parallel::each_in_order;

/// The grams that a document shares with any other, as numbers of terms in order: those that stand there once, and
/// the others each with how often. Most stand once, and of these it need only be known whether another has them.
struct Bag {
    once: Vec<u32>,
    often: Vec<(u32, u32)>,
}

#[derive(Default)]
pub struct Bags {
    bags: Vec<Bag>,
    /// What each document's grams weigh together.
    totals: Vec<f64>,
    /// What each term weighs.
    weights: Vec<f64>,
}

impl Bags {
    /// Grams of n symbols of documents that are given one after another; `rarity` is the weight of a gram by the number
    /// of documents it stands in.
    pub fn new(symbols: &[u32], offsets: &[u64], n: usize, rarity: &[f32]) -> Self {
        let mut numbers: HashMap<u64, u32, BuildHasherDefault<AsItIs>> = HashMap::default();
        let mut frequencies: Vec<u32> = Vec::new();
        let mut counted: Vec<Vec<(u32, u32)>> = Vec::with_capacity(offsets.len().saturating_sub(1));
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
            let terms: Vec<_> =
                terms.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
            terms.iter().for_each(|&(term, _)| frequencies[term as usize] += 1);
            counted.push(terms);
        }
        let weights: Vec<f64> = frequencies.iter().map(|&n| rarity[n as usize] as f64).collect();
        let total = |terms: &Vec<(u32, u32)>| terms.iter().map(|&(t, n)| weights[t as usize] * n as f64).sum();
        let totals = counted.iter().map(total).collect();
        let bag = |terms: Vec<(u32, u32)>| {
            let shared = terms.into_iter().filter(|&(term, _)| frequencies[term as usize] > 1);
            let (once, often): (Vec<_>, Vec<_>) = shared.partition(|&(_, n)| n == 1);
            Bag { once: once.into_iter().map(|(term, _)| term).collect(), often }
        };
        Bags { bags: counted.into_iter().map(bag).collect(), totals, weights }
    }

    /// For each pair of two documents the share of the left's grams that the right has too, and the other way round,
    /// each gram by its rarity, as the bits of floats. Pairs with the same left one after another are fastest.
    pub fn shares(&self, pairs: &[u32], threads: usize) -> [Vec<u32>; 2] {
        let count = |range: Range<usize>| {
            let mut left_terms = Counted::new(self);
            let mut shares = Vec::with_capacity(range.len());
            for i in range {
                let (left, right) = (pairs[2 * i] as usize, pairs[2 * i + 1] as usize);
                left_terms.set(left);
                let common = left_terms.common(&self.bags[right]);
                let share = |total: f64| if total > 0.0 { (common / total) as f32 } else { 0.0 };
                shares.push((share(self.totals[left]), share(self.totals[right])));
            }
            shares
        };
        let mut all = [(); 2].map(|_| Vec::with_capacity(pairs.len() / 2));
        each_in_order(pairs.len() / 2, 1 << 14, threads, count, |shares| {
            for (left, right) in shares {
                all[0].push(left.to_bits());
                all[1].push(right.to_bits());
            }
        });
        all
    }
}

/// The terms of one document, to be looked up by number.
struct Counted<'a> {
    bags: &'a Bags,
    document: Option<usize>,
    /// How often each stands there.
    counts: Vec<u32>,
    /// The weight of each that stands there, and nothing for the others.
    present: Vec<f64>,
}

impl<'a> Counted<'a> {
    fn new(bags: &'a Bags) -> Self {
        let terms = bags.weights.len();
        Counted { bags, document: None, counts: vec![0; terms], present: vec![0.0; terms] }
    }

    fn set(&mut self, document: usize) {
        if self.document == Some(document) {
            return;
        }
        if let Some(before) = self.document.replace(document) {
            self.each(before, |_| 0);
        }
        self.each(document, |n| n);
    }

    fn each(&mut self, document: usize, count: impl Fn(u32) -> u32) {
        let bag = &self.bags.bags[document];
        for (term, n) in bag.once.iter().map(|&term| (term, 1)).chain(bag.often.iter().copied()) {
            let t = term as usize;
            self.counts[t] = count(n);
            self.present[t] = if count(n) > 0 { self.bags.weights[t] } else { 0.0 };
        }
    }

    /// The weight of what a document has too. Weights are 32-bit floats of like size, so 64 bits hold their sums
    /// exactly, and the order of adding does not matter: four sums at a time do not wait for each other.
    fn common(&self, other: &Bag) -> f64 {
        let mut sums = [0f64; 4];
        let fours = other.once.chunks_exact(4);
        let rest: f64 = fours.remainder().iter().map(|&term| self.present[term as usize]).sum();
        for four in fours {
            for (sum, &term) in sums.iter_mut().zip(four) {
                *sum += self.present[term as usize];
            }
        }
        let weigh = |&(term, n): &(u32, u32)| {
            self.bags.weights[term as usize] * self.counts[term as usize].min(n) as f64
        };
        sums.iter().sum::<f64>() + rest + other.often.iter().map(weigh).sum::<f64>()
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
