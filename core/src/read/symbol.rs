//! The space of symbols: what a symbol of 32 bits stands for.
//!
//! | top two bits | meaning |
//! |---|---|
//! | `00` | a byte, a folded code point, a punctuation mark, or one of the token classes below |
//! | `01` | reserved for separators and masks: no front end makes such a symbol |
//! | `10`, `11` | a keyword, or a token named by what it says: 31 bits of a hash of its spelling |
//!
//! A separator or mask from the reserved quarter never equals anything a document contains.

/// Token classes: any name, any number, any string.
pub(crate) const NAME: u32 = 1;
pub(crate) const NUMBER: u32 = 2;
pub(crate) const STRING: u32 = 3;

/// The first of the 2^30 symbols that no document contains.
pub const RESERVED: u32 = 0x4000_0000;

/// Set in every symbol that stands for a spelling.
const SPELLING: u32 = 1 << 31;

/// Return the symbol of a spelling: FNV-1a, folded to 31 bits. A word has the same symbol in every language and
/// release, so a keyword added to a table changes no other symbol.
pub(crate) fn spelling(word: &[u8], ignore_case: bool) -> u32 {
    let hash = word.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| {
        let b = if ignore_case { b.to_ascii_lowercase() } else { b };
        (h ^ b as u64).wrapping_mul(0x100_0000_01b3)
    });
    SPELLING | (hash ^ (hash >> 32)) as u32
}
