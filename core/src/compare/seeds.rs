//! Finds seeds, which are equal fingerprints, and extends each to the maximal run of equal symbols around it.
//!
//! Every run of t symbols that two documents share holds a seed, because in every window both choose the same gram.
//! The exception is a gram that stands several times in one window: the documents may choose different copies of it.
//! So the other copies near a seed are tried too, and a run of theirs is kept when it is the first to hold some t
//! symbols that both documents have.

use std::collections::{BTreeMap, HashMap};

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
    pub fn left_end(&self) -> u32 {
        self.left + self.len
    }

    pub fn right_end(&self) -> u32 {
        self.right + self.len
    }
}

/// A position on the left and one on the right where the same gram begins.
pub(crate) type Seed = (u32, u32);

/// Seeds of one hash. With more, not every position on the left is paired with every one on the right.
pub(crate) const MAX_PRODUCT: usize = 1 << 12;

/// Return the maximal runs of at least k symbols that hold a seed, sorted by their start on the left, and as many
/// others as it takes for every t symbols that both have to lie in a run on either side.
pub fn maximal_runs(left: Side, right: Side, k: usize, t: usize) -> Vec<Run> {
    runs_of_seeds(left.symbols, right.symbols, find_seeds(left, right, k, t), k, t)
}

/// Extend seeds to runs, and add those of other copies of their grams.
pub(crate) fn runs_of_seeds(left: &[u32], right: &[u32], mut seeds: Vec<Seed>, k: usize, t: usize) -> Vec<Run> {
    let diagonal = |l: u32, r: u32| r as i64 - l as i64;
    // The seeds of one run lie on one diagonal and become neighbours.
    seeds.sort_unstable_by_key(|&(l, r)| (diagonal(l, r), l));
    let mut runs: Vec<Run> = Vec::new();
    for &(l, r) in &seeds {
        let is_inside = |run: &Run| diagonal(run.left, run.right) == diagonal(l, r) && l < run.left_end();
        if runs.last().is_some_and(is_inside) {
            continue;
        }
        let run = extend(left, right, l as usize, r as usize);
        // A collision of hashes extends to less than a gram.
        if run.len as usize >= k {
            runs.push(run);
        }
    }
    add_runs_of_other_copies(left, right, &seeds, k, t, &mut runs);
    runs.sort_unstable_by_key(|run| (run.left, run.right));
    runs
}

/// Try the other copies of a seed's gram that stand near it on the right.
fn add_runs_of_other_copies(
    left: &[u32],
    right: &[u32],
    seeds: &[Seed],
    k: usize,
    t: usize,
    runs: &mut Vec<Run>,
) {
    let (t, reach) = if t > k { (t, t - k) } else { (k, k) };
    if left.len() < t || right.len() < t {
        return;
    }
    // Where the stretches of t symbols begin that lie in a run, on each side.
    let (mut in_left, mut in_right) = (Ranges::default(), Ranges::default());
    let starts = |from: u32, len: u32| (from, from + len + 1 - t as u32);
    for run in runs.iter().filter(|run| run.len as usize >= t) {
        in_left.add(starts(run.left, run.len));
        in_right.add(starts(run.right, run.len));
    }
    let max_runs = runs.len() + MAX_PRODUCT;
    for &(l, r) in seeds {
        let (l, r) = (l as usize, r as usize);
        let Some(gram) = right.get(r..r + k) else { continue };
        for copy in (r.saturating_sub(reach)..=r + reach).filter(|&copy| copy != r) {
            // Nearly always the first symbol tells already.
            if right.get(copy) != Some(&gram[0]) || right.get(copy..copy + k) != Some(gram) {
                continue;
            }
            // All stretches of t symbols that hold the gram begin here.
            let around = |position: usize, len: usize| {
                (to_u32(position.saturating_sub(reach)), to_u32(position.min(len - t) + 1))
            };
            if in_left.contain(around(l, left.len())) && in_right.contain(around(copy, right.len())) {
                continue;
            }
            let run = extend(left, right, l, copy);
            if (run.len as usize) < t {
                continue;
            }
            let (on_left, on_right) = (starts(run.left, run.len), starts(run.right, run.len));
            if !(in_left.contain(on_left) && in_right.contain(on_right)) && runs.len() < max_runs {
                in_left.add(on_left);
                in_right.add(on_right);
                runs.push(run);
            }
        }
    }
}

/// Half-open ranges, joined where they touch.
#[derive(Default)]
struct Ranges(BTreeMap<u32, u32>);

impl Ranges {
    fn contain(&self, (from, to): (u32, u32)) -> bool {
        self.0.range(..=from).next_back().is_some_and(|(_, &end)| to <= end)
    }

    fn add(&mut self, (mut from, mut to): (u32, u32)) {
        while let Some((&start, &end)) = self.0.range(..=to).next_back()
            && end >= from
        {
            self.0.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.0.insert(from, to);
    }
}

/// Pair the positions of equal hashes.
fn find_seeds(left: Side, right: Side, k: usize, t: usize) -> Vec<Seed> {
    let mut seeds = Vec::new();
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
            let (lefts, rights) = (&left.positions[i..i + m], &right.positions[j..j + n]);
            if m * n <= MAX_PRODUCT {
                seeds.extend(lefts.iter().flat_map(|&l| rights.iter().map(move |&r| (l, r))));
            } else {
                pair_in_turn(lefts, rights, &mut seeds);
                pair_by_context((left.symbols, lefts), (right.symbols, rights), k, t, &mut seeds);
            }
            i += m;
            j += n;
        }
    }
    seeds
}

/// Pair the first with the first and so on, cycling through the shorter side, and the last with the last.
pub(crate) fn pair_in_turn(left: &[u32], right: &[u32], seeds: &mut Vec<Seed>) {
    let pairs = (0..left.len().max(right.len())).map(|i| (left[i % left.len()], right[i % right.len()]));
    seeds.extend(pairs.chain(left.last().copied().zip(right.last().copied())));
}

/// Pair positions that lie equally far into the same t symbols, each with some of the other side.
pub(crate) fn pair_by_context(
    (left, lefts): (&[u32], &[u32]),
    (right, rights): (&[u32], &[u32]),
    k: usize,
    t: usize,
    seeds: &mut Vec<Seed>,
) {
    for before in 0..=t.saturating_sub(k) {
        let by_context = |symbols: &[u32], positions: &[u32]| -> HashMap<Vec<u32>, Vec<u32>> {
            let mut groups: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
            for &position in positions {
                if let Some(from) = (position as usize).checked_sub(before)
                    && let Some(context) = symbols.get(from..from + t.max(k))
                {
                    groups.entry(context.to_vec()).or_default().push(position);
                }
            }
            groups
        };
        let on_right = by_context(right, rights);
        for (context, positions) in by_context(left, lefts) {
            if let Some(others) = on_right.get(&context) {
                pair_in_turn(&positions, others, seeds);
            }
        }
    }
}

/// Return the longest run of equal symbols around two positions.
pub(crate) fn extend(left: &[u32], right: &[u32], l: usize, r: usize) -> Run {
    let behind = left[l..].iter().zip(&right[r..]).take_while(|(a, b)| a == b).count();
    let before = left[..l].iter().rev().zip(right[..r].iter().rev()).take_while(|(a, b)| a == b).count();
    Run { left: to_u32(l - before), right: to_u32(r - before), len: to_u32(before + behind) }
}
