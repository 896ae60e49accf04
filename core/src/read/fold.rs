//! Code points -> symbols, by the frozen table in `folding.txt`.
//!
//! The core includes the file when it is built and the reference reads it when it runs, so there is one table. A new
//! table is a new version of the front end, which recipes carry.

use std::collections::HashSet;
use std::sync::OnceLock;

/// What a text is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Letters and digits, without case, marks and look-alikes.
    Letters,
    /// Letters without vowels: what survives bad conversion best.
    Consonants,
}

const TABLE: &str = include_str!("../../../src/chaffinch/folding.txt");

/// No code point folds to more symbols than this.
pub(crate) const MAX_EXPANSION: usize = 18;

const PAGE: usize = 256;

/// An entry is 0 (dropped), a symbol, or `SEVERAL` with a length and an offset into `sequences`.
const SEVERAL: u32 = 1 << 31;

/// A folding table, in pages of code points.
pub struct Folding {
    /// The symbol of each ASCII byte; 0 is dropped.
    pub ascii: [u8; 128],
    pages: Vec<u16>,
    entries: Vec<u32>,
    sequences: Vec<u32>,
}

impl Folding {
    /// Return the table of a form, which is parsed once.
    pub fn of(form: Form) -> &'static Folding {
        static LETTERS: OnceLock<Folding> = OnceLock::new();
        static CONSONANTS: OnceLock<Folding> = OnceLock::new();
        match form {
            Form::Letters => LETTERS.get_or_init(|| Folding::parse(|_| true)),
            Form::Consonants => CONSONANTS.get_or_init(|| {
                let vowels = TABLE.lines().find_map(|l| l.strip_prefix("vowels ")).unwrap_or("");
                let vowels: HashSet<u32> = vowels.split(' ').map(hex).collect();
                Folding::parse(|symbol| !vowels.contains(&symbol) && !(0x30..0x3a).contains(&symbol))
            }),
        }
    }

    fn parse(keep: impl Fn(u32) -> bool) -> Folding {
        let mut folding = Folding {
            ascii: [0; 128],
            pages: vec![0; 0x11_0000 / PAGE],
            entries: vec![0; PAGE], // page 0: all code points are dropped
            sequences: Vec::new(),
        };
        let mut symbols = Vec::new();
        for line in TABLE.lines().filter(|l| !l.starts_with('#') && !l.starts_with("vowels")) {
            let (range, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            for code in hex(first)..=hex(last) {
                symbols.clear();
                if rest == "hangul" {
                    hangul(code, &mut symbols);
                } else if let Some(offset) = rest.strip_prefix('+') {
                    symbols.push(code + hex(offset));
                } else if let Some(offset) = rest.strip_prefix('-') {
                    symbols.push(code - hex(offset));
                } else {
                    symbols.extend(rest.split(' ').map(hex));
                }
                symbols.retain(|&s| keep(s));
                folding.set(code, &symbols);
            }
        }
        for code in 0..128 {
            folding.ascii[code] = folding.entry(code as u32) as u8;
        }
        folding
    }

    fn set(&mut self, code: u32, symbols: &[u32]) {
        let entry = match symbols {
            [] => return,
            [symbol] => *symbol,
            several => {
                let offset = self.sequences.len() as u32;
                self.sequences.extend_from_slice(several);
                SEVERAL | (several.len() as u32) << 24 | offset
            }
        };
        let page = &mut self.pages[code as usize / PAGE];
        if *page == 0 {
            *page = (self.entries.len() / PAGE) as u16;
            self.entries.resize(self.entries.len() + PAGE, 0);
        }
        self.entries[*page as usize * PAGE + code as usize % PAGE] = entry;
    }

    #[inline(always)]
    fn entry(&self, code: u32) -> u32 {
        let page = self.pages.get(code as usize / PAGE).copied().unwrap_or(0);
        self.entries[page as usize * PAGE + code as usize % PAGE]
    }

    /// Call `emit` with each symbol that a code point folds to.
    #[inline(always)]
    pub fn fold(&self, code: u32, mut emit: impl FnMut(u32)) {
        let entry = self.entry(code);
        if entry & SEVERAL != 0 {
            let (offset, len) = (entry as usize & 0xff_ffff, (entry >> 24) as usize & 0x7f);
            self.sequences[offset..offset + len].iter().for_each(|&s| emit(s));
        } else if entry != 0 {
            emit(entry);
        }
    }
}

fn hex(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).expect("folding.txt holds hexadecimal numbers")
}

/// Append the leading consonant, the vowel and the trailing consonant, if any, of a Hangul syllable.
fn hangul(code: u32, symbols: &mut Vec<u32>) {
    let index = code - 0xac00;
    symbols.extend([0x1100 + index / 588, 0x1161 + index % 588 / 28]);
    if !index.is_multiple_of(28) {
        symbols.push(0x11a7 + index % 28);
    }
}
