//! A 64-bit checksum that is faster than memory.

const KEYS: [u64; 8] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
    0x5899_65cc_7537_4cc3,
];

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Sum up any bytes: 128-bit products folded in half, in four lanes that do not wait for each other.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes = [KEYS[4], KEYS[5], KEYS[6], KEYS[7]];
    let mut blocks = bytes.chunks_exact(64);
    for block in &mut blocks {
        step(&mut lanes, block);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let mut block = [0; 64];
        block[..rest.len()].copy_from_slice(rest);
        step(&mut lanes, &block);
    }
    let sum = lanes.iter().fold(bytes.len() as u64 ^ KEYS[0], |sum, &lane| fold(sum ^ lane, KEYS[1]) ^ lane);
    fold(sum ^ KEYS[2], KEYS[3])
}

#[inline(always)]
fn step(lanes: &mut [u64; 4], block: &[u8]) {
    let (words, _) = block.as_chunks::<8>();
    for (i, lane) in lanes.iter_mut().enumerate() {
        let (a, b) = (u64::from_le_bytes(words[2 * i]), u64::from_le_bytes(words[2 * i + 1]));
        // A product is zero if a factor is, so the lane keeps its previous value too.
        *lane = fold(*lane ^ a, b ^ KEYS[i]) ^ lane.rotate_left(29) ^ a;
    }
}
