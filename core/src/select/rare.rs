//! The rarest grams of a document, as Heintze's Koala keeps them: what is rare, only the whole document tells.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::select::hash::{Identity, mix64};
use crate::select::selector::Recipe;

/// A gram is as rare as so many of its first symbols: whole grams are nearly all unique and tell nothing.
const OPENING: usize = 5;

/// Of a document at least nine tenths are looked at, however much is to be passed over.
const PASSED_AT_MOST: usize = 10;

/// How much a gram is wanted, the least first: how often the document has its opening, above its hash, which
/// depends on the seed and on nothing else in the document.
type Rank = u128;

fn rank(times: u32, hash: u64) -> Rank {
    (times as u128) << 64 | hash as u128
}

/// Finds the rarest grams; holds on to its memory from one document to the next.
pub(crate) struct Rare {
    k: usize,
    w: usize,
    skip: usize,
    opening: usize,
    identity: Identity,
    numbers: Numbers,
    /// The polynomials of openings, then of grams.
    values: Vec<u64>,
    /// The number of the opening at each position, and how often each number comes.
    openings: Vec<u32>,
    times: Vec<u32>,
    /// The grams that may be kept, by position: rank and position.
    grams: Vec<(Rank, u32)>,
    sorted: Vec<(Rank, u32)>,
}

impl Rare {
    pub fn new(recipe: &Recipe) -> Self {
        let opening = recipe.k.min(OPENING);
        Rare {
            k: recipe.k,
            w: recipe.w,
            skip: recipe.skip as usize,
            opening,
            identity: Identity::new(opening, recipe.seed),
            numbers: Numbers::new(),
            values: Vec::new(),
            openings: Vec::new(),
            times: Vec::new(),
            grams: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Hash and position of the grams to keep, by position. `identity` names grams of k symbols.
    pub fn choose(&mut self, symbols: &[u32], identity: &Identity) -> impl Iterator<Item = (u64, u32)> {
        self.grams.clear();
        if let Some(last) = symbols.len().checked_sub(self.k) {
            // A document that has a gram keeps one.
            let first = self.skip.min(symbols.len() / PASSED_AT_MOST).min(last);
            self.count_openings(symbols);
            self.gather(symbols, first, last, identity);
        }
        self.grams.iter().map(|&(rank, position)| (rank as u64, position))
    }

    fn count_openings(&mut self, symbols: &[u32]) {
        let Rare { opening, identity, numbers, values, openings, times, .. } = self;
        let most = symbols.len() + 1 - *opening;
        numbers.reset(most);
        openings.clear();
        openings.reserve(most);
        times.clear();
        times.resize(most, 0);
        identity.roll_all(symbols, values);
        for &value in values.iter() {
            let number = numbers.of(value);
            times[number as usize] += 1;
            openings.push(number);
        }
        times.truncate(numbers.used);
    }

    /// The w rarest of the distinct grams from first to last.
    fn gather(&mut self, symbols: &[u32], first: usize, last: usize, identity: &Identity) {
        let limit = self.limit(first, last);
        let mut highest = Rank::MAX;
        self.numbers.reset(0);
        identity.roll_all(&symbols[first..last + self.k], &mut self.values);
        for ((position, &opening), &value) in (first..).zip(&self.openings[first..]).zip(&self.values) {
            let times = self.times[opening as usize];
            if times > limit {
                continue;
            }
            let rank = rank(times, identity.finish(value));
            if rank > highest {
                continue;
            }
            // A gram whose opening comes once comes once.
            let known = self.numbers.used;
            if times == 1 || self.numbers.of(value) as usize == known {
                self.grams.push((rank, position as u32));
                if self.grams.len() == 8 * self.w {
                    highest = thin(&mut self.grams, &mut self.sorted, self.w);
                }
            }
        }
        thin(&mut self.grams, &mut self.sorted, self.w);
    }

    /// A number of times that at least w distinct grams do not exceed, or all grams if there are fewer.
    fn limit(&self, first: usize, last: usize) -> u32 {
        let most = self.times.iter().max().copied().unwrap_or(0) as usize;
        let mut positions = vec![0usize; most + 1];
        for &opening in &self.openings[first..=last] {
            positions[self.times[opening as usize] as usize] += 1;
        }
        let mut distinct = 0;
        for (times, positions) in positions.iter().enumerate().skip(1) {
            // A gram comes at most as often as its opening.
            distinct += positions.div_ceil(times);
            if distinct >= self.w {
                return times as u32;
            }
        }
        most as u32
    }
}

/// Leaves the w grams of the lowest ranks, in their order, and returns the highest of those.
fn thin(grams: &mut Vec<(Rank, u32)>, sorted: &mut Vec<(Rank, u32)>, w: usize) -> Rank {
    if grams.len() <= w {
        return Rank::MAX;
    }
    sorted.clone_from(grams);
    let (highest, _) = *sorted.select_nth_unstable(w - 1).1;
    grams.retain(|(rank, _)| *rank <= highest);
    highest
}

/// Numbers keys from 0 in the order in which they first come: a table with open addressing.
struct Numbers {
    /// A key and its number, or `FREE`.
    slots: Vec<(u64, u32)>,
    /// The memory of the table before it grew.
    spare: Vec<(u64, u32)>,
    used: usize,
    /// Decides where keys are put, so that no document can be written to have them all in one place.
    secret: u64,
}

const FREE: u32 = u32::MAX;

impl Numbers {
    /// A table begins with this many slots at least and at most: it should not be much larger than what will be
    /// in it, which in a long text are ever fewer new keys.
    const SLOTS: (usize, usize) = (1 << 10, 1 << 18);

    fn new() -> Self {
        let secret = RandomState::new().hash_one(0);
        Numbers { slots: Vec::new(), spare: Vec::new(), used: 0, secret }
    }

    /// Forgets all keys; so many will come, equal ones counted.
    fn reset(&mut self, keys: usize) {
        let size = keys.next_power_of_two().clamp(Self::SLOTS.0, Self::SLOTS.1);
        self.slots.clear();
        self.slots.resize(size, (0, FREE));
        self.used = 0;
    }

    #[inline(always)]
    fn of(&mut self, key: u64) -> u32 {
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let slot = self.find(key);
        // Written always: whether a key is new cannot be foretold, and a wrong guess costs more.
        let slot = &mut self.slots[slot];
        let is_new = slot.1 == FREE;
        let number = if is_new { self.used as u32 } else { slot.1 };
        *slot = (key, number);
        self.used += is_new as usize;
        number
    }

    /// The slot that holds the key or is free for it.
    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = mix64(key ^ self.secret) as usize & mask;
        while (self.slots[slot].1 != FREE) & (self.slots[slot].0 != key) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        let smaller = std::mem::replace(&mut self.slots, std::mem::take(&mut self.spare));
        self.slots.clear();
        self.slots.resize(size, (0, FREE));
        for &(key, number) in smaller.iter().filter(|(_, number)| *number != FREE) {
            let slot = self.find(key);
            self.slots[slot] = (key, number);
        }
        self.spare = smaller;
    }
}
