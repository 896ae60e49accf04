//! A bucket of a segment, read: found in, searched, decoded. What it holds is not believed.

use std::ops::Range;

use crate::index::bits::{mask, prefetch, read, select, word};
use crate::index::segment::{Damage, Record, Segment};

/// Runs up to this long are searched one by one.
const SHORT: u64 = 8;
/// Bytes that come from memory together.
const LINE: usize = 64;

#[derive(Clone, Copy)]
pub struct Bucket<'a> {
    segment: &'a Segment<'a>,
    number: u64,
    pub n: u64,
    /// Where its bytes begin, and the lowest bits, the documents, the positions.
    unary: usize,
    lows: u64,
    documents: u64,
    positions: u64,
    high_bits: u32,
    low_bits: u32,
    position_bits: u32,
}

/// A place in the unary part: so many zeros come before this word. It moves on only.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    word: usize,
    zeros: u64,
}

impl<'a> Bucket<'a> {
    #[inline]
    pub fn new(segment: &'a Segment<'a>, number: u64, n: u64, start: usize, position_bits: u32) -> Self {
        let shape = &segment.shape;
        let high_bits = shape.high_bits(n);
        let low_bits = shape.rest_bits() - high_bits;
        let lows = start as u64 * 8 + n + (1 << high_bits);
        let documents = lows + n * low_bits as u64;
        let positions = documents + n * shape.document_bits as u64;
        Bucket {
            segment,
            number,
            n,
            unary: start,
            lows,
            documents,
            positions,
            high_bits,
            low_bits,
            position_bits,
        }
    }

    /// Asks ahead of time for what finding this rest will read if keys are spread evenly.
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

    /// Asks ahead of time for the document and the position of a posting.
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

    /// Makes sure of the postings `range` of a column of `width` bits that begins at bit `from`.
    #[inline]
    fn ensure(&self, from: u64, width: u32, range: &Range<u64>) -> Result<(), Damage> {
        let (from, to) = (from + range.start * width as u64, from + range.end * width as u64);
        self.segment.ensure((from / 8) as usize, to.div_ceil(8) as usize)
    }

    #[inline]
    fn ensure_unary(&self) -> Result<(), Damage> {
        self.segment.ensure(self.unary, self.lows.div_ceil(8) as usize)
    }

    /// The postings whose high bits are these; the cursor has not been beyond.
    #[inline]
    fn run(&self, high: u64, cursor: &mut Cursor) -> Result<Range<u64>, Damage> {
        self.ensure_unary()?;
        let mut at = 0;
        if high > 0 {
            // Behind the zero that high - 1 zeros come before.
            loop {
                let word = self.word(cursor.word);
                let zeros = word.count_zeros() as u64;
                if cursor.zeros + zeros >= high {
                    let place = select(!word, (high - 1 - cursor.zeros) as u32);
                    at = cursor.word as u64 * 64 + place as u64 + 1;
                    break;
                }
                cursor.zeros += zeros;
                cursor.word += 1;
                if cursor.word >= self.words() {
                    return Err(self.damage());
                }
            }
        }
        let start = at - high;
        let mut end = start;
        loop {
            let ones = read(self.segment.bytes, self.unary as u64 * 8 + at, 64).trailing_ones() as u64;
            (end, at) = (end + ones, at + ones);
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

    /// Which of a run's postings have lowest bits below the limit: those before the result.
    fn below(&self, run: &Range<u64>, limit: impl Fn(u64) -> bool) -> u64 {
        let (mut from, mut to) = (run.start, run.end);
        if to - from <= SHORT {
            return (from..to).find(|&i| !limit(self.low(i))).unwrap_or(to);
        }
        while from < to {
            let middle = from + (to - from) / 2;
            if limit(self.low(middle)) { from = middle + 1 } else { to = middle }
        }
        from
    }

    /// The postings with this rest of a key.
    #[inline]
    pub fn find(&self, rest: u64, cursor: &mut Cursor) -> Result<Range<u64>, Damage> {
        if self.n == 0 {
            return Ok(0..0);
        }
        let run = self.run(rest >> self.low_bits, cursor)?;
        if run.is_empty() {
            return Ok(run);
        }
        self.ensure(self.lows, self.low_bits, &run)?;
        let low = rest & mask(self.low_bits);
        let from = self.below(&run, |other| other < low);
        Ok(from..self.below(&(from..run.end), |other| other <= low))
    }

    /// How many postings have a smaller rest.
    pub fn lower_bound(&self, rest: u64) -> Result<u64, Damage> {
        let run = self.run(rest >> self.low_bits, &mut Cursor::default())?;
        self.ensure(self.lows, self.low_bits, &run)?;
        Ok(self.below(&run, |other| other < rest & mask(self.low_bits)))
    }

    /// Calls back with the document and the position of each of these.
    #[inline]
    pub fn visit(&self, range: Range<u64>, mut each: impl FnMut(u32, u32)) -> Result<(), Damage> {
        let (bytes, width, first) = (self.segment.bytes, self.document_bits(), self.segment.shape.first);
        self.ensure(self.documents, width, &range)?;
        self.ensure(self.positions, self.position_bits, &range)?;
        for i in range {
            let document = read(bytes, self.documents + i * width as u64, width) as u32;
            let position =
                read(bytes, self.positions + i * self.position_bits as u64, self.position_bits) as u32;
            each(first.wrapping_add(document), position);
        }
        Ok(())
    }

    /// Calls back with every document.
    pub fn documents(&self, mut each: impl FnMut(u32)) -> Result<(), Damage> {
        let width = self.document_bits();
        self.ensure(self.documents, width, &(0..self.n))?;
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

    /// Appends the postings `from` to `to`.
    pub fn decode(&self, from: u64, to: u64, out: &mut Vec<Record>) -> Result<(), Damage> {
        if from >= to {
            return Ok(());
        }
        self.ensure_unary()?;
        self.ensure(self.lows, self.low_bits, &(from..to))?;
        let before = out.len();
        let top = self.number << self.segment.shape.rest_bits();
        self.visit(from..to, |document, position| out.push((0, (document as u64) << 32 | position as u64)))?;
        // The first word that has one of them.
        let (mut number, mut seen) = (0, 0);
        let mut word = self.word(0);
        while seen + word.count_ones() as u64 <= from {
            seen += word.count_ones() as u64;
            number += 1;
            if number >= self.words() {
                return Err(self.damage());
            }
            word = self.word(number);
        }
        for _ in seen..from {
            word &= word - 1;
        }
        for (i, record) in (from..to).zip(&mut out[before..]) {
            while word == 0 {
                number += 1;
                if number >= self.words() {
                    return Err(self.damage());
                }
                word = self.word(number);
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
