//! Seeds -> matches: each seed grows to the longest equal run around it, once; runs that go on behind a gap belong
//! to one match.

use std::collections::HashMap;

/// A document, or several one after another: its symbols, and its fingerprints sorted by hash.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub symbols: &'a [u32],
    /// Of every symbol, or of none, what it is: see `own.rs`. Base code is like nothing but the same base code.
    pub given: &'a [u8],
    pub hashes: &'a [u64],
    pub positions: &'a [u32],
}

/// Equal symbols: `len` of them from `left` and from `right` on, and different ones before and behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub left: u32,
    pub right: u32,
    pub len: u32,
}

impl Run {
    fn left_end(&self) -> u32 {
        self.left + self.len
    }

    fn right_end(&self) -> u32 {
        self.right + self.len
    }
}

/// A hash that stands so often in both that its seeds are more than this is paired in turn, not each with each.
const MAX_PRODUCT: usize = 1 << 12;

/// Every maximal run of at least k symbols that has a seed in it, sorted by where it begins on the left, and as many
/// more as it takes for all that both have of t symbols to lie in a run on either side.
pub fn runs(left: Side, right: Side, k: usize, t: usize) -> Vec<Run> {
    let mut seeds = seeds(left, right, k, t);
    // By diagonal: the seeds of one run are neighbours then.
    seeds.sort_unstable_by_key(|&(l, r)| (r as i64 - l as i64, l));
    let mut found: Vec<Run> = Vec::new();
    for &(l, r) in &seeds {
        if let Some(last) = found.last()
            && last.right as i64 - last.left as i64 == r as i64 - l as i64
            && l < last.left_end()
        {
            continue;
        }
        let run = grown(left.symbols, right.symbols, l as usize, r as usize);
        if run.len as usize >= k {
            found.push(run); // a collision of hashes grows to less
        }
    }
    add_repeats(left.symbols, right.symbols, &seeds, k, t, &mut found);
    found.sort_unstable_by_key(|run| (run.left, run.right));
    found
}

/// Of grams that are equal within a window one is chosen, and not the same one of all in both documents: the other
/// ones of a seed are looked at too, and their runs added if they are the first to hold some t symbols.
fn add_repeats(left: &[u32], right: &[u32], seeds: &[(u32, u32)], k: usize, t: usize, found: &mut Vec<Run>) {
    let (t, reach) = if t > k { (t, t - k) } else { (k, k) };
    if left.len() < t || right.len() < t {
        return;
    }
    let (mut in_left, mut in_right) = (Starts::default(), Starts::default());
    let starts = |from: u32, len: u32| (from, from + len + 1 - t as u32);
    for run in found.iter().filter(|run| run.len as usize >= t) {
        in_left.add(starts(run.left, run.len));
        in_right.add(starts(run.right, run.len));
    }
    let most = found.len() + MAX_PRODUCT;
    for &(l, r) in seeds {
        let (l, r) = (l as usize, r as usize);
        let Some(gram) = right.get(r..r + k) else { continue };
        for other in (r.saturating_sub(reach)..=r + reach).filter(|&other| other != r) {
            if right.get(other..other + k) != Some(gram) {
                continue;
            }
            // Whatever t symbols hold the gram begin here; those further on have seeds of their own.
            let around =
                |at: usize, len: usize| (at.saturating_sub(reach) as u32, (at.min(len - t) + 1) as u32);
            if in_left.hold(around(l, left.len())) && in_right.hold(around(other, right.len())) {
                continue;
            }
            let run = grown(left, right, l, other);
            if (run.len as usize) < t {
                continue;
            }
            let (a, b) = (starts(run.left, run.len), starts(run.right, run.len));
            if !(in_left.hold(a) && in_right.hold(b)) && found.len() < most {
                in_left.add(a);
                in_right.add(b);
                found.push(run);
            }
        }
    }
}

/// Places from and to, joined where they touch.
#[derive(Default)]
struct Starts(std::collections::BTreeMap<u32, u32>);

impl Starts {
    fn hold(&self, (from, to): (u32, u32)) -> bool {
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

/// Positions of equal hashes.
fn seeds(left: Side, right: Side, k: usize, t: usize) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.hashes.len() && j < right.hashes.len() {
        let (a, b) = (left.hashes[i], right.hashes[j]);
        if a < b {
            i += 1;
        } else if b < a {
            j += 1;
        } else {
            let m = left.hashes[i..].iter().take_while(|&&h| h == a).count();
            let n = right.hashes[j..].iter().take_while(|&&h| h == a).count();
            let (here, there) = (&left.positions[i..i + m], &right.positions[j..j + n]);
            if m * n <= MAX_PRODUCT {
                found.extend(here.iter().flat_map(|&l| there.iter().map(move |&r| (l, r))));
            } else {
                in_turn(here, there, &mut found);
                by_surroundings((left.symbols, here), (right.symbols, there), k, t, &mut found);
            }
            i += m;
            j += n;
        }
    }
    found
}

/// The first with the first and so on, the shorter side over and over, and the last with the last.
fn in_turn(left: &[u32], right: &[u32], found: &mut Vec<(u32, u32)>) {
    let pairs = (0..left.len().max(right.len())).map(|i| (left[i % left.len()], right[i % right.len()]));
    found.extend(pairs.chain(left.last().copied().zip(right.last().copied())));
}

/// Places that lie in the same t symbols, as many into them: each of one side with some of the other.
fn by_surroundings(
    (left, here): (&[u32], &[u32]),
    (right, there): (&[u32], &[u32]),
    k: usize,
    t: usize,
    found: &mut Vec<(u32, u32)>,
) {
    for before in 0..=t.saturating_sub(k) {
        let grouped = |symbols: &[u32], places: &[u32]| -> HashMap<Vec<u32>, Vec<u32>> {
            let mut groups: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
            for &place in places {
                if let Some(from) = (place as usize).checked_sub(before)
                    && let Some(around) = symbols.get(from..from + t.max(k))
                {
                    groups.entry(around.to_vec()).or_default().push(place);
                }
            }
            groups
        };
        let others = grouped(right, there);
        for (around, places) in grouped(left, here) {
            if let Some(others) = others.get(&around) {
                in_turn(&places, others, found);
            }
        }
    }
}

/// The longest equal run around a place.
fn grown(left: &[u32], right: &[u32], l: usize, r: usize) -> Run {
    let behind = left[l..].iter().zip(&right[r..]).take_while(|(a, b)| a == b).count();
    let before = left[..l].iter().rev().zip(right[..r].iter().rev()).take_while(|(a, b)| a == b).count();
    Run { left: (l - before) as u32, right: (r - before) as u32, len: (before + behind) as u32 }
}

/// Runs sorted by where they begin on the left -> matches: each a chain of runs in order on both sides, with at most
/// `gap` other symbols between. Matches that lie within others on both sides are dropped.
pub fn chain(runs: &[Run], gap: u32) -> Vec<Vec<Run>> {
    let mut chains: Vec<Vec<Run>> = Vec::new();
    // Those that may go on, by number.
    let mut open: Vec<usize> = Vec::new();
    for &run in runs {
        open.retain(|&c| {
            chains[c].last().is_some_and(|last| last.left_end() as u64 + gap as u64 >= run.left as u64)
        });
        let best = open
            .iter()
            .filter_map(|&c| Some((distance(chains[c].last()?, &run, gap)?, c)))
            .min_by_key(|&(distance, c)| (distance, std::cmp::Reverse(c)));
        match best {
            Some((_, c)) => chains[c].push(run),
            None => {
                open.push(chains.len());
                chains.push(vec![run]);
            }
        }
        if open.len() > MAX_OPEN {
            open.remove(0);
        }
    }
    without_covered(chains)
}

/// More chains than these at one place are repetition, and the oldest of them stay as they are.
const MAX_OPEN: usize = 64;

/// How far a run is from the end of another, if it may follow: it begins and ends behind the other on both sides, the
/// symbols that both would cover are few, and no gap is larger than allowed.
fn distance(last: &Run, next: &Run, gap: u32) -> Option<u32> {
    let far = |end: u32, start: u32, next_end: u32| {
        let ahead = start as i64 - end as i64;
        (next_end > end && ahead <= gap as i64 && -ahead < (next.len.min(last.len) / 2) as i64)
            .then(|| ahead.unsigned_abs() as u32)
    };
    if next.left <= last.left || next.right <= last.right {
        return None;
    }
    let left = far(last.left_end(), next.left, next.left_end())?;
    let right = far(last.right_end(), next.right, next.right_end())?;
    Some(left + right)
}

/// So many matches are kept that are new only as a pair of places; of more repetition, what is new on either side.
const MAX_REPEATS: usize = 256;

/// With more matches than these it would take too long to tell which those are.
const MAX_LOOKED_AT: usize = 1 << 12;

/// The longest first, drops matches of which all runs lie in runs of those kept, on the left and on the right, if one of
/// those is around both; and where there is much repetition, whichever are around them.
fn without_covered(mut chains: Vec<Vec<Run>>) -> Vec<Vec<Run>> {
    chains.sort_by_key(|chain| (std::cmp::Reverse(symbols(chain)), chain[0].left, chain[0].right));
    let (mut left, mut right) = (Spans::default(), Spans::default());
    let mut kept: Vec<[u32; 4]> = Vec::new();
    let mut repeats = 0;
    chains.retain(|chain| {
        let [from, to, other_from, other_to] = bounds(chain);
        if chain.iter().all(|r| left.hold(r.left, r.left_end()) && right.hold(r.right, r.right_end())) {
            let holds = |[a, b, c, d]: &[u32; 4]| *a <= from && to <= *b && *c <= other_from && other_to <= *d;
            if repeats == MAX_REPEATS || kept.len() > MAX_LOOKED_AT || kept.iter().any(holds) {
                return false;
            }
            repeats += 1;
        }
        for run in chain {
            left.add(run.left, run.left_end());
            right.add(run.right, run.right_end());
        }
        kept.push([from, to, other_from, other_to]);
        true
    });
    chains.sort_by_key(|chain| (chain[0].left, chain[0].right));
    chains
}

pub fn symbols(chain: &[Run]) -> u64 {
    chain.iter().map(|run| run.len as u64).sum()
}

/// From and to on the left, from and to on the right.
fn bounds(chain: &[Run]) -> [u32; 4] {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    [first.left, last.left_end(), first.right, last.right_end()]
}

/// Which of the matches are on one side, run by run, part of some at least twice as long: the same passage again.
pub fn again(chains: &[&[Run]]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(symbols(chains[i])));
    let mut longer = order.iter().map(|&i| chains[i]).peekable();
    let (mut left, mut right) = (Spans::default(), Spans::default());
    let mut found = vec![false; chains.len()];
    for &i in &order {
        let least = 2 * symbols(chains[i]);
        while let Some(chain) = longer.next_if(|chain| symbols(chain) >= least) {
            for run in chain {
                left.add(run.left, run.left_end());
                right.add(run.right, run.right_end());
            }
        }
        found[i] = chains[i].iter().all(|run| left.hold(run.left, run.left_end()))
            || chains[i].iter().all(|run| right.hold(run.right, run.right_end()));
    }
    found
}

/// Spans of which none lies within another.
#[derive(Default)]
struct Spans(std::collections::BTreeMap<u32, u32>);

impl Spans {
    fn hold(&self, start: u32, end: u32) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, &last)| end <= last)
    }

    fn add(&mut self, start: u32, end: u32) {
        if self.hold(start, end) {
            return;
        }
        let inside: Vec<u32> =
            self.0.range(start..).take_while(|(_, last)| **last <= end).map(|(s, _)| *s).collect();
        inside.iter().for_each(|s| {
            self.0.remove(s);
        });
        self.0.insert(start, end);
    }
}
