//! Finds matches of what people wrote into base code, such as answers in a form.
//!
//! A symbol of base code stands for its position there, so a run goes on where both documents have the same base code.
//! Here base code is cut out of the runs, and what is left is joined as if nothing had stood between. Answers in a form
//! are often shorter than a gram, and would not be found otherwise.

use crate::compare::chain::symbols;
use crate::compare::matches::Settings;
use crate::compare::seeds::Run;
use crate::compare::to_u32;

/// Kinds of symbols: a document's own, base code, and separators between the files of a document.
const OWN: u8 = 0;
const BASE_CODE: u8 = 1;

/// Join the parts of runs that are not base code to matches. Matches of fewer than k symbols are dropped.
pub fn join(
    runs: &[Run],
    [left, right]: [&[u8]; 2],
    settings: Settings,
    join: impl Fn(&[Run]) -> Vec<Vec<Run>>,
) -> Vec<Vec<Run>> {
    let (left_ranks, right_ranks) = (Ranks::new(left, settings.gap), Ranks::new(right, settings.gap));
    let mut own: Vec<Run> = runs
        .iter()
        .flat_map(|run| own_parts(run, left, settings.k))
        .map(|run| Run { left: left_ranks.rank(run.left), right: right_ranks.rank(run.right), ..run })
        .collect();
    own.sort_unstable_by_key(|run| (run.left, run.right));
    let restore =
        |run: &Run| Run { left: left_ranks.position(run.left), right: right_ranks.position(run.right), ..*run };
    join(&own)
        .iter()
        .filter(|chain| symbols(chain) >= settings.k as u64)
        .map(|chain| chain.iter().map(restore).collect())
        .collect()
}

/// Translates between the positions of a document's own symbols and their ranks, which leave base code out.
///
/// A separator counts as more than a gap. So no match goes on in another file, and each file's part must be long enough
/// by itself.
struct Ranks {
    positions: Vec<u32>,
    ranks: Vec<u32>,
}

impl Ranks {
    fn new(kinds: &[u8], gap: u32) -> Self {
        let (mut positions, mut ranks) = (Vec::new(), Vec::new());
        let mut rank = 0u32;
        for (position, &kind) in kinds.iter().enumerate() {
            let step = match kind {
                OWN => {
                    positions.push(to_u32(position));
                    ranks.push(rank);
                    1
                }
                BASE_CODE => 0,
                _ => gap + 1,
            };
            rank = rank.checked_add(step).expect("documents of fewer than 2^32 symbols");
        }
        Ranks { positions, ranks }
    }

    fn rank(&self, position: u32) -> u32 {
        self.ranks[self.positions.binary_search(&position).expect("a position of an own symbol")]
    }

    fn position(&self, rank: u32) -> u32 {
        self.positions[self.ranks.binary_search(&rank).expect("a rank of an own symbol")]
    }
}

/// Return the parts of a run that are not base code. A part between base code on both sides is all that was written
/// there, whatever its length. A part at an end of the run goes on differently in the two documents, so it must be as
/// long as a gram.
fn own_parts(run: &Run, kinds: &[u8], k: usize) -> Vec<Run> {
    let kinds = &kinds[run.left as usize..run.left_end() as usize];
    let mut parts = Vec::new();
    let mut end = 0;
    for part in kinds.chunk_by(|a, b| a == b) {
        let start = end;
        end = start + part.len();
        let is_between = start > 0 && end < kinds.len();
        if part[0] == OWN && (is_between || part.len() >= k) {
            let (offset, len) = (to_u32(start), to_u32(part.len()));
            parts.push(Run { left: run.left + offset, right: run.right + offset, len });
        }
    }
    parts
}
