//! Runs that go through base code -> matches of what was written into it. Places are counted without base code, so what
//! was written at two places of it is as near as if nothing stood between.

use crate::common::How;
use crate::grow::{self, Run, symbols};

/// Matches without base code, which is the same on both sides of a run.
pub fn chain(runs: &[Run], left: &[u8], right: &[u8], how: How) -> Vec<Vec<Run>> {
    let (left_own, right_own) = (own(left), own(right));
    let counted = |own: &[u32], at: u32| own.partition_point(|&place| place < at) as u32;
    let mut islands: Vec<Run> = runs
        .iter()
        .flat_map(|run| islands(run, left, how.k))
        .map(|run| Run { left: counted(&left_own, run.left), right: counted(&right_own, run.right), ..run })
        .collect();
    islands.sort_unstable_by_key(|run| (run.left, run.right));
    let placed =
        |run: &Run| Run { left: left_own[run.left as usize], right: right_own[run.right as usize], ..*run };
    grow::chain(&islands, how.gap)
        .iter()
        .filter(|chain| symbols(chain) >= how.k as u64)
        .map(|chain| chain.iter().map(placed).collect())
        .collect()
}

/// The symbols that are not base code.
fn own(given: &[u8]) -> Vec<u32> {
    (0..given.len() as u32).filter(|&i| given[i as usize] == 0).collect()
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
        if stretch[0] == 0 && (is_whole || stretch.len() >= k) {
            let (from, len) = (start as u32, stretch.len() as u32);
            found.push(Run { left: run.left + from, right: run.right + from, len });
        }
    }
    found
}
