//! Short grams, counted: how much of each of two documents the other has too, wherever it stands.

use std::collections::HashMap;

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
        let mut numbers: HashMap<&[u32], u32> = HashMap::new();
        let mut frequencies: Vec<u32> = Vec::new();
        let mut bags = Vec::with_capacity(offsets.len().saturating_sub(1));
        for ends in offsets.windows(2) {
            let stream = &symbols[ends[0] as usize..ends[1] as usize];
            let mut terms: Vec<u32> = stream
                .windows(n)
                .map(|gram| {
                    let next = numbers.len() as u32;
                    *numbers.entry(gram).or_insert(next)
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

    /// For each pair the share of the left's grams that the right has too, and the other way round, each gram by its
    /// rarity; `rarity` is the weight of a gram by the number of documents it stands in.
    pub fn shares(&self, pairs: &[u32], rarity: &[f32], threads: usize) -> [Vec<f32>; 2] {
        let weight = |term: u32| rarity[self.frequencies[term as usize] as usize] as f64;
        let total = |bag: &Bag| bag.iter().map(|&(term, count)| weight(term) * count as f64).sum::<f64>();
        let totals: Vec<f64> = self.bags.iter().map(total).collect();
        let found = in_order(pairs.len() / 2, 256, threads, |range| {
            range
                .map(|i| {
                    let (l, r) = (pairs[2 * i] as usize, pairs[2 * i + 1] as usize);
                    let common = common(&self.bags[l], &self.bags[r], weight);
                    let share = |total: f64| if total > 0.0 { (common / total) as f32 } else { 0.0 };
                    (share(totals[l]), share(totals[r]))
                })
                .collect::<Vec<_>>()
        });
        let (left, right) = found.into_iter().flatten().unzip();
        [left, right]
    }
}

fn common(left: &Bag, right: &Bag, weight: impl Fn(u32) -> f64) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < left.len() && j < right.len() {
        let ((a, m), (b, n)) = (left[i], right[j]);
        if a == b {
            sum += weight(a) * m.min(n) as f64;
        }
        i += (a <= b) as usize;
        j += (b <= a) as usize;
    }
    sum
}
