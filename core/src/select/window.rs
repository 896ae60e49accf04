//! Symbols -> order keys -> the rightmost minimum of every window, frame by frame.

use crate::machine::aligned::AlignedVec;
use crate::machine::level::{Level, Task};
use crate::select::hash::{MAX_KEY, inverse, order_base, order_key};
use crate::select::sliding_min::{GROUP, Lane, sliding_min};

/// How grams are ordered; the smallest of a window is its fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the hash of the gram, as in the paper.
    Winnow,
    /// By where the smallest inner gram lies in the gram: first the middle, then the ends, then elsewhere.
    OpenClosed,
    /// By the smallest inner gram at a multiple of w from the start of the gram (the mod-minimizer).
    Mod,
}

/// A window with another minimum than the one before, or the first of a frame. Positions count from the slice's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub window: u32,
    pub position: u32,
    pub key: u32,
}

/// The order of grams, and the working memory of one frame.
struct Frame<L> {
    k: usize,
    w: usize,
    r: usize,
    order: Order,
    base: u32,
    powers: Vec<u32>,
    inverse_powers: Vec<u32>,
    sums: Vec<u32>,
    inner: AlignedVec<L>,
    keys: AlignedVec<L>,
    spare: AlignedVec<L>,
}

impl<L: Lane> Frame<L> {
    fn new(order: Order, k: usize, w: usize, r: usize, seed: u64) -> Self {
        let base = order_base(seed);
        let back = inverse(base);
        let powers = |b: u32| {
            std::iter::successors(Some(1u32), |p| Some(p.wrapping_mul(b))).take(L::FRAME).collect::<Vec<_>>()
        };
        // Only grams of three symbols are hashed without tables.
        let tables = order == Order::Winnow || r != 3;
        Frame {
            k,
            w,
            r,
            order,
            base,
            powers: if tables { powers(base) } else { Vec::new() },
            inverse_powers: if tables { powers(back) } else { Vec::new() },
            sums: vec![0; if tables { L::FRAME + 1 } else { 0 }],
            inner: AlignedVec::new(L::FRAME + GROUP),
            keys: AlignedVec::new(L::FRAME + GROUP),
            spare: AlignedVec::new(L::FRAME + GROUP),
        }
    }

    /// Set inner[i] to the order key of the g symbols at i, for i < n.
    #[inline(always)]
    fn hash(&mut self, symbols: &[u32], g: usize, n: usize) {
        let out = &mut self.inner[..n];
        if g == 3 {
            let base = self.base;
            let (x, y, z) = (&symbols[..n], &symbols[1..][..n], &symbols[2..][..n]);
            for i in 0..n {
                let value = z[i].wrapping_mul(base).wrapping_add(y[i]).wrapping_mul(base).wrapping_add(x[i]);
                // A run of one symbol comes last. Text has runs of spaces and zeros. If such a run happens to hash low,
                // it is the smallest inner gram of most grams around it, ties go to the right, and more are chosen: on C
                // sources as bytes 0.79 to 0.88 of the grams that winnowing chooses (k=25, w=26), depending on the
                // seed. Ranked last it is 0.79 for every seed.
                let run = x[i] == y[i] && y[i] == z[i];
                out[i] = L::pack(if run { MAX_KEY } else { order_key(value) }, i as u32);
            }
            return;
        }
        // sums[i] = sum over j < i of c[j] B^j, so the polynomial at i is (sums[i+g] - sums[i]) / B^i.
        let m = n + g - 1;
        let (symbols, powers, sums) = (&symbols[..m], &self.powers[..m], &mut self.sums[..m + 1]);
        let mut sum = 0u32;
        for i in 0..m {
            sum = sum.wrapping_add(symbols[i].wrapping_mul(powers[i]));
            sums[i + 1] = sum;
        }
        let (low, high, back) = (&sums[..n], &sums[g..][..n], &self.inverse_powers[..n]);
        for i in 0..n {
            let value = high[i].wrapping_sub(low[i]).wrapping_mul(back[i]);
            out[i] = L::pack(order_key(value), i as u32);
        }
    }

    /// Set keys[i] to the order key of the gram at i, for i < n.
    #[inline(always)]
    fn order(&mut self, symbols: &[u32], n: usize, level: Level) {
        match self.order {
            Order::Winnow => {
                self.hash(symbols, self.k, n);
                self.keys[..n].copy_from_slice(&self.inner[..n]);
            }
            Order::OpenClosed => self.order_open_closed(symbols, n, level),
            Order::Mod => {
                let reach = self.k - self.r;
                self.hash(symbols, self.r, n + reach);
                for i in 0..n {
                    let inner = (0..=reach).step_by(self.w).map(|j| self.inner[i + j].key());
                    self.keys[i] = L::pack(inner.min().unwrap_or(0), i as u32);
                }
            }
        }
    }

    #[inline(always)]
    fn order_open_closed(&mut self, symbols: &[u32], n: usize, level: Level) {
        let reach = self.k - self.r;
        self.hash(symbols, self.r, n + reach);
        sliding_min(&self.inner, &mut self.keys, &mut self.spare, reach + 1, n, level);
        let keys = &mut self.keys[..n];
        let (first, middle, last) =
            (&self.inner[..n], &self.inner[reach / 2..][..n], &self.inner[reach..][..n]);
        for i in 0..n {
            let least = keys[i];
            let gram = ((first[i].key() << 12) ^ last[i].key()).wrapping_mul(0x9e37_79b1);
            // Open grams are ordered by the smallest inner gram, then by the gram; other grams by the gram.
            let open = ((least.key() >> 6) << 4) | (gram >> 28);
            let class = if least == first[i] || least == last[i] { 1 << 18 } else { 2 << 18 };
            let key = if least == middle[i] { open } else { class | (gram >> 14) };
            keys[i] = L::pack(key, i as u32);
        }
    }
}

/// Computes the minimum of each window, into frame.inner.
struct Minima<'a, L> {
    frame: &'a mut Frame<L>,
    symbols: &'a [u32],
    width: usize,
    windows: usize,
    level: Level,
}

impl<L: Lane> Task for Minima<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.frame.order(self.symbols, self.windows + self.width - 1, self.level);
        let Frame { inner, keys, spare, .. } = self.frame;
        sliding_min(keys, inner, spare, self.width, self.windows, self.level);
    }
}

/// Computes the order key of each gram.
struct Keys<'a, L> {
    frame: &'a mut Frame<L>,
    symbols: &'a [u32],
    grams: usize,
    level: Level,
    out: &'a mut Vec<u32>,
}

impl<L: Lane> Task for Keys<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.frame.order(self.symbols, self.grams, self.level);
        self.out.extend(self.frame.keys[..self.grams].iter().map(|lane| lane.key()));
    }
}

/// Append the changes among the first `windows` minima of a frame that starts at `offset`.
fn report<L: Lane>(
    frame: &mut Frame<L>,
    windows: usize,
    width: usize,
    offset: u32,
    level: Level,
    out: &mut Vec<Change>,
) {
    let mut previous: Option<L> = None;
    let mut push = |lane: L| {
        let window = match previous {
            None => 0,
            Some(previous) if previous == lane => return,
            // A gram that is not larger becomes the minimum as it enters, a larger one as the old one leaves.
            Some(previous) if lane.key() <= previous.key() => lane.position() + 1 - width as u32,
            Some(previous) => previous.position() + 1,
        };
        previous = Some(lane);
        out.push(Change { window: window + offset, position: lane.position() + offset, key: lane.key() });
    };
    let minima = &frame.inner[..windows];
    if let Some(count) = L::changes(minima, &mut frame.spare, level) {
        frame.spare[..count].iter().for_each(|&lane| push(lane));
        return;
    }
    // A rightmost minimum never moves left. So a group of windows that begins and ends with the same minimum has no
    // change inside, and windows with the same minimum can be counted instead of searched.
    let (groups, rest) = minima.as_chunks::<GROUP>();
    for group in groups {
        push(group[0]);
        let mut j = if group[0] == group[GROUP - 1] { GROUP } else { 0 };
        while j < GROUP {
            push(group[j]);
            j += GROUP - group.iter().map(|l| l.differs(group[j])).sum::<u32>() as usize;
        }
    }
    rest.iter().for_each(|&lane| push(lane));
}

/// What `Windows` needs of a frame, whatever its lanes.
trait Frames {
    fn changes(&mut self, symbols: &[u32], width: usize, level: Level, out: &mut Vec<Change>);
    fn keys(&mut self, symbols: &[u32], level: Level, out: &mut Vec<u32>);
}

impl<L: Lane> Frames for Frame<L> {
    fn changes(&mut self, symbols: &[u32], width: usize, level: Level, out: &mut Vec<Change>) {
        by_frames::<L>(symbols, width + self.k - 1, |symbols, offset, windows| {
            level.run(Minima { frame: self, symbols, width, windows, level });
            report(self, windows, width, offset, level, out);
        });
    }

    fn keys(&mut self, symbols: &[u32], level: Level, out: &mut Vec<u32>) {
        by_frames::<L>(symbols, self.k, |symbols, _, grams| {
            level.run(Keys { frame: self, symbols, grams, level, out });
        });
    }
}

/// Finds the minima of windows in streams of any length.
pub struct Windows {
    frames: Box<dyn Frames>,
    level: Level,
}

impl Windows {
    /// Grams. The longest window.
    pub(crate) const MAX_W: usize = 1 << 16;

    /// `w` and `r` belong to the order, which stays the same when a query uses a wider window: so its fingerprints are a
    /// subset, also with the mod-minimizer. No window will be wider than `widest`.
    pub fn new(order: Order, k: usize, w: usize, r: usize, seed: u64, level: Level, widest: usize) -> Self {
        // A narrow frame pays off if a window spans at most half of it.
        let frames: Box<dyn Frames> = if 2 * (widest + k) <= <i32 as Lane>::FRAME {
            Box::new(Frame::<i32>::new(order, k, w, r, seed))
        } else {
            Box::new(Frame::<u64>::new(order, k, w, r, seed))
        };
        Windows { frames, level }
    }

    /// Find the changes of minimum over all windows of `width` grams in `symbols`. The first window counts as one.
    pub fn changes(&mut self, symbols: &[u32], width: usize, out: &mut Vec<Change>) {
        out.clear();
        self.frames.changes(symbols, width, self.level, out);
    }

    /// Return the order key of every gram in `symbols`.
    pub fn keys(&mut self, symbols: &[u32]) -> Vec<u32> {
        let mut keys = Vec::new();
        self.frames.keys(symbols, self.level, &mut keys);
        keys
    }
}

/// Call `work(symbols, offset, n)` for frames that together hold every run of `reach` symbols once.
fn by_frames<L: Lane>(symbols: &[u32], reach: usize, mut work: impl FnMut(&[u32], u32, usize)) {
    let step = L::FRAME + 1 - reach;
    let runs = (symbols.len() + 1).saturating_sub(reach);
    for start in (0..runs).step_by(step) {
        let n = step.min(runs - start);
        work(&symbols[start..start + n + reach - 1], start as u32, n);
    }
}
