//! Lanes and their sliding minima: the loops that touch every symbol.
//!
//! A lane is an order key above the complement of its position in the frame. So the minimum of lanes is the rightmost
//! smallest key, and whether the smallest inner gram of a gram is its first, middle or last one is a test for equality.
//! Narrow lanes have 20 bits of key above 12 bits of position; windows too long for a frame of 2,048 symbols use wide
//! lanes, with the same keys.
//!
//! Windows grow fourfold in each pass: minima over m become minima over 4m with three comparisons. A deque or two stacks
//! take fewer comparisons and cannot be vectorised.

use crate::machine::level::Level;

/// Lanes that are tested together; buffers have this many to spare.
pub(crate) const GROUP: usize = 16;

/// An order key and a position in one number.
pub trait Lane: Copy + Ord + Default {
    /// Symbols in a frame: positions must fit a lane, and a frame should fit the first-level cache.
    const FRAME: usize;
    fn pack(key: u32, position: u32) -> Self;
    fn key(self) -> u32;
    fn position(self) -> u32;
    /// Return 1 or 0, by arithmetic: compilers turn a sum of comparisons into slow shuffling of masks.
    fn differs(self, other: Self) -> u32;
    /// Return whether this level has `minima`.
    #[inline(always)]
    fn in_registers(_: Level) -> bool {
        false
    }
    /// Call `avx512::minima`, if the level has it.
    fn minima(_from: &[Self], _to: &mut [Self], _width: usize, _n: usize, _: Level) {}
    /// Call `avx512::changes`, if the level has it.
    fn changes(_lanes: &[Self], _out: &mut [Self], _: Level) -> Option<usize> {
        None
    }
}

/// The narrow lane. It is signed, with the top bit flipped, because SSE2 compares only signed integers.
impl Lane for i32 {
    const FRAME: usize = 1 << 11;
    #[inline(always)]
    fn pack(key: u32, position: u32) -> i32 {
        ((key << 12) | (0xfff - position)) as i32 ^ i32::MIN
    }
    #[inline(always)]
    fn key(self) -> u32 {
        (self ^ i32::MIN) as u32 >> 12
    }
    #[inline(always)]
    fn position(self) -> u32 {
        0xfff - (self as u32 & 0xfff)
    }
    #[inline(always)]
    fn differs(self, other: i32) -> u32 {
        ((self ^ other) as u32).min(1)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn in_registers(level: Level) -> bool {
        level.is_avx512()
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn minima(from: &[i32], to: &mut [i32], width: usize, n: usize, level: Level) {
        if level.is_avx512() {
            // SAFETY: a level exists only if the machine has it.
            unsafe { crate::machine::avx512::minima(from, to, width, n) }
        }
    }
    #[cfg(target_arch = "x86_64")]
    fn changes(lanes: &[i32], out: &mut [i32], level: Level) -> Option<usize> {
        // SAFETY: a level exists only if the machine has it.
        level.is_avx512().then(|| unsafe { crate::machine::avx512::changes(lanes, out) })
    }
}

/// The wide lane, for windows and grams too long for a narrow frame.
impl Lane for u64 {
    const FRAME: usize = 1 << 18;
    #[inline(always)]
    fn pack(key: u32, position: u32) -> u64 {
        ((key as u64) << 32) | (u32::MAX - position) as u64
    }
    #[inline(always)]
    fn key(self) -> u32 {
        (self >> 32) as u32
    }
    #[inline(always)]
    fn position(self) -> u32 {
        u32::MAX - self as u32
    }
    #[inline(always)]
    fn differs(self, other: u64) -> u32 {
        (self ^ other).min(1) as u32
    }
}

#[inline(always)]
fn min<L: Ord>(a: L, b: L) -> L {
    if a < b { a } else { b }
}

/// Set out[i] to the minimum of source[i .. i+width], for i < n.
#[inline(always)]
pub fn sliding_min<L: Lane>(
    source: &[L],
    out: &mut [L],
    spare: &mut [L],
    width: usize,
    n: usize,
    level: Level,
) {
    let first = if L::in_registers(level) { 16.min(1 << width.ilog2()) } else { 4.min(width) };
    let grow = |m: usize| width.min(4 * m);
    let passes = std::iter::successors(Some(first), |&m| (m < width).then(|| grow(m))).count();
    // Passes alternate between the two buffers; the last must write to `out`.
    let (mut to, mut other) = if passes % 2 == 1 { (out, spare) } else { (spare, out) };
    if width == 1 {
        to[..n].copy_from_slice(&source[..n]);
    } else if L::in_registers(level) {
        L::minima(source, to, first, n + width - first, level);
    } else {
        widen(source, to, 1, width, n);
    }
    let mut m = first;
    while m < width {
        std::mem::swap(&mut to, &mut other);
        widen(other, to, m, width, n);
        m = grow(m);
    }
}

/// Turn minima over m into minima over 4m, or over width if that is smaller.
#[inline(always)]
fn widen<L: Lane>(from: &[L], to: &mut [L], m: usize, width: usize, n: usize) {
    let reach = width.min(4 * m);
    let n = n + width - reach;
    let (a, d, to) = (&from[..n], &from[reach - m..][..n], &mut to[..n]);
    if reach <= 2 * m {
        for i in 0..n {
            to[i] = min(a[i], d[i]);
        }
    } else if reach <= 3 * m {
        let b = &from[m..][..n];
        for i in 0..n {
            to[i] = min(min(a[i], b[i]), d[i]);
        }
    } else {
        let (b, c) = (&from[m..][..n], &from[2 * m..][..n]);
        for i in 0..n {
            to[i] = min(min(a[i], b[i]), min(c[i], d[i]));
        }
    }
}
