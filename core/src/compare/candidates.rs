//! Finds candidate pairs from postings, without looking at documents that have nothing in common.

use std::ops::Range;

use crate::compare::to_u32;
use crate::machine::parallel::each_in_order;

/// Candidate pairs in columns. Where everybody shares something, these are the largest columns of all.
#[derive(Default)]
pub struct CandidatePairs {
    /// Left, right, left, right.
    pub documents: Vec<u32>,
    /// How many hashes each pair shares.
    pub shared: Vec<u32>,
}

/// What a document shares with the one in hand.
#[derive(Clone, Copy, Default)]
struct Shared {
    hashes: u32,
    weight: f32,
}

/// When more than one document in this many shares something, looking at all of them beats sorting those that do.
const SORT_BELOW: usize = 16;

/// How many hashes pairs share, over all pairs that share any.
pub struct Background {
    /// For each document, how many others it shares a number of hashes with, by the bin of that number.
    bins: Vec<u32>,
    /// How many pairs share each number of hashes. The last entry counts all larger numbers.
    pub histogram: Vec<u32>,
}

/// Each number below 16 has a bin of its own; above, every doubling has eight. The last bin has all larger numbers.
const BINS: usize = 80;

fn bin(shared: u32) -> usize {
    let doublings = shared.max(8).ilog2() - 3;
    ((doublings as usize * 8) + (shared >> doublings) as usize).min(BINS - 1)
}

fn smallest_in(bin: usize) -> u32 {
    let doublings = (bin / 8).max(1) - 1;
    ((bin - 8 * doublings) << doublings) as u32
}

impl Background {
    fn new(documents: usize) -> Self {
        Background { bins: vec![0; documents * BINS], histogram: vec![0; 1 << 12] }
    }

    fn add(&mut self, left: usize, right: usize, shared: u32) {
        let bin = bin(shared);
        self.bins[left * BINS + bin] += 1;
        self.bins[right * BINS + bin] += 1;
        let last = self.histogram.len() - 1;
        self.histogram[last.min(shared as usize)] += 1;
    }

    fn join(&mut self, other: &Background) {
        let sum = |ours: &mut [u32], theirs: &[u32]| ours.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        sum(&mut self.bins, &other.bins);
        sum(&mut self.histogram, &other.histogram);
    }

    /// Return for each document the median number of hashes it shares with another one, rounded down to its bin. The
    /// largest number is left out. A median stays where it is when there are a few copies.
    pub fn medians(&self, old: &[u8]) -> Vec<u32> {
        let documents = old.len();
        let new = old.iter().filter(|&&old| old == 0).count();
        let median = |(counts, &old): (&[u32], &u8)| {
            let others = if old == 0 { documents - 1 } else { new };
            let sharing = counts.iter().sum::<u32>() as usize;
            // Documents that share nothing come first.
            let mut rank = (others.checked_sub(2)? / 2 + sharing).checked_sub(others)?;
            let holds_median = |&n: &u32| {
                let is_here = rank < n as usize;
                rank = rank.saturating_sub(n as usize);
                is_here
            };
            counts.iter().position(holds_median).map(smallest_in)
        };
        self.bins.chunks_exact(BINS).zip(old).map(|document| median(document).unwrap_or(0)).collect()
    }
}

/// Which documents have which hashes, both ways.
pub struct Postings<'a> {
    /// For each document, the numbers of its hashes; `offsets` tells where each document's begin.
    terms: Vec<u32>,
    offsets: &'a [u64],
    /// For each hash, its documents in order; `starts` tells where each hash's begin.
    owners: Vec<u32>,
    starts: Vec<usize>,
    old: &'a [u8],
}

impl<'a> Postings<'a> {
    /// Take the distinct hashes of all documents one after another. Documents that are `old` are not paired with each
    /// other.
    pub fn new(hashes: &[u64], offsets: &'a [u64], old: &'a [u8]) -> Self {
        let documents = old.len();
        let mut postings: Vec<(u64, u32)> = Vec::with_capacity(hashes.len());
        for d in 0..documents {
            let own = &hashes[offsets[d] as usize..offsets[d + 1] as usize];
            let document = to_u32(d);
            postings.extend(own.iter().map(|&hash| (hash, document)));
        }
        postings.sort_unstable();
        let mut terms = vec![0; hashes.len()];
        let mut ends: Vec<usize> = offsets[..documents].iter().map(|&offset| offset as usize).collect();
        let mut starts = Vec::new();
        for (i, &(hash, document)) in postings.iter().enumerate() {
            if i == 0 || postings[i - 1].0 != hash {
                starts.push(i);
            }
            let end = &mut ends[document as usize];
            terms[*end] = to_u32(starts.len() - 1);
            *end += 1;
        }
        starts.push(postings.len());
        let owners = postings.into_iter().map(|(_, document)| document).collect();
        Postings { terms, offsets, owners, starts, old }
    }

    fn owners(&self, term: u32) -> &[u32] {
        &self.owners[self.starts[term as usize]..self.starts[term as usize + 1]]
    }

    /// Return how many documents have each hash, in the order of the input.
    pub fn frequencies(&self) -> Vec<u32> {
        self.terms.iter().map(|&term| to_u32(self.owners(term).len())).collect()
    }

    /// Return the pairs whose shared hashes weigh at least `min_share` of the lighter document, or at least `enough`,
    /// and the background of all pairs that share any hash. A hash that n documents have weighs `rarity[n]`.
    pub fn pairs(
        &self,
        rarity: &[f32],
        min_share: f32,
        enough: f32,
        threads: usize,
    ) -> (CandidatePairs, Background) {
        let documents = self.old.len();
        let weigh = |d: usize| self.terms_of(d).iter().map(|&t| rarity[self.owners(t).len()]).sum::<f32>();
        let weights: Vec<f32> = (0..documents).map(weigh).collect();
        let work = |range: Range<usize>| {
            let mut shared = vec![Shared::default(); documents];
            let mut sharing = Vec::new();
            let mut pairs = CandidatePairs::default();
            let mut background = Background::new(documents);
            for left in range {
                for &term in self.terms_of(left) {
                    let owners = self.owners(term);
                    let weight = rarity[owners.len()];
                    let behind = owners.partition_point(|&d| d as usize <= left);
                    for &right in &owners[behind..] {
                        let both = &mut shared[right as usize];
                        if both.hashes == 0 {
                            sharing.push(right);
                        }
                        both.hashes += 1;
                        both.weight += weight;
                    }
                }
                if sharing.len() > documents / SORT_BELOW {
                    sharing.clear();
                    sharing
                        .extend((left as u32 + 1..documents as u32).filter(|&d| shared[d as usize].hashes > 0));
                } else {
                    sharing.sort_unstable();
                }
                for right in sharing.drain(..) {
                    let r = right as usize;
                    let Shared { hashes, weight } = std::mem::take(&mut shared[r]);
                    if self.old[left] != 0 && self.old[r] != 0 {
                        continue;
                    }
                    background.add(left, r, hashes);
                    if weight >= enough.min(min_share * weights[left].min(weights[r])) {
                        pairs.documents.extend([left as u32, right]);
                        pairs.shared.push(hashes);
                    }
                }
            }
            (pairs, background)
        };
        let mut pairs = CandidatePairs::default();
        let mut background = Background::new(documents);
        each_in_order(documents, 256, threads, work, |(some, their_background)| {
            pairs.documents.extend(some.documents);
            pairs.shared.extend(some.shared);
            background.join(&their_background);
        });
        (pairs, background)
    }

    fn terms_of(&self, document: usize) -> &[u32] {
        &self.terms[self.offsets[document] as usize..self.offsets[document + 1] as usize]
    }
}
