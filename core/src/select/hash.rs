//! The two hashes of a gram: a cheap 32-bit one that orders grams, a strong 64-bit one that names them.
//!
//! The order hash is computed at every position and only decides which gram of a window is chosen; the identity hash is
//! computed for the chosen grams alone. Both are polynomials, so both can roll.
//!
//! Symbols always have 32 bits here: a gram hashes alike whether its document is ASCII or not, one kernel serves text,
//! bytes and tokens, and widening a byte takes a fraction of the time of what follows.

use crate::machine::aligned::AlignedVec;
use crate::machine::level::{Level, Task};

/// Bits of an order key; the rest of a lane is the position.
pub(crate) const KEY_BITS: u32 = 20;

pub(crate) const MAX_KEY: u32 = (1 << KEY_BITS) - 1;

/// Symbols. The longest gram that `of_all` hashes: partial sums must fit 64 bits.
pub(crate) const MAX_K: usize = 2048;

/// Symbols. Hashing reads whole vectors, so this many must be readable behind the last gram; their values do not matter.
pub(crate) const PADDING: usize = LANES - 1;

/// Symbols that are multiplied together.
pub(crate) const LANES: usize = 8;

/// The Mersenne prime that identity hashes are computed modulo.
pub(crate) const P61: u64 = (1 << 61) - 1;

/// Mix 64 bits, so that every input bit reaches every output bit; a bijection (the finisher of splitmix64).
#[inline(always)]
pub fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Return the base of the order polynomial. It is odd, so it has an inverse modulo 2^32.
pub fn order_base(seed: u64) -> u32 {
    (mix64(seed ^ 0x6f72_6465_725f_6261) >> 32) as u32 | 1
}

/// Return the key of `KEY_BITS` bits for a value of the order polynomial.
#[inline(always)]
pub fn order_key(x: u32) -> u32 {
    (x ^ (x >> 15)).wrapping_mul(0x2c1b_3c6d) >> (32 - KEY_BITS)
}

/// Return the inverse of an odd number modulo 2^32, by Newton's iteration.
pub fn inverse(odd: u32) -> u32 {
    (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x))))
}

#[inline(always)]
fn reduce(x: u128) -> u64 {
    let once = (x & P61 as u128) + (x >> 61);
    let twice = (once as u64 & P61) + (once >> 61) as u64;
    if twice >= P61 { twice - P61 } else { twice }
}

/// The identity hash: the sum of c[j] * B^(k-1-j) modulo 2^61-1, then mixed.
///
/// It rolls, and for a secret seed two different grams of k symbols collide with a probability of at most k / 2^61.
/// Hashes of the wyhash kind are a little faster and have neither property; polynomials modulo 2^64 collide on
/// Thue-Morse strings for every base.
pub struct Identity {
    k: usize,
    base: u64,
    base_to_k: u64,
    whitening: u64,
    /// B^(k-1-j) in limbs of 21 bits, so that sums of products with 32-bit symbols fit 64 bits. Zeros follow, up to a
    /// whole number of vectors.
    limbs: [AlignedVec<u64>; 3],
}

impl Identity {
    pub fn new(k: usize, seed: u64) -> Self {
        assert!(k > 0);
        let base = mix64(seed ^ 0x6964_656e_7469_7479) % (P61 - 2) + 2;
        let mut powers = vec![1u64; k + 1];
        for j in 1..=k {
            powers[j] = reduce(powers[j - 1] as u128 * base as u128);
        }
        let limbs = [0, 21, 42].map(|shift| {
            let mut limb = AlignedVec::new(k.next_multiple_of(LANES));
            limb.iter_mut().zip(powers[..k].iter().rev()).for_each(|(l, p)| *l = (p >> shift) & 0x1f_ffff);
            limb
        });
        let whitening = mix64(seed ^ 0x7768_6974_656e_6564);
        Self { k, base, base_to_k: powers[k], whitening, limbs }
    }

    /// Append the hash of the gram at each position; `PADDING` symbols must follow the last gram.
    pub fn of_all(&self, symbols: &[u32], positions: &[u32], level: Level, out: &mut Vec<u64>) {
        assert!(self.k <= MAX_K);
        let before = out.len();
        #[cfg(target_arch = "x86_64")]
        if level.is_avx512() {
            // SAFETY: a level exists only if the machine has it.
            unsafe { crate::machine::avx512::polynomials(symbols, positions, &self.limbs, out) };
        } else {
            level.run(Polynomials { limbs: &self.limbs, symbols, positions, out });
        }
        #[cfg(not(target_arch = "x86_64"))]
        level.run(Polynomials { limbs: &self.limbs, symbols, positions, out });
        for value in &mut out[before..] {
            *value = self.finish(reduce(*value as u128));
        }
    }

    /// Return the polynomial of a gram, to roll from.
    pub fn start(&self, gram: &[u32]) -> u64 {
        gram[..self.k].iter().fold(0, |v, &c| reduce(v as u128 * self.base as u128 + c as u128))
    }

    /// Return the polynomial of the gram one to the right.
    #[inline(always)]
    pub fn roll(&self, value: u64, leaving: u32, entering: u32) -> u64 {
        let shed = P61 - reduce(leaving as u128 * self.base_to_k as u128);
        reduce(value as u128 * self.base as u128 + entering as u128 + shed as u128)
    }

    /// Compute the polynomials of all grams. Each needs the one before, so four stretches are rolled side by side.
    pub fn roll_all(&self, symbols: &[u32], out: &mut Vec<u64>) {
        let grams = (symbols.len() + 1).saturating_sub(self.k);
        out.clear();
        out.resize(grams, 0);
        let stretches = if grams < 4 * self.k { 1 } else { 4 };
        let size = grams / stretches;
        if stretches == 4 {
            self.roll_stretches::<4>(symbols, size, out);
        } else if grams > 0 {
            self.roll_stretches::<1>(symbols, size, out);
        }
        for i in stretches * size..grams {
            out[i] = self.roll(out[i - 1], symbols[i - 1], symbols[i - 1 + self.k]);
        }
    }

    /// Compute the polynomials of the first N * size grams.
    #[inline(always)]
    fn roll_stretches<const N: usize>(&self, symbols: &[u32], size: usize, out: &mut [u64]) {
        let mut values: [u64; N] = std::array::from_fn(|n| self.start(&symbols[n * size..]));
        for i in 0..size {
            for (n, value) in values.iter_mut().enumerate() {
                let at = n * size + i;
                if i > 0 {
                    *value = self.roll(*value, symbols[at - 1], symbols[at - 1 + self.k]);
                }
                out[at] = *value;
            }
        }
    }

    /// Return the hash for a polynomial.
    #[inline(always)]
    pub fn finish(&self, value: u64) -> u64 {
        mix64(value ^ self.whitening)
    }
}

/// The portable twin of `avx512::polynomials`.
struct Polynomials<'a> {
    limbs: &'a [AlignedVec<u64>; 3],
    symbols: &'a [u32],
    positions: &'a [u32],
    out: &'a mut Vec<u64>,
}

impl Task for Polynomials<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [low, middle, high] = self.limbs;
        let n = low.len();
        let (low, middle, high) = (&low[..n], &middle[..n], &high[..n]);
        self.out.reserve(self.positions.len());
        for &p in self.positions {
            let gram = &self.symbols[p as usize..][..n];
            let mut sums = [0u64; 3];
            for i in 0..n {
                // The masks tell compilers that limbs are short: they multiply 32 bits by 32.
                let symbol = gram[i] as u64;
                sums[0] += symbol * (low[i] & 0xffff_ffff);
                sums[1] += symbol * (middle[i] & 0xffff_ffff);
                sums[2] += symbol * (high[i] & 0xffff_ffff);
            }
            self.out.push(reduce(sums[0] as u128 + ((sums[1] as u128) << 21) + ((sums[2] as u128) << 42)));
        }
    }
}
