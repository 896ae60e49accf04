//! Reads a bucket of a segment: searches it, decodes it. Its bytes may be anything.

use std::ops::Range;

use crate::index::bits::{mask, prefetch, read, select, word};
use crate::index::segment::{Damage, Record, Segment};

/// Postings. Up to this many are searched one by one.
const LINEAR_SEARCH: u64 = 8;
/// Bytes of a cache line.
const LINE: usize = 64;

#[derive(Clone, Copy)]
pub struct Bucket<'a> {
    segment: &'a Segment<'a>,
    number: u64,
    pub n: u64,
    /// The byte where the unary part begins, then the bits where the low bits, documents and positions begin.
    unary: usize,
    lows: u64,
    documents: u64,
    positions: u64,
    high_bits: u32,
    low_bits: u32,
    position_bits: u32,
}

/// A word of the unary part, and the number of zeros before it. It only moves forward.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    word: usize,
    zeros: u64,
}

impl<'a> Bucket<'a> {
    #[inline]
    pub fn new(segment: &'a Segment<'a>, number: u64, n: u64, unary: usize, position_bits: u32) -> Self {
        let shape = &segment.shape;
        let high_bits = shape.high_bits(n);
        let low_bits = shape.rest_bits() - high_bits;
        let lows = unary as u64 * 8 + n + (1 << high_bits);
        let documents = lows + n * low_bits as u64;
        let positions = documents + n * shape.document_bits as u64;
        Bucket { segment, number, n, unary, lows, documents, positions, high_bits, low_bits, position_bits }
    }

    /// Prefetch what `find` will read, if keys are spread evenly.
    #[inline]
    pub fn prefetch(&self, rest: u64) {
        let bytes = self.segment.bytes;
        let high = rest >> self.low_bits;
        let i = high.wrapping_mul(self.n) >> self.high_bits;
        let end = self.unary + ((high + i) / 8) as usize;
        (self.unary..end.min(self.unary + 4 * LINE)).step_by(LINE).for_each(|at| prefetch(bytes, at));
        let low = ((self.lows + i * self.low_bits as u64) / 8) as usize;
        [end, low.saturating_sub(LINE / 2), low + LINE / 2].iter().for_each(|&at| prefetch(bytes, at));
    }

    /// Prefetch the document and the position of a posting.
    #[inline]
    pub fn prefetch_posting(&self, i: u64) {
        let document = self.documents + i * self.document_bits() as u64;
        let position = self.positions + i * self.position_bits as u64;
        [document, position].iter().for_each(|&at| prefetch(self.segment.bytes, (at / 8) as usize));
    }

    fn words(&self) -> usize {
        (self.n + (1 << self.high_bits)).div_ceil(64) as usize
    }

    #[inline]
    fn word(&self, number: usize) -> u64 {
        word(self.segment.bytes, self.unary + 8 * number)
    }

    fn damage(&self) -> Damage {
        Damage::at(self.unary)
    }

    /// Verify the postings `range` of a column that begins at bit `from` and is `width` bits wide.
    #[inline]
    fn verify(&self, from: u64, width: u32, range: &Range<u64>) -> Result<(), Damage> {
        let (from, to) = (from + range.start * width as u64, from + range.end * width as u64);
        self.segment.verify((from / 8) as usize, to.div_ceil(8) as usize)
    }

    #[inline]
    fn verify_unary(&self) -> Result<(), Damage> {
        self.segment.verify(self.unary, self.lows.div_ceil(8) as usize)
    }

    /// Return the postings with these high bits. The cursor must not be behind them.
    #[inline]
    fn run(&self, high: u64, cursor: &mut Cursor) -> Result<Range<u64>, Damage> {
        self.verify_unary()?;
        let mut bit = 0;
        if high > 0 {
            // They begin after the zero that has high - 1 zeros before it.
            loop {
                let word = self.word(cursor.word);
                let zeros = word.count_zeros() as u64;
                if cursor.zeros + zeros >= high {
                    let zero = select(!word, (high - 1 - cursor.zeros) as u32);
                    bit = cursor.word as u64 * 64 + zero as u64 + 1;
                    break;
                }
                cursor.zeros += zeros;
                cursor.word += 1;
                if cursor.word >= self.words() {
                    return Err(self.damage());
                }
            }
        }
        let start = bit - high;
        let mut end = start;
        loop {
            let ones = read(self.segment.bytes, self.unary as u64 * 8 + bit, 64).trailing_ones() as u64;
            (end, bit) = (end + ones, bit + ones);
            if end > self.n {
                return Err(self.damage());
            }
            if ones < 64 {
                return Ok(start..end);
            }
        }
    }

    #[inline]
    fn low(&self, i: u64) -> u64 {
        read(self.segment.bytes, self.lows + i * self.low_bits as u64, self.low_bits)
    }

    /// Return the first posting of a run whose low bits are not below the limit.
    fn first_above(&self, run: &Range<u64>, is_below: impl Fn(u64) -> bool) -> u64 {
        let (mut from, mut to) = (run.start, run.end);
        if to - from <= LINEAR_SEARCH {
            return (from..to).find(|&i| !is_below(self.low(i))).unwrap_or(to);
        }
        while from < to {
            let middle = from + (to - from) / 2;
            if is_below(self.low(middle)) { from = middle + 1 } else { to = middle }
        }
        from
    }

    /// Return the postings with this rest of a key.
    #[inline]
    pub fn find(&self, rest: u64, cursor: &mut Cursor) -> Result<Range<u64>, Damage> {
        if self.n == 0 {
            return Ok(0..0);
        }
        let run = self.run(rest >> self.low_bits, cursor)?;
        if run.is_empty() {
            return Ok(run);
        }
        self.verify(self.lows, self.low_bits, &run)?;
        let low = rest & mask(self.low_bits);
        let from = self.first_above(&run, |other| other < low);
        Ok(from..self.first_above(&(from..run.end), |other| other <= low))
    }

    /// Return how many postings have a smaller rest.
    pub fn lower_bound(&self, rest: u64) -> Result<u64, Damage> {
        let run = self.run(rest >> self.low_bits, &mut Cursor::default())?;
        self.verify(self.lows, self.low_bits, &run)?;
        Ok(self.first_above(&run, |other| other < rest & mask(self.low_bits)))
    }

    /// Verify the postings in a range before they are read.
    #[inline]
    pub fn verify_postings(&self, range: &Range<u64>) -> Result<(), Damage> {
        self.verify(self.documents, self.document_bits(), range)?;
        self.verify(self.positions, self.position_bits, range)
    }

    /// Return postings that were verified, each with the document above the position. Columns are at most 32 bits wide,
    /// so every number is in one word.
    #[inline(always)]
    pub fn postings(&self, range: Range<u64>) -> impl Iterator<Item = u64> + use<'a> {
        let (bytes, first) = (self.segment.bytes, self.segment.shape.first);
        let column = |from: u64, width: u32| {
            let (from, width, mask) = (from + range.start * width as u64, width as u64, mask(width));
            move |i: u64| {
                let bit = from + i * width;
                (word(bytes, (bit / 8) as usize) >> (bit % 8) & mask) as u32
            }
        };
        let document = column(self.documents, self.document_bits());
        let position = column(self.positions, self.position_bits);
        let posting = move |i| (first.wrapping_add(document(i)) as u64) << 32 | position(i) as u64;
        (0..range.end - range.start).map(posting)
    }

    /// Call back with the document of every posting.
    pub fn documents(&self, mut each: impl FnMut(u32)) -> Result<(), Damage> {
        let width = self.document_bits();
        self.verify(self.documents, width, &(0..self.n))?;
        for i in 0..self.n {
            let document = read(self.segment.bytes, self.documents + i * width as u64, width) as u32;
            each(self.segment.shape.first.wrapping_add(document));
        }
        Ok(())
    }

    #[inline]
    fn document_bits(&self) -> u32 {
        self.segment.shape.document_bits
    }

    /// Append the postings `from` to `to`.
    pub fn decode(&self, from: u64, to: u64, out: &mut Vec<Record>) -> Result<(), Damage> {
        if from >= to {
            return Ok(());
        }
        self.verify_unary()?;
        self.verify(self.lows, self.low_bits, &(from..to))?;
        let before = out.len();
        let top = self.number << self.segment.shape.rest_bits();
        self.verify_postings(&(from..to))?;
        out.extend(self.postings(from..to).map(|posting| (0, posting)));
        let mut words = (0..self.words()).map(|number| (number, self.word(number)));
        let mut next_word = || words.next().ok_or_else(|| self.damage());
        // The word with the first of them.
        let (mut number, mut word) = next_word()?;
        let mut passed = 0;
        while passed + word.count_ones() as u64 <= from {
            passed += word.count_ones() as u64;
            (number, word) = next_word()?;
        }
        for _ in passed..from {
            word &= word - 1;
        }
        for (i, record) in (from..to).zip(&mut out[before..]) {
            while word == 0 {
                (number, word) = next_word()?;
            }
            let high = (number as u64 * 64 + word.trailing_zeros() as u64).wrapping_sub(i);
            if high >> self.high_bits != 0 {
                return Err(self.damage());
            }
            record.0 = top | high << self.low_bits | self.low(i);
            word &= word - 1;
        }
        Ok(())
    }
}
