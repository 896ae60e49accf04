//! The keywords of a language, and their symbols.

use crate::read::byte_search::{eight, lowered};
use crate::read::symbol::{NAME, spelling};

/// A hash table of keywords by their first eight bytes and their length, with open addressing.
#[derive(Default)]
pub(crate) struct Keywords {
    slots: Vec<Slot>,
    /// The whole word of every slot, to compare words of more than eight bytes.
    words: Vec<Vec<u8>>,
    ignore_case: bool,
}

/// A slot of the table; a free one has length 0 and the symbol of names.
#[derive(Clone, Copy)]
struct Slot {
    head: u64,
    length: u32,
    symbol: u32,
}

impl Keywords {
    pub fn new(words: &[Vec<u8>], ignore_case: bool) -> Self {
        let size = (8 * words.len()).next_power_of_two().max(8);
        let free = Slot { head: 0, length: 0, symbol: NAME };
        let mut keywords = Keywords { slots: vec![free; size], words: vec![Vec::new(); size], ignore_case };
        for word in words {
            let symbol = spelling(word, ignore_case);
            let head = keywords.head(word, 0, word.len());
            let mut at = keywords.home(head, word.len());
            while keywords.slots[at].length != 0 {
                at = (at + 1) % size;
            }
            keywords.slots[at] = Slot { head, length: word.len() as u32, symbol };
            keywords.words[at].clone_from(word);
        }
        keywords
    }

    /// Return the symbol of the word from start to end: its own if it is a keyword, otherwise that of names.
    #[inline(always)]
    pub fn symbol(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let length = end - start;
        let head = self.head(text, start, end);
        let mut at = self.home(head, length);
        loop {
            let slot = &self.slots[at];
            let is_free = slot.length == 0;
            // One branch for the usual cases: whether a word is a keyword cannot be predicted.
            if (slot.head == head) & (slot.length as usize == length) | is_free
                && (length <= 8 || is_free || self.is_same(&self.words[at], &text[start..end]))
            {
                return slot.symbol;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn is_same(&self, a: &[u8], b: &[u8]) -> bool {
        if self.ignore_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }

    #[inline(always)]
    fn head(&self, text: &[u8], start: usize, end: usize) -> u64 {
        let n = (end - start).min(8);
        let head = eight(text, start).unwrap_or_else(|| {
            let mut bytes = [0; 8];
            bytes[..n].copy_from_slice(&text[start..start + n]);
            u64::from_le_bytes(bytes)
        });
        let head = head & (u64::MAX >> (64 - 8 * n));
        if self.ignore_case { lowered(head) } else { head }
    }

    #[inline(always)]
    fn home(&self, head: u64, length: usize) -> usize {
        let mixed = (head ^ length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize & (self.slots.len() - 1)
    }
}
