//! Short grams, counted: how much of each of two documents the other has too, wherever it stands.

use std::ops::Range;

use crate::machine::parallel::each_in_order;
use crate::select::hash::mix64;

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
    /// The shares of each document's grams that each of the others has, added up.
    pub with_all: Vec<f32>,
}

impl Bags {
    /// Grams of n symbols of documents that are given one after another; `rarity` is the weight of a gram by the number
    /// of documents it stands in.
    pub fn new(symbols: &[u32], offsets: &[u64], n: usize, rarity: &[f32], threads: usize) -> Self {
        let streams: Vec<_> =
            offsets.windows(2).map(|ends| &symbols[ends[0] as usize..ends[1] as usize]).collect();
        let bits = (symbols.len() / AT_A_TIME).checked_ilog2().map_or(0, |log| log + 1).min(MAX_BITS);
        let mut counted: Vec<Vec<(u32, u32)>> = vec![Vec::new(); streams.len()];
        let mut frequencies: Vec<u32> = Vec::new();
        let work = |range: Range<usize>| shared(&streams, n, range.start as u64, bits);
        each_in_order(1 << bits, 1, threads, work, |found| {
            let mut owners = found.owners.into_iter();
            for frequency in found.frequencies {
                let term = frequencies.len() as u32;
                frequencies.push(frequency);
                for (document, times) in owners.by_ref().take(frequency as usize) {
                    counted[document as usize].push((term, times));
                }
            }
        });
        let weights: Vec<f64> = frequencies.iter().map(|&n| rarity[n as usize] as f64).collect();
        let total = |(terms, stream): (&Vec<(u32, u32)>, &&[u32])| {
            let grams = (stream.len() + 1).saturating_sub(n);
            let shared: usize = terms.iter().map(|&(_, times)| times as usize).sum();
            let alone = (grams - shared) as f64 * rarity[1] as f64;
            alone + terms.iter().map(|&(t, times)| weights[t as usize] * times as f64).sum::<f64>()
        };
        let totals: Vec<f64> = counted.iter().zip(&streams).map(total).collect();
        let with_all = with_all(&counted, &weights, &totals);
        let bag = |terms: Vec<(u32, u32)>| {
            let (once, often): (Vec<_>, Vec<_>) = terms.into_iter().partition(|&(_, n)| n == 1);
            Bag { once: once.into_iter().map(|(term, _)| term).collect(), often }
        };
        Bags { bags: counted.into_iter().map(bag).collect(), totals, weights, with_all }
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

/// The shares of each document's grams that each of the others has, added up, without a look at any pair.
fn with_all(counted: &[Vec<(u32, u32)>], weights: &[f64], totals: &[f64]) -> Vec<f32> {
    let mut most = vec![0u32; weights.len()];
    counted.iter().flatten().for_each(|&(term, n)| most[term as usize] = most[term as usize].max(n));
    let mut starts = vec![0];
    starts.extend(most.iter().scan(0, |end, &n| {
        *end += n as usize;
        Some(*end)
    }));
    // For each term, how many have it once, twice and so on; then how many have it that often or more; then, up to n
    // times, how many of those all documents have.
    let mut often = vec![0u64; starts[most.len()]];
    counted.iter().flatten().for_each(|&(term, n)| often[starts[term as usize] + n as usize - 1] += 1);
    for ends in starts.windows(2) {
        let own = &mut often[ends[0]..ends[1]];
        (1..own.len()).rev().for_each(|i| own[i - 1] += own[i]);
        (1..own.len()).for_each(|i| own[i] += own[i - 1]);
    }
    let weigh = |&(term, n): &(u32, u32)| {
        weights[term as usize] * (often[starts[term as usize] + n as usize - 1] - n as u64) as f64
    };
    let share = |(terms, &total): (&Vec<(u32, u32)>, &f64)| {
        let common: f64 = terms.iter().map(weigh).sum();
        if total > 0.0 { (common / total) as f32 } else { 0.0 }
    };
    counted.iter().zip(totals).map(share).collect()
}

/// About so many grams are sorted in one go, or more if that would take more looks at all of them than 64.
const AT_A_TIME: usize = 1 << 22;
const MAX_BITS: u32 = 6;

/// Grams that at least two documents have: for each how many have it; and one after another who has it, and how often.
struct Shared {
    frequencies: Vec<u32>,
    owners: Vec<(u32, u32)>,
}

/// Of the grams of n symbols whose numbers begin with these bits those that are shared.
fn shared(streams: &[&[u32]], n: usize, part: u64, bits: u32) -> Shared {
    // The document stands in the last bits, for single numbers are sorted fastest.
    let documents = (streams.len() as u64).next_power_of_two() - 1;
    let mut grams: Vec<u64> = Vec::new();
    for (document, stream) in streams.iter().enumerate() {
        each_gram(stream, n, |gram| {
            if (gram >> 1) >> (63 - bits) == part {
                grams.push(gram & !documents | document as u64);
            }
        });
    }
    grams.sort_unstable();
    let mut found = Shared { frequencies: Vec::new(), owners: Vec::new() };
    for same in grams.chunk_by(|a, b| a & !documents == b & !documents) {
        if same[0] != same[same.len() - 1] {
            let before = found.owners.len();
            let owned = same.chunk_by(|a, b| a == b);
            found.owners.extend(owned.map(|own| ((own[0] & documents) as u32, own.len() as u32)));
            found.frequencies.push((found.owners.len() - before) as u32);
        }
    }
    found
}

/// A number for every gram; that two of a few symbols get the same is as good as impossible.
fn each_gram(stream: &[u32], n: usize, mut each: impl FnMut(u64)) {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    if stream.len() < n {
        return;
    }
    let leaving = (1..n).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let add = |value: u64, &symbol: &u32| value.wrapping_mul(BASE).wrapping_add(symbol as u64);
    let mut value = stream[..n].iter().fold(0, add);
    each(mix64(value));
    for (old, new) in stream.iter().zip(&stream[n..]) {
        value = add(value.wrapping_sub(leaving.wrapping_mul(*old as u64)), new);
        each(mix64(value));
    }
}
