//! Packs numbers of any width into bytes, lowest bit first.

/// Packs numbers one after another.
#[derive(Default)]
pub struct Packer {
    pub bytes: Vec<u8>,
    pending: u64,
    filled: u32,
}

impl Packer {
    /// Append a number below 2^width. The width is at most 64.
    #[inline]
    pub fn push(&mut self, value: u64, width: u32) {
        self.pending |= value << self.filled;
        let filled = self.filled + width;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.bytes.extend_from_slice(&self.pending.to_le_bytes());
        self.pending = if self.filled == 0 { 0 } else { value >> (64 - self.filled) };
        self.filled = filled - 64;
    }

    /// Append this many zeros and a one.
    #[inline]
    pub fn unary(&mut self, zeros: u64) {
        self.zeros(zeros);
        self.push(1, 1);
    }

    #[inline]
    pub fn zeros(&mut self, mut zeros: u64) {
        while zeros >= 64 {
            self.push(0, 64);
            zeros -= 64;
        }
        self.push(0, zeros as u32);
    }

    /// Fill the last byte with zeros.
    pub fn align(&mut self) {
        let used = self.filled.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..used]);
        (self.pending, self.filled) = (0, 0);
    }
}

#[inline(always)]
pub fn mask(width: u32) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

/// Return how many bits a number takes.
pub fn width(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// Read the eight bytes from `at` on, which must be there.
#[inline(always)]
pub fn word(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

/// Prefetch the cache line of this byte.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}

/// Read the number of `width` bits that begins at bit `at`. Nine bytes from there on must be readable.
#[inline(always)]
pub fn read(bytes: &[u8], at: u64, width: u32) -> u64 {
    let (byte, shift) = ((at / 8) as usize, (at % 8) as u32);
    let low = word(bytes, byte) >> shift;
    if shift + width <= 64 {
        return low & mask(width);
    }
    (low | (bytes[byte + 8] as u64) << (64 - shift)) & mask(width)
}

/// Return the position of the one with `k` ones before it. There must be more than `k`.
#[inline]
pub fn select(word: u64, k: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // In each byte, the number of ones up to and including it.
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
    let sums = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    // The number of bytes that end before the one we want.
    let before = (((k as u64 * ONES) | (ONES << 7)) - sums) >> 7 & ONES;
    let start = (before.wrapping_mul(ONES) >> 56) as u32 * 8;
    let mut byte = word >> start & 0xff;
    for _ in 0..k - ((sums << 8) >> start & 0xff) as u32 {
        byte &= byte - 1;
    }
    start + byte.trailing_zeros()
}
