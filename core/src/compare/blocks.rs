//! Merges the matches of documents that repeat themselves into blocks.
//!
//! Where the same few statements or rows follow each other in ever new order, a pair has more matches than anybody can
//! look at, and most of them overlap. There it is enough that every t symbols that both have lie in a run on each side.
//! Of these runs, all that lie in one stretch of the left and in one stretch of the right are a block. Its runs are in
//! order on the left only, and shared symbols inside it lie in some run, not always all t in the same.

use std::collections::BTreeMap;

use crate::compare::cover::Starts;
use crate::compare::seeds::Run;

/// Return as few runs as it takes for all stretches of t symbols that lie in a run to lie in one of these, on each side.
/// The longest run is always among them. Shorter runs than t are dropped, unless there are no others.
pub fn thin(runs: &[Run], t: u32) -> Vec<Run> {
    let Some(longest) = runs.iter().max_by_key(|run| run.len) else { return Vec::new() };
    let t = t.min(longest.len);
    let mut runs: Vec<Run> = runs.iter().copied().filter(|run| run.len >= t).collect();
    let mut few = vec![*longest];
    for side in [Run::left_start, Run::right_start] {
        runs.sort_unstable_by_key(|run| (side(run), run.len));
        let first = side(&runs[0]);
        let start = |run: &Run| side(run) - first;
        let end = |run: &Run| start(run) + run.len;
        let size = runs.iter().map(end).max().unwrap_or(0);
        let mut covered = Starts::new(size as usize, t as usize);
        few.iter().for_each(|run| covered.add(start(run), run.len));
        let mut next = 0;
        let mut farthest = runs[0];
        for position in 0..=size - t {
            while let Some(run) = runs.get(next).filter(|run| start(run) <= position) {
                farthest = if end(run) > end(&farthest) { *run } else { farthest };
                next += 1;
            }
            if !covered.has(position as usize) && end(&farthest) >= position + t {
                covered.add(start(&farthest), farthest.len);
                few.push(farthest);
            }
        }
    }
    few
}

/// Group runs by the stretches they lie in. In a stretch, at most `gap` symbols are between two runs, and none of them
/// is a separator; `separators` has their positions on each side.
pub fn blocks(runs: &[Run], gap: u32, separators: [&[u32]; 2]) -> Vec<Vec<Run>> {
    let lefts = stretches(runs, gap, separators[0], Run::left_start);
    let rights = stretches(runs, gap, separators[1], Run::right_start);
    let mut groups: BTreeMap<(usize, usize), Vec<Run>> = BTreeMap::new();
    for ((&run, left), right) in runs.iter().zip(lefts).zip(rights) {
        groups.entry((left, right)).or_default().push(run);
    }
    let mut blocks: Vec<Vec<Run>> = groups.values().map(|block| thin(block, 1)).collect();
    blocks.iter_mut().for_each(|block| block.sort_unstable_by_key(|run| (run.left, run.right)));
    blocks.sort_by_key(|block| (block[0].left, block[0].right));
    blocks
}

/// Return the number of the stretch that each run lies in, on one side.
fn stretches(runs: &[Run], gap: u32, separators: &[u32], start: impl Fn(&Run) -> u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_unstable_by_key(|&i| start(&runs[i]));
    let mut numbers = vec![0; runs.len()];
    let (mut number, mut reached) = (0, 0);
    for i in order {
        let from = start(&runs[i]);
        let next_separator = separators.get(separators.partition_point(|&position| position < reached));
        if from > reached.saturating_add(gap) || next_separator.is_some_and(|&position| position < from) {
            number += 1;
        }
        numbers[i] = number;
        reached = reached.max(from + runs[i].len);
    }
    numbers
}
