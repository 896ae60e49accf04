//! Counts short grams: how much of each of two documents the other one has, wherever it stands.

use std::ops::Range;

use crate::compare::to_u32;
use crate::machine::parallel::each_in_order;
use crate::select::hash::mix64;

/// The grams that a document shares with others, by their numbers, in order. Most stand there once, and then only their
/// presence in the other document counts.
struct SharedGrams {
    once: Vec<u32>,
    /// The others, each with its count.
    often: Vec<(u32, u32)>,
}

pub struct GramCounts {
    documents: Vec<SharedGrams>,
    /// The weight of all grams of each document.
    totals: Vec<f64>,
    /// The weight of each shared gram.
    weights: Vec<f64>,
}

impl GramCounts {
    /// Count the grams of n symbols of documents that stand one after another. A gram that m documents have weighs
    /// `rarity[m]`. Also return the `share_sums` of the documents.
    pub fn new(symbols: &[u32], offsets: &[u64], n: usize, rarity: &[f32], threads: usize) -> (Self, Vec<f32>) {
        let streams: Vec<_> =
            offsets.windows(2).map(|ends| &symbols[ends[0] as usize..ends[1] as usize]).collect();
        let bits = (symbols.len() / PART_GRAMS).checked_ilog2().map_or(0, |log| log + 1).min(MAX_PART_BITS);
        let mut counts: Vec<Vec<(u32, u32)>> = vec![Vec::new(); streams.len()];
        let mut frequencies: Vec<u32> = Vec::new();
        let work = |range: Range<usize>| shared_grams(&streams, n, range.start as u64, bits);
        each_in_order(1 << bits, 1, threads, work, |part| {
            let mut owners = part.owners.into_iter();
            for frequency in part.frequencies {
                let gram = to_u32(frequencies.len());
                frequencies.push(frequency);
                for (document, count) in owners.by_ref().take(frequency as usize) {
                    counts[document as usize].push((gram, count));
                }
            }
        });
        let weights: Vec<f64> = frequencies.iter().map(|&n| rarity[n as usize] as f64).collect();
        let total = |(grams, stream): (&Vec<(u32, u32)>, &&[u32])| {
            let all = (stream.len() + 1).saturating_sub(n);
            let shared: usize = grams.iter().map(|&(_, count)| count as usize).sum();
            let alone = (all - shared) as f64 * rarity[1] as f64;
            alone + grams.iter().map(|&(gram, count)| weights[gram as usize] * count as f64).sum::<f64>()
        };
        let totals: Vec<f64> = counts.iter().zip(&streams).map(total).collect();
        let share_sums = share_sums(&counts, &weights, &totals);
        let split = |grams: Vec<(u32, u32)>| {
            let (once, often): (Vec<_>, Vec<_>) = grams.into_iter().partition(|&(_, count)| count == 1);
            SharedGrams { once: once.into_iter().map(|(gram, _)| gram).collect(), often }
        };
        let documents = counts.into_iter().map(split).collect();
        (GramCounts { documents, totals, weights }, share_sums)
    }

    /// Return the number of documents.
    pub fn document_count(&self) -> usize {
        self.documents.len()
    }

    /// Return for each pair the share of the left's grams that the right has, and the reverse. Fastest when pairs with
    /// the same left document follow each other.
    pub fn shares(&self, pairs: &[u32], threads: usize) -> [Vec<f32>; 2] {
        let work = |range: Range<usize>| {
            let mut left_grams = LoadedDocument::new(self);
            let mut shares = Vec::with_capacity(range.len());
            for i in range {
                let (left, right) = (pairs[2 * i] as usize, pairs[2 * i + 1] as usize);
                left_grams.load(left);
                let common = left_grams.weight_shared_with(&self.documents[right]);
                let share = |total: f64| if total > 0.0 { (common / total) as f32 } else { 0.0 };
                shares.push((share(self.totals[left]), share(self.totals[right])));
            }
            shares
        };
        let mut columns = [(); 2].map(|_| Vec::with_capacity(pairs.len() / 2));
        each_in_order(pairs.len() / 2, 1 << 14, threads, work, |shares| {
            for (left, right) in shares {
                columns[0].push(left);
                columns[1].push(right);
            }
        });
        columns
    }
}

/// The grams of one document in tables by number.
struct LoadedDocument<'a> {
    all: &'a GramCounts,
    document: Option<usize>,
    /// How often the document has each gram.
    counts: Vec<u32>,
    /// The weight of each gram that the document has, 0 for the others.
    weights: Vec<f64>,
}

impl<'a> LoadedDocument<'a> {
    fn new(all: &'a GramCounts) -> Self {
        let grams = all.weights.len();
        LoadedDocument { all, document: None, counts: vec![0; grams], weights: vec![0.0; grams] }
    }

    fn load(&mut self, document: usize) {
        if self.document == Some(document) {
            return;
        }
        if let Some(previous) = self.document.replace(document) {
            self.set(previous, |_| 0);
        }
        self.set(document, |count| count);
    }

    fn set(&mut self, document: usize, to: impl Fn(u32) -> u32) {
        let own = &self.all.documents[document];
        for (gram, count) in own.once.iter().map(|&gram| (gram, 1)).chain(own.often.iter().copied()) {
            let g = gram as usize;
            self.counts[g] = to(count);
            self.weights[g] = if to(count) > 0 { self.all.weights[g] } else { 0.0 };
        }
    }

    /// Weigh the grams that another document has too. Weights are 32-bit floats of similar size, so 64 bits hold their
    /// sums exactly in any order. Four sums at a time do not wait for each other.
    fn weight_shared_with(&self, other: &SharedGrams) -> f64 {
        let mut sums = [0f64; 4];
        let fours = other.once.chunks_exact(4);
        let rest: f64 = fours.remainder().iter().map(|&gram| self.weights[gram as usize]).sum();
        for four in fours {
            for (sum, &gram) in sums.iter_mut().zip(four) {
                *sum += self.weights[gram as usize];
            }
        }
        let weigh = |&(gram, count): &(u32, u32)| {
            self.all.weights[gram as usize] * self.counts[gram as usize].min(count) as f64
        };
        sums.iter().sum::<f64>() + rest + other.often.iter().map(weigh).sum::<f64>()
    }
}

/// Sum over all other documents the share of a document's grams that the other has, without looking at any pair.
fn share_sums(counts: &[Vec<(u32, u32)>], weights: &[f64], totals: &[f64]) -> Vec<f32> {
    let mut largest = vec![0u32; weights.len()];
    counts.iter().flatten().for_each(|&(gram, n)| largest[gram as usize] = largest[gram as usize].max(n));
    let mut starts = vec![0];
    starts.extend(largest.iter().scan(0, |end, &n| {
        *end += n as usize;
        Some(*end)
    }));
    // For each gram and n: how many documents have it n times, then how many have it n times or more, then how often all
    // documents together have it when each counts at most n times.
    let mut table = vec![0u64; starts[largest.len()]];
    counts.iter().flatten().for_each(|&(gram, n)| table[starts[gram as usize] + n as usize - 1] += 1);
    for ends in starts.windows(2) {
        let own = &mut table[ends[0]..ends[1]];
        (1..own.len()).rev().for_each(|i| own[i - 1] += own[i]);
        (1..own.len()).for_each(|i| own[i] += own[i - 1]);
    }
    let weigh = |&(gram, n): &(u32, u32)| {
        weights[gram as usize] * (table[starts[gram as usize] + n as usize - 1] - n as u64) as f64
    };
    let sum = |(grams, &total): (&Vec<(u32, u32)>, &f64)| {
        let common: f64 = grams.iter().map(weigh).sum();
        if total > 0.0 { (common / total) as f32 } else { 0.0 }
    };
    counts.iter().zip(totals).map(sum).collect()
}

/// Grams that are sorted at a time. This bounds memory, but takes at most 64 passes over all grams.
const PART_GRAMS: usize = 1 << 22;
const MAX_PART_BITS: u32 = 6;

/// The grams that at least two documents have.
struct SharedPart {
    /// How many documents have each gram.
    frequencies: Vec<u32>,
    /// The documents of one gram after another, each with its count.
    owners: Vec<(u32, u32)>,
}

/// Count the shared grams of n symbols whose hashes begin with these bits.
fn shared_grams(streams: &[&[u32]], n: usize, part: u64, bits: u32) -> SharedPart {
    // The document takes the place of the last bits, since plain numbers sort fastest.
    let document_mask = (streams.len() as u64).next_power_of_two() - 1;
    let mut grams: Vec<u64> = Vec::new();
    for (document, stream) in streams.iter().enumerate() {
        each_gram(stream, n, |gram| {
            if (gram >> 1) >> (63 - bits) == part {
                grams.push(gram & !document_mask | document as u64);
            }
        });
    }
    let grams = sorted(grams, bits);
    let mut shared = SharedPart { frequencies: Vec::new(), owners: Vec::new() };
    for same in grams.chunk_by(|a, b| a & !document_mask == b & !document_mask) {
        if same[0] != same[same.len() - 1] {
            let before = shared.owners.len();
            let by_document = same.chunk_by(|a, b| a == b);
            shared.owners.extend(by_document.map(|own| ((own[0] & document_mask) as u32, to_u32(own.len()))));
            shared.frequencies.push(to_u32(shared.owners.len() - before));
        }
    }
    shared
}

/// Sort numbers that agree in their first bits and are random in the next. Spread into small buckets by those, they
/// take about half the time.
fn sorted(numbers: Vec<u64>, equal_bits: u32) -> Vec<u64> {
    const BUCKETS: usize = 1 << 12;
    let bucket = |number: u64| ((number << equal_bits) >> (64 - BUCKETS.trailing_zeros())) as usize;
    let mut starts = vec![0usize; BUCKETS + 1];
    numbers.iter().for_each(|&number| starts[bucket(number) + 1] += 1);
    (0..BUCKETS).for_each(|b| starts[b + 1] += starts[b]);
    let mut ends = starts.clone();
    let mut spread = vec![0; numbers.len()];
    for number in numbers {
        let end = &mut ends[bucket(number)];
        spread[*end] = number;
        *end += 1;
    }
    starts.windows(2).for_each(|range| spread[range[0]..range[1]].sort_unstable());
    spread
}

/// Call back with a hash of every gram. Different grams of a few symbols have different hashes in practice.
fn each_gram(stream: &[u32], n: usize, mut each: impl FnMut(u64)) {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    if stream.len() < n {
        return;
    }
    let leaving = (1..n).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let append = |hash: u64, &symbol: &u32| hash.wrapping_mul(BASE).wrapping_add(symbol as u64);
    let mut hash = stream[..n].iter().fold(0, append);
    each(mix64(hash));
    for (old, new) in stream.iter().zip(&stream[n..]) {
        hash = append(hash.wrapping_sub(leaving.wrapping_mul(*old as u64)), new);
        each(mix64(hash));
    }
}
