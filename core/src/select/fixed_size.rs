//! The same number of grams from every document, as Heintze's Koala chooses them: those with the smallest hashes, or the
//! rarest first. Only the whole document tells what is rare, and how much of its start may be skipped.
//!
//! Rarity is counted in a table that nobody can aim at: where a key goes depends on a number drawn for each run, so no
//! document can be written to make it slow, and the choice does not depend on it. Grams too frequent to be chosen are
//! dropped by a bound from the counts before any are compared, and the rest are thinned by selection as they come, so
//! nothing is sorted.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::select::hash::{Identity, mix64};
use crate::select::selector::{Recipe, Scheme};

/// Symbols. A gram is as rare as its first symbols, its opening: nearly all whole grams are unique.
const OPENING: usize = 5;

/// At most one part in this many of a document is skipped, whatever the recipe says.
const SKIPPED_AT_MOST: usize = 10;

/// The order in which grams are chosen, lowest first: how often the document has the opening (0 where only the hash
/// counts), above the hash, which depends only on the gram and the seed.
type Rank = u128;

fn rank(times: u32, hash: u64) -> Rank {
    (times as u128) << 64 | hash as u128
}

/// Finds the grams; its memory is used again for the next document.
pub(crate) struct FixedSize {
    rarest_first: bool,
    k: usize,
    w: usize,
    skip: usize,
    opening: usize,
    identity: Identity,
    numbers: Numbers,
    /// The polynomials of openings, then of grams.
    values: Vec<u64>,
    /// The number of the opening at each position, and how often each number occurs.
    openings: Vec<u32>,
    times: Vec<u32>,
    /// The grams that may be chosen, by position: rank and position.
    grams: Vec<(Rank, u32)>,
    sorted: Vec<(Rank, u32)>,
}

impl FixedSize {
    pub fn new(recipe: &Recipe) -> Self {
        let opening = recipe.k.min(OPENING);
        FixedSize {
            rarest_first: recipe.scheme == Scheme::Rare,
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

    /// Return hash and position of the chosen grams, by position. `identity` names grams of k symbols.
    pub fn choose(&mut self, symbols: &[u32], identity: &Identity) -> impl Iterator<Item = (u64, u32)> {
        self.grams.clear();
        if let Some(last) = symbols.len().checked_sub(self.k) {
            // A document that has a gram gets a fingerprint.
            let first = self.skip.min(symbols.len() / SKIPPED_AT_MOST).min(last);
            if self.rarest_first {
                self.count_openings(symbols);
            }
            self.choose_between(symbols, first, last, identity);
        }
        self.grams.iter().map(|&(rank, position)| (rank as u64, position))
    }

    fn count_openings(&mut self, symbols: &[u32]) {
        let FixedSize { opening, identity, numbers, values, openings, times, .. } = self;
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

    /// Choose w of the distinct grams from first to last.
    fn choose_between(&mut self, symbols: &[u32], first: usize, last: usize, identity: &Identity) {
        let limit = if self.rarest_first { self.limit(first, last) } else { 0 };
        let mut highest = Rank::MAX;
        self.numbers.reset(0);
        identity.roll_all(&symbols[first..last + self.k], &mut self.values);
        for (position, &value) in (first..).zip(&self.values) {
            let times = if self.rarest_first { self.times[self.openings[position] as usize] } else { 0 };
            if times > limit {
                continue;
            }
            let rank = rank(times, identity.finish(value));
            if rank > highest {
                continue;
            }
            // A gram whose opening occurs once occurs once.
            let next_number = self.numbers.used;
            if times == 1 || self.numbers.of(value) as usize == next_number {
                self.grams.push((rank, position as u32));
                if self.grams.len() == 8 * self.w {
                    highest = thin(&mut self.grams, &mut self.sorted, self.w);
                }
            }
        }
        thin(&mut self.grams, &mut self.sorted, self.w);
    }

    /// Return a number of occurrences that the openings of at least w distinct grams, or of all, do not exceed.
    fn limit(&self, first: usize, last: usize) -> u32 {
        let most = self.times.iter().max().copied().unwrap_or(0) as usize;
        let mut positions = vec![0usize; most + 1];
        for &opening in &self.openings[first..=last] {
            positions[self.times[opening as usize] as usize] += 1;
        }
        let mut distinct = 0;
        for (times, positions) in positions.iter().enumerate().skip(1) {
            // A gram occurs at most as often as its opening.
            distinct += positions.div_ceil(times);
            if distinct >= self.w {
                return times as u32;
            }
        }
        most as u32
    }
}

/// Keep the w grams of the lowest ranks, in order. Return the highest of these ranks.
fn thin(grams: &mut Vec<(Rank, u32)>, sorted: &mut Vec<(Rank, u32)>, w: usize) -> Rank {
    if grams.len() <= w {
        return Rank::MAX;
    }
    sorted.clone_from(grams);
    let (highest, _) = *sorted.select_nth_unstable(w - 1).1;
    grams.retain(|(rank, _)| *rank <= highest);
    highest
}

/// Numbers keys from 0 in the order in which they first occur: a table with open addressing.
struct Numbers {
    /// A key and its number, or `FREE`.
    slots: Vec<(u64, u32)>,
    /// Memory of the table from before it grew.
    spare: Vec<(u64, u32)>,
    used: usize,
    /// Decides where keys go, so that no document can be written to put them all into one slot.
    secret: u64,
}

const FREE: u32 = u32::MAX;

impl Numbers {
    /// The least and the most slots that a table begins with. It should not be much larger than what will be in it, and
    /// a long text has fewer and fewer new keys.
    const SLOTS: (usize, usize) = (1 << 10, 1 << 18);

    fn new() -> Self {
        let secret = RandomState::new().hash_one(0);
        Numbers { slots: Vec::new(), spare: Vec::new(), used: 0, secret }
    }

    /// Forget all keys. `keys` will come, not all of them different.
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
        // Always written: whether a key is new cannot be predicted, and a wrong guess costs more.
        let slot = &mut self.slots[slot];
        let is_new = slot.1 == FREE;
        let number = if is_new { self.used as u32 } else { slot.1 };
        *slot = (key, number);
        self.used += is_new as usize;
        number
    }

    /// Return the slot that holds the key or is free for it.
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
