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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::level::Level;
    use crate::read::fold::Form;
    use crate::read::language::Language;
    use crate::read::source::Source;
    use crate::read::stream::read_streams;
    use crate::read::text::Endian;

    fn is_reserved(symbol: u32) -> bool {
        symbol >> 30 == RESERVED >> 30
    }

    #[test]
    fn no_code_point_folds_to_a_reserved_symbol() {
        let numbers: Vec<u32> = (0..0x11_0000).chain((0x11_0000..=u32::MAX).step_by(0xf_ffff)).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        for form in [Form::Letters, Form::Consonants] {
            let source = Source::Utf32(&bytes, form, Endian::Little);
            let streams = read_streams(&[source], false, 1, Level::best());
            assert!(!streams.symbols.iter().any(|&symbol| is_reserved(symbol)));
        }
    }

    #[test]
    fn no_token_is_a_reserved_symbol() {
        let language = Language::parse(b"keyword\x1fif\x1ekeyword\x1fwhile").unwrap();
        let text: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let streams = read_streams(&[Source::Code(&text, &language)], true, 1, Level::best());
        assert!(streams.symbols.len() > 1000 && streams.named.len() == streams.symbols.len());
        assert!(!streams.symbols.iter().chain(&streams.named).any(|&symbol| is_reserved(symbol)));
    }
}
