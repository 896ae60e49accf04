//! Runs that go through base code -> matches of what was written into it. Places are counted without base code, so what
//! was written at two places of it is as near as if nothing stood between.

use crate::compare::matches::How;
use crate::compare::seeds::{self, Run, symbols};

/// Base code is 1, what is between documents is 2.
const OWN: u8 = 0;

/// Matches without base code, which is the same on both sides of a run.
pub fn chain(runs: &[Run], left: &[u8], right: &[u8], how: How) -> Vec<Vec<Run>> {
    let (left_own, right_own) = (Own::new(left, how.gap), Own::new(right, how.gap));
    let mut islands: Vec<Run> = runs
        .iter()
        .flat_map(|run| islands(run, left, how.k))
        .map(|run| Run { left: left_own.count(run.left), right: right_own.count(run.right), ..run })
        .collect();
    islands.sort_unstable_by_key(|run| (run.left, run.right));
    let placed = |run: &Run| Run { left: left_own.place(run.left), right: right_own.place(run.right), ..*run };
    seeds::chain(&islands, how.gap)
        .iter()
        .filter(|chain| symbols(chain) >= how.k as u64)
        .map(|chain| chain.iter().map(placed).collect())
        .collect()
}

/// The symbols that are not base code: where they stand, and how many are before. What is between documents counts as
/// more than a gap, so that no match goes on in another one: each by itself must be long enough.
struct Own {
    places: Vec<u32>,
    counts: Vec<u32>,
}

impl Own {
    fn new(given: &[u8], gap: u32) -> Self {
        let (mut places, mut counts) = (Vec::new(), Vec::new());
        let mut count = 0;
        for (place, &kind) in given.iter().enumerate() {
            if kind == OWN {
                places.push(place as u32);
                counts.push(count);
            }
            count += [1, 0, gap + 1][kind as usize];
        }
        Own { places, counts }
    }

    fn count(&self, place: u32) -> u32 {
        self.counts[self.places.binary_search(&place).expect("runs are cut to what is not base code")]
    }

    fn place(&self, count: u32) -> u32 {
        self.places[self.counts.binary_search(&count).expect("it was counted")]
    }
}

/// What of a run is not base code. What ends where the two differ must be long enough to be a run by itself; what
/// stands between base code is all that was written there.
fn islands(run: &Run, given: &[u8], k: usize) -> Vec<Run> {
    let given = &given[run.left as usize..(run.left + run.len) as usize];
    let mut found = Vec::new();
    let mut at = 0;
    for stretch in given.chunk_by(|a, b| a == b) {
        let (start, end) = (at, at + stretch.len());
        at = end;
        let is_whole = start > 0 && end < given.len();
        if stretch[0] == OWN && (is_whole || stretch.len() >= k) {
            let (from, len) = (start as u32, stretch.len() as u32);
            found.push(Run { left: run.left + from, right: run.right + from, len });
        }
    }
    found
}
