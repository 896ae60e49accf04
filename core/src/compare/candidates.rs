//! Postings -> pairs: which documents have how much in common, without a look at those that have nothing.

use std::ops::Range;

use crate::machine::parallel::each_in_order;

/// Documents with something in common, left, right, left, right, and how many hashes each two share: in columns, since
/// in a class where everybody shares something these are the largest there are.
#[derive(Default)]
pub struct Pairs {
    pub documents: Vec<u32>,
    pub shared: Vec<u32>,
}

/// What a document has in common with the one that is looked at.
#[derive(Clone, Copy, Default)]
struct Common {
    shared: u32,
    weight: f32,
}

/// Of so many documents one must have been met for it to be faster to look at all than to sort those that were.
const FEW: usize = 16;

/// How many hashes pairs share, over all pairs with anything in common.
pub struct Usual {
    /// For each document with how many others it shares how much, by level.
    levels: Vec<u32>,
    /// How many pairs share so many; the last counts all with more.
    pub histogram: Vec<u32>,
}

/// Numbers below 16 have a level each, larger ones eight each time they double; the last has all that are larger still.
const LEVELS: usize = 80;

fn level(shared: u32) -> usize {
    let doubled = shared.max(8).ilog2() - 3;
    ((doubled as usize * 8) + (shared >> doubled) as usize).min(LEVELS - 1)
}

/// The smallest number of a level.
fn smallest(level: usize) -> u32 {
    let doubled = (level / 8).max(1) - 1;
    ((level - 8 * doubled) << doubled) as u32
}

impl Usual {
    fn new(documents: usize) -> Self {
        Usual { levels: vec![0; documents * LEVELS], histogram: vec![0; 1 << 12] }
    }

    fn add(&mut self, left: usize, right: usize, shared: u32) {
        let level = level(shared);
        self.levels[left * LEVELS + level] += 1;
        self.levels[right * LEVELS + level] += 1;
        let last = self.histogram.len() - 1;
        self.histogram[last.min(shared as usize)] += 1;
    }

    fn join(&mut self, other: &Usual) {
        let pairs =
            self.levels.iter_mut().zip(&other.levels).chain(self.histogram.iter_mut().zip(&other.histogram));
        pairs.for_each(|(mine, theirs)| *mine += *theirs);
    }

    /// What each document usually shares with another: the median, by its level, of all but one that has more. A few
    /// copies make no difference to it.
    pub fn medians(&self, old: &[u8]) -> Vec<u32> {
        let new = old.iter().filter(|&&old| old == 0).count();
        let median = |(counts, &old): (&[u32], &u8)| {
            let others = if old == 0 { self.levels.len() / LEVELS - 1 } else { new };
            let mut left =
                (others.checked_sub(2)? / 2 + counts.iter().sum::<u32>() as usize).checked_sub(others)?;
            let found = counts.iter().position(|&n| {
                let here = left < n as usize;
                left = left.saturating_sub(n as usize);
                here
            });
            found.map(smallest)
        };
        self.levels.chunks_exact(LEVELS).zip(old).map(|one| median(one).unwrap_or(0)).collect()
    }
}

pub struct Postings<'a> {
    /// The distinct hashes of each document as numbers of terms, and where each document's begin.
    terms: Vec<u32>,
    offsets: &'a [u64],
    /// The documents of each term, in order, and where each term's begin.
    owners: Vec<u32>,
    starts: Vec<usize>,
    old: &'a [u8],
}

impl<'a> Postings<'a> {
    /// Of documents whose distinct hashes are given one after another; `old` ones are not compared with each other.
    pub fn new(hashes: &[u64], offsets: &'a [u64], old: &'a [u8]) -> Self {
        let documents = old.len();
        let mut all: Vec<(u64, u32)> = Vec::with_capacity(hashes.len());
        for d in 0..documents {
            all.extend(hashes[offsets[d] as usize..offsets[d + 1] as usize].iter().map(|&h| (h, d as u32)));
        }
        all.sort_unstable();
        let mut terms = vec![0; hashes.len()];
        let mut filled: Vec<usize> = offsets[..documents].iter().map(|&o| o as usize).collect();
        let mut starts = Vec::new();
        for (i, &(hash, document)) in all.iter().enumerate() {
            if i == 0 || all[i - 1].0 != hash {
                starts.push(i);
            }
            let slot = &mut filled[document as usize];
            terms[*slot] = (starts.len() - 1) as u32;
            *slot += 1;
        }
        starts.push(all.len());
        Postings { terms, offsets, owners: all.into_iter().map(|(_, d)| d).collect(), starts, old }
    }

    fn owners(&self, term: u32) -> &[u32] {
        &self.owners[self.starts[term as usize]..self.starts[term as usize + 1]]
    }

    /// In how many documents each posting's hash stands, in the order of the terms of each document.
    pub fn frequencies(&self) -> Vec<u32> {
        self.terms.iter().map(|&term| self.owners(term).len() as u32).collect()
    }

    /// Pairs whose weight is at least `least` of the lighter one's, and what is usual among all with anything in
    /// common; `rarity` is the weight of a hash by the number of documents it stands in.
    pub fn pairs(&self, rarity: &[f32], least: f32, threads: usize) -> (Pairs, Usual) {
        let documents = self.old.len();
        let weigh = |d: usize| self.of(d).iter().map(|&t| rarity[self.owners(t).len()]).sum::<f32>();
        let totals: Vec<f32> = (0..documents).map(weigh).collect();
        let mut all = (Pairs::default(), Usual::new(documents));
        let count = |range: Range<usize>| {
            let mut common = vec![Common::default(); documents];
            let mut touched = Vec::new();
            let mut pairs = Pairs::default();
            let mut usual = Usual::new(documents);
            for left in range {
                for &term in self.of(left) {
                    let owners = self.owners(term);
                    let weight = rarity[owners.len()];
                    let behind = owners.partition_point(|&d| d as usize <= left);
                    for &right in &owners[behind..] {
                        let both = &mut common[right as usize];
                        if both.shared == 0 {
                            touched.push(right);
                        }
                        both.shared += 1;
                        both.weight += weight;
                    }
                }
                if touched.len() > documents / FEW {
                    touched.clear();
                    touched
                        .extend((left as u32 + 1..documents as u32).filter(|&d| common[d as usize].shared > 0));
                } else {
                    touched.sort_unstable();
                }
                for right in touched.drain(..) {
                    let r = right as usize;
                    let Common { shared, weight } = std::mem::take(&mut common[r]);
                    if self.old[left] != 0 && self.old[r] != 0 {
                        continue;
                    }
                    usual.add(left, r, shared);
                    if weight >= least * totals[left].min(totals[r]) {
                        pairs.documents.extend([left as u32, right]);
                        pairs.shared.push(shared);
                    }
                }
            }
            (pairs, usual)
        };
        each_in_order(documents, 256, threads, count, |(pairs, usual)| {
            all.0.documents.extend(pairs.documents);
            all.0.shared.extend(pairs.shared);
            all.1.join(&usual);
        });
        all
    }

    fn of(&self, document: usize) -> &[u32] {
        &self.terms[self.offsets[document] as usize..self.offsets[document + 1] as usize]
    }
}
