//! The four steps that compilers do not vectorise, in AVX-512: minima within registers, picking out the windows whose
//! minimum changes, packing the symbols of ASCII text, and multiplying limbs. Each has a portable twin where it is
//! called; the tests compare the levels. They are loops because closures that are not inlined lose the instructions.

use std::arch::x86_64::*;

use crate::machine::aligned::AlignedVec;
use crate::select::hash::{LANES, P61};

/// Copy the first lane, and every lane that differs from its left neighbour, to `out`, which must have room for 16 more
/// than there are lanes. Return how many were copied.
#[target_feature(enable = "avx512f")]
pub fn changes(lanes: &[i32], out: &mut [i32]) -> usize {
    assert!(out.len() >= lanes.len() + 16);
    let Some(first) = lanes.first() else { return 0 };
    let mut copied = 0;
    let mut before = _mm512_set1_epi32(!first);
    for chunk in lanes.chunks(16) {
        let present = u16::MAX >> (16 - chunk.len());
        // SAFETY: the mask admits only the lanes of the chunk; 16 lanes are written at `copied`, which is at most the
        // number of lanes read before.
        unsafe {
            let here = _mm512_maskz_loadu_epi32(present, chunk.as_ptr());
            let changed = _mm512_mask_cmpneq_epi32_mask(present, here, _mm512_alignr_epi32(here, before, 15));
            let packed = _mm512_maskz_compress_epi32(changed, here);
            _mm512_storeu_si512(out.as_mut_ptr().add(copied).cast(), packed);
            copied += changed.count_ones() as usize;
            before = here;
        }
    }
    copied
}

/// Set to[i] to the minimum of from[i .. i+width], for i < n. The width is 2, 4, 8 or 16. Both slices must hold
/// n+width-1 lanes, rounded up to a multiple of 16.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn minima(from: &[i32], to: &mut [i32], width: usize, n: usize) {
    let vectors = (n + width - 1).div_ceil(16);
    assert!(from.len() >= 16 * vectors && to.len() >= 16 * vectors);
    let most = _mm512_set1_epi32(i32::MAX);
    let (mut over_1, mut over_2, mut over_4, mut over_8) = (most, most, most, most);
    for v in (0..vectors).rev() {
        // SAFETY: both slices have 16 lanes at every v.
        unsafe {
            let next = over_1;
            over_1 = _mm512_loadu_si512(from.as_ptr().add(16 * v).cast());
            let mut least = _mm512_min_epi32(over_1, _mm512_alignr_epi32(next, over_1, 1));
            if width > 2 {
                let next = over_2;
                over_2 = least;
                least = _mm512_min_epi32(least, _mm512_alignr_epi32(next, least, 2));
            }
            if width > 4 {
                let next = over_4;
                over_4 = least;
                least = _mm512_min_epi32(least, _mm512_alignr_epi32(next, least, 4));
            }
            if width > 8 {
                let next = over_8;
                over_8 = least;
                least = _mm512_min_epi32(least, _mm512_alignr_epi32(next, least, 8));
            }
            _mm512_storeu_si512(to.as_mut_ptr().add(16 * v).cast(), least);
        }
    }
}

/// Fold ASCII bytes while they last and there is room for 64 symbols. The symbol of a byte is its entry in the table, 0
/// for none; its offset is `at` plus its index. Return (bytes read, symbols written).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
pub fn ascii(
    bytes: &[u8],
    at: u32,
    table: &[u8; 128],
    symbols: &mut [u32],
    offsets: &mut [u32],
) -> (usize, usize) {
    let room = symbols.len().min(offsets.len());
    // SAFETY: both halves of the table are 64 bytes.
    let (low, high) = unsafe {
        (_mm512_loadu_si512(table.as_ptr().cast()), _mm512_loadu_si512(table.as_ptr().add(64).cast()))
    };
    let numbers: [u8; 64] = std::array::from_fn(|i| i as u8);
    // SAFETY: 64 bytes.
    let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
    let (mut read, mut written) = (0, 0);
    let first = |count: usize| if count == 64 { u64::MAX } else { (1 << count) - 1 };
    while read < bytes.len() && written + 64 <= room {
        let present = (bytes.len() - read).min(64);
        // SAFETY: the mask admits only bytes of the slice.
        let block = unsafe { _mm512_maskz_loadu_epi8(first(present), bytes.as_ptr().add(read).cast()) };
        let count = present.min(_mm512_movepi8_mask(block).trailing_zeros() as usize);
        let folded = _mm512_permutex2var_epi8(low, block, high);
        let ascii = first(count);
        let keep = _mm512_mask_test_epi8_mask(ascii, folded, folded);
        let folded = _mm512_maskz_compress_epi8(keep, folded);
        let indices = _mm512_maskz_compress_epi8(keep, numbers);
        let start = _mm512_set1_epi32((at + read as u32) as i32);
        let wide = |bytes: __m512i| {
            [
                _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 0)),
                _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 1)),
                _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 2)),
                _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 3)),
            ]
        };
        for (i, (symbol, offset)) in wide(folded).into_iter().zip(wide(indices)).enumerate() {
            // SAFETY: there is room for 64 from `written` on, by the test above.
            unsafe {
                let to = written + 16 * i;
                _mm512_storeu_si512(symbols.as_mut_ptr().add(to).cast(), symbol);
                _mm512_storeu_si512(offsets.as_mut_ptr().add(to).cast(), _mm512_add_epi32(offset, start));
            }
        }
        written += keep.count_ones() as usize;
        read += count;
        if count < present {
            break;
        }
    }
    (read, written)
}

/// Append, for the gram at each position, the sum of symbols times limbs modulo 2^61-1, reduced to fit 64 bits.
#[target_feature(enable = "avx512f")]
pub fn polynomials(symbols: &[u32], positions: &[u32], limbs: &[AlignedVec<u64>; 3], out: &mut Vec<u64>) {
    let [a, b, c] = limbs;
    let n = a.len();
    assert!(b.len() == n && c.len() == n && n.is_multiple_of(LANES));
    let prime = _mm512_set1_epi64(P61 as i64);
    out.reserve(positions.len());
    for &position in positions {
        let gram = &symbols[position as usize..][..n];
        let (mut low, mut middle, mut high) =
            (_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512());
        for i in (0..n).step_by(LANES) {
            // SAFETY: all four slices have n elements, a multiple of 8.
            unsafe {
                let symbols = _mm512_cvtepu32_epi64(_mm256_loadu_si256(gram.as_ptr().add(i).cast()));
                let limb = _mm512_loadu_si512(a.as_ptr().add(i).cast());
                low = _mm512_add_epi64(low, _mm512_mul_epu32(symbols, limb));
                let limb = _mm512_loadu_si512(b.as_ptr().add(i).cast());
                middle = _mm512_add_epi64(middle, _mm512_mul_epu32(symbols, limb));
                let limb = _mm512_loadu_si512(c.as_ptr().add(i).cast());
                high = _mm512_add_epi64(high, _mm512_mul_epu32(symbols, limb));
            }
        }
        // Multiplying by 2^s modulo 2^61-1 rotates 61 bits by s; the terms below are less than 2^61 each.
        let mut total = _mm512_add_epi64(_mm512_and_si512(low, prime), _mm512_srli_epi64(low, 61));
        total = _mm512_add_epi64(total, _mm512_and_si512(_mm512_slli_epi64(middle, 21), prime));
        total = _mm512_add_epi64(total, _mm512_srli_epi64(middle, 40));
        total = _mm512_add_epi64(total, _mm512_and_si512(_mm512_slli_epi64(high, 42), prime));
        total = _mm512_add_epi64(total, _mm512_srli_epi64(high, 19));
        total = _mm512_add_epi64(_mm512_and_si512(total, prime), _mm512_srli_epi64(total, 61));
        // Two lanes together, then folded again: four such sums fit 64 bits.
        let half = _mm256_add_epi64(_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64(total, 1));
        let folded = _mm256_and_si256(half, _mm512_castsi512_si256(prime));
        let half = _mm256_add_epi64(folded, _mm256_srli_epi64(half, 61));
        let quarter = _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
        let total = _mm_add_epi64(quarter, _mm_unpackhi_epi64(quarter, quarter));
        out.push(_mm_cvtsi128_si64(total) as u64);
    }
}
