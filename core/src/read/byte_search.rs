//! Searching bytes eight at a time.

const LOW: u64 = u64::MAX / 255;
const HIGH: u64 = LOW << 7;

/// Return the eight bytes from an offset on, the first one lowest, or nothing if fewer are left.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Set the high bit of every zero byte. Only the lowest bit that is set can be relied on.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

/// Return the first offset from `at` on that has any of these bytes, or the end of the text.
#[inline(always)]
pub(crate) fn find<const N: usize>(text: &[u8], mut at: usize, bytes: [u8; N]) -> usize {
    let repeated = bytes.map(|b| LOW * b as u64);
    while let Some(word) = eight(text, at) {
        let hits = repeated.iter().fold(0, |hits, &byte| hits | zeros(word ^ byte));
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < text.len() && !bytes.contains(&text[at]) {
        at += 1;
    }
    at
}

/// Return the first offset from `at` on that has another byte, or the end of the text.
#[inline(always)]
pub(crate) fn find_other(text: &[u8], mut at: usize, byte: u8) -> usize {
    while let Some(word) = eight(text, at) {
        let other = word ^ (LOW * byte as u64);
        if other != 0 {
            return at + other.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < text.len() && text[at] == byte {
        at += 1;
    }
    at
}

pub(crate) fn line_end(text: &[u8], from: usize) -> usize {
    find(text, from, [b'\n'])
}

/// Find the first line below that begins, after white space, with exactly this word. Return the offset behind the word.
pub(crate) fn find_line(text: &[u8], from: usize, word: &[u8], inside: &[bool; 256]) -> Option<usize> {
    let mut at = from;
    loop {
        at = line_end(text, at);
        at += text.get(at..)?.iter().take_while(|b| matches!(b, b'\n' | b' ' | b'\t')).count();
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = at + word.len();
        if rest.starts_with(word) && !text.get(end).is_some_and(|&b| inside[b as usize]) {
            return Some(end);
        }
    }
}

/// Set the high bit of each byte that is at least `least`. All bytes must be ASCII, so that none carries.
#[inline(always)]
fn at_least(bytes: u64, least: u8) -> u64 {
    bytes + LOW * (0x80 - least) as u64
}

/// Return eight bytes with the ASCII letters in lower case.
#[inline(always)]
pub(crate) fn lowered(word: u64) -> u64 {
    let ascii = word & !HIGH;
    let upper = at_least(ascii, b'A') & !at_least(ascii, b'Z' + 1) & !word & HIGH;
    word | upper >> 2
}

/// Return how many of eight bytes, from the lowest on, are ASCII letters, digits, underscores or not ASCII.
#[inline(always)]
pub(crate) fn word_length(word: u64) -> usize {
    let ascii = word & !HIGH;
    let lower = ascii | (LOW * 0x20);
    let letter = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digit = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
    let underscore = !at_least(ascii ^ (LOW * b'_' as u64), 1);
    let other = !(letter | digit | underscore | word) & HIGH;
    other.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_is() {
        for byte in 0..=255u8 {
            let inside = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            for index in 0..8 {
                let mut text = [b'q'; 8];
                text[index] = byte;
                let expected = if inside { 8 } else { index };
                assert_eq!(word_length(u64::from_le_bytes(text)), expected, "{byte} at {index}");
                assert_eq!(lowered(u64::from_le_bytes(text)).to_le_bytes()[index], byte.to_ascii_lowercase());
                for length in 1..24 {
                    let mut text = vec![byte ^ 1; length];
                    assert_eq!(find(&text, 0, [byte, byte ^ 3]), length);
                    assert_eq!(find_other(&text, 0, byte ^ 1), length);
                    text[length / 2] = byte;
                    assert_eq!(find(&text, 0, [byte ^ 3, byte]), length / 2);
                    assert_eq!(find_other(&text, 0, byte ^ 1), length / 2);
                }
            }
        }
    }
}
