//! Symbols -> fingerprints: which grams of a stream are chosen, for every selection scheme.
//!
//! A `Selector` is fed a stream chunk by chunk and holds one chunk at a time; for the schemes `Smallest` and
//! `Rare` it holds all.

use crate::machine::level::Level;
use crate::read::chunk::{Chunk, Sink};
use crate::read::source::Source;
use crate::select::fingerprints::Fingerprints;
use crate::select::fixed_size::FixedSize;
use crate::select::hash::Identity;
use crate::select::window::{Change, Order, Windows};

/// How grams are chosen. `w` is that of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Every gram.
    All,
    /// Every w-th gram, counted from the start: fails when text is inserted.
    Every,
    /// Grams whose hash is 0 modulo p: leaves gaps.
    ModP,
    /// As ModP, and also a gram that ends w grams without one.
    SafeModP,
    /// The w smallest hashes of the document.
    Smallest,
    /// The w grams whose first symbols are rarest in the document.
    Rare,
    /// The smallest gram of every window of w.
    Windows(Order),
}

impl Scheme {
    /// Return the scheme with this number in the C interface.
    pub fn numbered(number: u32) -> Option<Scheme> {
        Some(match number {
            0 => Scheme::All,
            1 => Scheme::Every,
            2 => Scheme::ModP,
            3 => Scheme::SafeModP,
            4 => Scheme::Smallest,
            5 => Scheme::Windows(Order::Winnow),
            6 => Scheme::Windows(Order::OpenClosed),
            7 => Scheme::Windows(Order::Mod),
            8 => Scheme::Rare,
            _ => return None,
        })
    }
}

/// How fingerprints are made from a stream.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub scheme: Scheme,
    /// Of equal grams, keep the choice of the previous window (definition 3 of the paper).
    pub robust: bool,
    pub k: usize,
    pub w: usize,
    /// The window to use, at least w: a wider one selects a subset.
    pub window: usize,
    /// The modulus of the mod-p schemes.
    pub p: u64,
    /// Symbols in an inner gram, for the orders that look inside grams.
    pub r: usize,
    /// Symbols to skip at the start of a document, for the schemes `Smallest` and `Rare`.
    pub skip: u32,
    /// Positions and ends are not needed and may be missing.
    pub only_starts: bool,
    pub seed: u64,
}

/// Symbols that are collected before each selection step, beyond the reach of a window.
const STEP: usize = 1 << 13;

/// Chooses the fingerprints of streams, one stream after another.
pub struct Selector {
    recipe: Recipe,
    chunk: Chunk,
    /// The position in the stream of the first symbol in the chunk.
    base: u64,
    out: Fingerprints,
    identity: Identity,
    level: Level,
    state: State,
    chosen: Vec<u32>,
}

enum State {
    Windowed { windows: Windows, changes: Vec<Change>, choice: Choice },
    Rolling(Rolling),
    Whole(Box<FixedSize>),
}

/// What the window schemes remember from one window to the next: positions in the stream and keys.
#[derive(Clone, Copy, Default)]
struct Choice {
    /// The gram chosen last.
    chosen: Option<(u64, u32)>,
    /// The smallest gram of the latest windows, passed over because it equals the chosen gram.
    passed: Option<(u64, u32)>,
    minimum: Option<u64>,
}

/// What the other schemes remember from one gram to the next.
#[derive(Default)]
struct Rolling {
    value: u64,
    leaving: u32,
    grams: u64,
    since_good: usize,
}

impl Selector {
    pub fn new(recipe: Recipe, level: Level) -> Self {
        let Recipe { scheme, k, w, window, r, seed, .. } = recipe;
        let state = match scheme {
            Scheme::Windows(order) => State::Windowed {
                windows: Windows::new(order, k, w, r, seed, level, window),
                changes: Vec::new(),
                choice: Choice::default(),
            },
            Scheme::Smallest | Scheme::Rare => State::Whole(Box::new(FixedSize::new(&recipe))),
            _ => State::Rolling(Rolling::default()),
        };
        let reach = if matches!(state, State::Windowed { .. }) { window + k } else { k };
        Selector {
            recipe,
            chunk: Chunk::new(reach + STEP.max(2 * reach)),
            base: 0,
            out: Fingerprints::default(),
            identity: Identity::new(k, seed),
            level,
            state,
            chosen: Vec::new(),
        }
    }

    /// End the stream and return its number of symbols. The selector is then ready for the next one.
    pub fn finish(&mut self, source: &Source) -> u64 {
        if !matches!(self.state, State::Whole(_)) {
            self.flush(source);
        }
        let (k, window) = (self.recipe.k, self.recipe.window);
        let symbols = self.base + self.chunk.len as u64;
        if symbols >= k as u64 && symbols < (window + k - 1) as u64 {
            // There is no full window: choose the one minimum of the document.
            self.select_windows(self.chunk.len.saturating_sub(k) + 1, source);
        }
        match &mut self.state {
            State::Windowed { choice, .. } => *choice = Choice::default(),
            State::Rolling(rolling) => *rolling = Rolling::default(),
            State::Whole(grams) => {
                let Chunk { offsets, ends, len, .. } = &self.chunk;
                for (hash, position) in grams.choose(&self.chunk.symbols[..*len], &self.identity) {
                    let of = |p: usize| source.range(p as u32, offsets[p], ends[p]);
                    let (first, last) = (position as usize, position as usize + k - 1);
                    self.out.push(hash, position, of(first).0, of(last).1);
                }
            }
        }
        self.chunk.len = 0;
        self.base = 0;
        symbols
    }

    pub fn count(&self) -> usize {
        self.out.hashes.len()
    }

    /// Give the selector memory for its next fingerprints.
    pub fn reuse(&mut self, memory: Fingerprints) {
        if self.out.hashes.is_empty() {
            self.out = memory;
        }
    }

    /// Take the fingerprints of all streams since the last call.
    pub fn take(&mut self) -> Fingerprints {
        std::mem::take(&mut self.out)
    }

    /// Choose among all windows of `width` grams in the chunk, and drop the symbols that later windows do not reach.
    fn select_windows(&mut self, width: usize, source: &Source) {
        let State::Windowed { windows, changes, choice } = &mut self.state else { return };
        let (k, base) = (self.recipe.k, self.base);
        let reach = width + k - 1;
        if self.chunk.len < reach {
            return;
        }
        let symbols = &self.chunk.symbols[..self.chunk.len];
        let count = self.chunk.len - reach + 1;
        windows.changes(symbols, width, changes);
        let mut choice_now = *choice; // in registers while the loop runs
        let gram = |position: u64| &symbols[(position - base) as usize..][..k];
        let chosen = &mut self.chosen;
        chosen.clear();
        for change in changes.iter() {
            let window = base + change.window as u64;
            let position = base + change.position as u64;
            choice_now.settle(window, base, chosen);
            if choice_now.minimum == Some(position) {
                continue; // the last window of the previous chunk chose it
            }
            choice_now.minimum = Some(position);
            let equal = self.recipe.robust
                && choice_now.chosen.is_some_and(|(previous, key)| {
                    // Equal keys are not enough: passing over a different gram would lose matches.
                    previous >= window && key == change.key && gram(previous) == gram(position)
                });
            if equal {
                choice_now.passed = Some((position, change.key));
            } else {
                choice_now.choose((position, change.key), base, chosen);
            }
        }
        choice_now.settle(base + count as u64, base, chosen);
        *choice = choice_now;
        self.identity.of_all(&self.chunk.symbols, chosen, self.level, &mut self.out.hashes);
        let Fingerprints { positions, starts, ends, .. } = &mut self.out;
        let (chunk, last) = (&self.chunk, k - 1);
        let wanted = if self.recipe.only_starts { &[] } else { chosen.as_slice() };
        positions.extend(wanted.iter().map(|&p| base as u32 + p));
        if source.is_plain() {
            starts.extend(chosen.iter().map(|&p| base as u32 + p));
            ends.extend(wanted.iter().map(|&p| base as u32 + p + k as u32));
        } else {
            let range = |p: usize| source.range(base as u32 + p as u32, chunk.offsets[p], chunk.ends[p]);
            starts.extend(chosen.iter().map(|&p| range(p as usize).0));
            ends.extend(wanted.iter().map(|&p| range(p as usize + last).1));
        }
        self.chunk.drop_front(count);
        self.base += count as u64;
    }

    fn select_rolling(&mut self, source: &Source) {
        let State::Rolling(rolling) = &mut self.state else { return };
        let Recipe { scheme, k, w, p, .. } = self.recipe;
        if self.chunk.len < k {
            return;
        }
        let symbols = &self.chunk.symbols[..self.chunk.len];
        let count = self.chunk.len - k + 1;
        for i in 0..count {
            rolling.value = if rolling.grams == 0 {
                self.identity.start(symbols)
            } else {
                self.identity.roll(rolling.value, rolling.leaving, symbols[i + k - 1])
            };
            rolling.leaving = symbols[i];
            let hash = self.identity.finish(rolling.value);
            let keep = match scheme {
                Scheme::Every => rolling.grams.is_multiple_of(w as u64),
                Scheme::ModP => hash.is_multiple_of(p),
                Scheme::SafeModP => {
                    let good = hash.is_multiple_of(p);
                    rolling.since_good = if good { 0 } else { rolling.since_good + 1 };
                    good || rolling.since_good >= w
                }
                Scheme::All | Scheme::Smallest | Scheme::Rare | Scheme::Windows(_) => true,
            };
            rolling.grams += 1;
            if keep {
                let position = |j: usize| (self.base + j as u64) as u32;
                let range = |j: usize| source.range(position(j), self.chunk.offsets[j], self.chunk.ends[j]);
                self.out.push(hash, position(i), range(i).0, range(i + k - 1).1);
            }
        }
        self.chunk.drop_front(count);
        self.base += count as u64;
    }
}

impl Choice {
    fn choose(&mut self, choice: (u64, u32), base: u64, chosen: &mut Vec<u32>) {
        chosen.push((choice.0 - base) as u32);
        self.chosen = Some(choice);
        self.passed = None;
    }

    /// Choose the gram that was passed over, if a window before `next` had it as its minimum and no longer contained the
    /// gram it was passed over for.
    fn settle(&mut self, next: u64, base: u64, chosen: &mut Vec<u32>) {
        if let (Some(passed), Some((previous, _))) = (self.passed, self.chosen)
            && previous + 1 < next
        {
            self.choose(passed, base, chosen);
        }
    }
}

impl Sink for Selector {
    fn chunk(&mut self) -> &mut Chunk {
        &mut self.chunk
    }

    fn flush(&mut self, source: &Source) {
        match self.state {
            State::Windowed { .. } => self.select_windows(self.recipe.window, source),
            State::Rolling(_) => self.select_rolling(source),
            State::Whole(_) => self.chunk.grow(),
        }
    }
}

/// Winnow hashes that the caller made. Return the position of each choice.
pub fn winnow(hashes: &[u64], w: usize, robust: bool) -> Vec<u32> {
    let w = w.min(hashes.len());
    let mut chosen: Vec<u32> = Vec::new();
    let mut falling: std::collections::VecDeque<usize> = std::collections::VecDeque::new();
    for (i, hash) in hashes.iter().enumerate() {
        while falling.back().is_some_and(|&j| hashes[j] >= *hash) {
            falling.pop_back();
        }
        falling.push_back(i);
        if i + 1 < w {
            continue;
        }
        let window = i + 1 - w;
        while falling[0] < window {
            falling.pop_front();
        }
        let least = falling[0] as u32;
        let stays = chosen.last().is_some_and(|&last| {
            last == least
                || robust && last as usize >= window && hashes[last as usize] == hashes[least as usize]
        });
        if !stays {
            chosen.push(least);
        }
    }
    chosen
}
