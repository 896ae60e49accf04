//! Covers what two documents share where they repeat themselves, with few runs.
//!
//! A passage that stands m times in one document and n times in the other has m * n runs. It is enough that every t
//! symbols that both have lie in one run on each side: from the first place that lies in none yet, take the run that
//! reaches farthest, and go on behind it.

use crate::compare::all_grams::GramIndex;
use crate::compare::seeds::{Run, extend};

/// Places on the other side that are tried for one place. With more, the run may not be the one that reaches farthest.
const MAX_TRIED: usize = 16;

/// Add runs until every t symbols that both documents have lie in a run, on the left and on the right.
pub(crate) fn add_covering_runs(left: &[u32], right: &[u32], t: usize, runs: &mut Vec<Run>) {
    if left.len() < t || right.len() < t {
        return;
    }
    let (mut on_left, mut on_right) = (Starts::new(left.len(), t), Starts::new(right.len(), t));
    for run in runs.iter() {
        on_left.add(run.left, run.len);
        on_right.add(run.right, run.len);
    }
    cover(left, right, t, &mut on_left, |run| {
        on_right.add(run.right, run.len);
        runs.push(run);
    });
    cover(right, left, t, &mut on_right, |run| {
        runs.push(Run { left: run.right, right: run.left, len: run.len });
    });
}

/// Cover one document with runs that it shares with another.
fn cover(symbols: &[u32], other: &[u32], t: usize, covered: &mut Starts, mut add: impl FnMut(Run)) {
    let index = GramIndex::new(other, t);
    let mut last: Option<Run> = None;
    index.each_shared(symbols, |position, positions| {
        if covered.has(position) {
            return;
        }
        // Where only a few symbols were changed, the documents go on side by side.
        let beside = last.and_then(|run| (position + run.right as usize).checked_sub(run.left as usize));
        // If there are too many, some from all over the document: from one of those a long run goes on.
        let step = positions.len().div_ceil(MAX_TRIED);
        let places = beside.into_iter().chain(positions.iter().step_by(step).map(|&place| place as usize));
        let reach = |place: usize| {
            let both = symbols[position..].iter().zip(other.get(place..).unwrap_or_default());
            both.take_while(|(a, b)| a == b).count()
        };
        // The first of those that reach equally far.
        let best = places.map(|place| (reach(place), place)).reduce(|a, b| if b.0 > a.0 { b } else { a });
        if let Some((_, place)) = best.filter(|&(reach, _)| reach >= t) {
            let run = extend(symbols, other, position, place);
            covered.add(run.left, run.len);
            add(run);
            last = Some(run);
        }
    });
}

/// Where the stretches of t symbols begin that lie in a run.
pub(crate) struct Starts {
    is_covered: Vec<bool>,
    t: usize,
}

impl Starts {
    pub fn new(len: usize, t: usize) -> Self {
        Starts { is_covered: vec![false; (len + 1).saturating_sub(t)], t }
    }

    pub fn has(&self, position: usize) -> bool {
        self.is_covered[position]
    }

    /// Add those of a run. A shorter run has none.
    pub fn add(&mut self, start: u32, len: u32) {
        let (start, len) = (start as usize, len as usize);
        if len >= self.t {
            self.is_covered[start..=start + len - self.t].fill(true);
        }
    }
}
