//! Compares documents: candidate pairs, their matches, and the grams they share.

pub(crate) mod all_grams;
pub(crate) mod blanks;
pub(crate) mod blocks;
pub mod candidates;
pub mod chain;
pub(crate) mod cover;
pub mod matches;
pub mod overlap;
pub mod seeds;

/// A count or position as the 32-bit number that tables hold.
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or_else(|_| panic!("{n} is more than 2^32 - 1; compare fewer or shorter documents"))
}

#[cfg(test)]
mod tests {
    use super::to_u32;

    #[test]
    #[should_panic(expected = "4294967296 is more than 2^32 - 1; compare fewer or shorter documents")]
    fn a_larger_number_is_an_error() {
        to_u32(1 << 32);
    }
}
