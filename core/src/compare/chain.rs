//! Chains runs to matches: runs in the same order on both sides, with small gaps between them.
//!
//! Every two equal positions lie in one match. Only where a document repeats itself is it enough that each position
//! lies in some match: a gram several times within a window, too many seeds, or more than `MAX_REPEATS` matches of
//! passages that other matches already cover.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::compare::seeds::Run;

/// Chains that may go on at one position. More than this is repetition, and the oldest end where they are.
const MAX_OPEN: usize = 64;

/// Matches kept whose positions are covered on each side, but not as this pair of passages.
const MAX_REPEATS: usize = 256;

/// Matches among which one that contains another is searched. With more, the search would take too long.
const MAX_CONTAINERS: usize = 1 << 12;

/// Return the matches of runs that are sorted by their start on the left, with at most `gap` other symbols between
/// two runs. Matches that lie within others on both sides are dropped.
pub fn chain(runs: &[Run], gap: u32) -> Vec<Vec<Run>> {
    let mut chains: Vec<Vec<Run>> = Vec::new();
    // The chains that may go on, each with its last run.
    let mut open: Vec<(usize, Run)> = Vec::new();
    for &run in runs {
        open.retain(|(_, last)| last.left_end() as u64 + gap as u64 >= run.left as u64);
        let nearest = open
            .iter_mut()
            .filter_map(|(c, last)| Some((distance(last, &run, gap)?, *c, last)))
            .min_by_key(|&(distance, c, _)| (distance, Reverse(c)));
        match nearest {
            Some((_, c, last)) => {
                chains[c].push(run);
                *last = run;
            }
            None => {
                open.push((chains.len(), run));
                chains.push(vec![run]);
            }
        }
        if open.len() > MAX_OPEN {
            open.remove(0);
        }
    }
    drop_covered(chains)
}

/// Return how far `next` is from the end of `last`, or None if it cannot follow. It must begin and end behind `last` on
/// both sides, overlap it by less than half of the shorter run, and leave no gap larger than `gap`.
fn distance(last: &Run, next: &Run, gap: u32) -> Option<u32> {
    let on_one_side = |end: u32, start: u32, next_end: u32| {
        let ahead = start as i64 - end as i64;
        (next_end > end && ahead <= gap as i64 && -ahead < (next.len.min(last.len) / 2) as i64)
            .then(|| ahead.unsigned_abs() as u32)
    };
    if next.left <= last.left || next.right <= last.right {
        return None;
    }
    let left = on_one_side(last.left_end(), next.left, next.left_end())?;
    let right = on_one_side(last.right_end(), next.right, next.right_end())?;
    Some(left + right)
}

/// Go from the longest match down and drop those whose runs all lie in runs of longer ones, on the left and on the
/// right. One of these must contain the whole match, unless there are too many to tell.
fn drop_covered(mut chains: Vec<Vec<Run>>) -> Vec<Vec<Run>> {
    chains.sort_by_key(|chain| (Reverse(symbols(chain)), chain[0].left, chain[0].right));
    let (mut left, mut right) = (Spans::default(), Spans::default());
    // Where each longer match starts and ends on the left, and on the right.
    let mut longer: Vec<[u32; 4]> = Vec::new();
    let mut repeats = 0;
    chains.retain(|chain| {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let bounds = [first.left, last.left_end(), first.right, last.right_end()];
        if chain.iter().all(|r| left.contain(r.left, r.left_end()) && right.contain(r.right, r.right_end())) {
            let [from, to, other_from, other_to] = bounds;
            let contains =
                |[a, b, c, d]: &[u32; 4]| *a <= from && to <= *b && *c <= other_from && other_to <= *d;
            if repeats == MAX_REPEATS || longer.len() > MAX_CONTAINERS || longer.iter().any(contains) {
                return false;
            }
            repeats += 1;
        }
        for run in chain {
            left.add(run.left, run.left_end());
            right.add(run.right, run.right_end());
        }
        longer.push(bounds);
        true
    });
    chains.sort_by_key(|chain| (chain[0].left, chain[0].right));
    chains
}

/// Count the symbols of a match.
pub fn symbols(chain: &[Run]) -> u64 {
    chain.iter().map(|run| run.len as u64).sum()
}

/// Tell which matches are repeats: run by run, on one side, part of matches at least twice as long.
///
/// Somebody who copies a page copies it once. A name or phrase of it that stands elsewhere in the source was not copied,
/// so prose lists repeats apart. Programs do not: their symbols stand for any names, and short passages that were
/// copied do lie within longer ones by chance.
pub fn repeats(chains: &[&[Run]]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by_key(|&i| Reverse(symbols(chains[i])));
    let mut longest_first = order.iter().map(|&i| chains[i]).peekable();
    let (mut left, mut right) = (Spans::default(), Spans::default());
    let mut is_repeat = vec![false; chains.len()];
    for &i in &order {
        let twice = 2 * symbols(chains[i]);
        while let Some(chain) = longest_first.next_if(|chain| symbols(chain) >= twice) {
            for run in chain {
                left.add(run.left, run.left_end());
                right.add(run.right, run.right_end());
            }
        }
        is_repeat[i] = chains[i].iter().all(|run| left.contain(run.left, run.left_end()))
            || chains[i].iter().all(|run| right.contain(run.right, run.right_end()));
    }
    is_repeat
}

/// Spans by their start. None lies within another.
#[derive(Default)]
struct Spans(BTreeMap<u32, u32>);

impl Spans {
    /// Whether one of them contains this span.
    fn contain(&self, start: u32, end: u32) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, &last)| end <= last)
    }

    fn add(&mut self, start: u32, end: u32) {
        if self.contain(start, end) {
            return;
        }
        while let Some((&inner, _)) = self.0.range(start..).next().filter(|(_, last)| **last <= end) {
            self.0.remove(&inner);
        }
        self.0.insert(start, end);
    }
}
