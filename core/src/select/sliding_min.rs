//! AlignedVec and their sliding minima: the loops that touch every symbol.
//!
//! A lane is an order key above the complement of its position within the frame: the smaller lane has the
//! smaller key, and of equal keys the position further right.

use crate::machine::level::Level;

/// AlignedVec that are looked at together; buffers have so many to spare.
pub(crate) const GROUP: usize = 16;

pub trait Lane: Copy + Ord + Default {
    /// Symbols in a frame: positions must fit a lane, and a frame the first-level cache.
    const FRAME: usize;
    fn pack(key: u32, position: u32) -> Self;
    fn key(self) -> u32;
    fn position(self) -> u32;
    /// 1 or 0, by arithmetic: compilers turn a sum of comparisons into slow shuffling of masks.
    fn differs(self, other: Self) -> u32;
    /// Whether `minima` does anything on this level.
    #[inline(always)]
    fn in_registers(_: Level) -> bool {
        false
    }
    /// `avx512::minima`, where the level has it.
    fn minima(_from: &[Self], _to: &mut [Self], _width: usize, _n: usize, _: Level) {}
    /// `avx512::changes`, where the level has it.
    fn changes(_lanes: &[Self], _out: &mut [Self], _: Level) -> Option<usize> {
        None
    }
}

/// Signed, with the top bit flipped: SSE2 compares only signed integers.
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
            // SAFETY: a level is one that the machine has.
            unsafe { crate::machine::avx512::minima(from, to, width, n) }
        }
    }
    #[cfg(target_arch = "x86_64")]
    fn changes(lanes: &[i32], out: &mut [i32], level: Level) -> Option<usize> {
        // SAFETY: a level is one that the machine has.
        level.is_avx512().then(|| unsafe { crate::machine::avx512::changes(lanes, out) })
    }
}

/// For windows and grams too long for the narrow frame.
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

/// out[i] = the minimum of source[i .. i+width], for i < n; minima over m grow to minima over 4m a pass.
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
    // The passes alternate between the two buffers, and the last must write to `out`.
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

/// Minima over m -> minima over the smaller of 4m and width.
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
