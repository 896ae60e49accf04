//! Chunks: how a front end hands its symbols on.

use crate::read::source::Source;
use crate::select::hash::PADDING;

/// A stretch of a stream: symbols, and the place of each in its source.
pub struct Chunk {
    pub symbols: Vec<u32>,
    /// What `Source::range` turns into a byte range; left alone by sources whose places are positions.
    pub places: Vec<u32>,
    /// Where symbols end, from sources whose places do not tell.
    pub ends: Vec<u32>,
    pub len: usize,
}

impl Chunk {
    pub fn new(capacity: usize) -> Self {
        Chunk {
            symbols: vec![0; capacity + PADDING],
            places: vec![0; capacity],
            ends: vec![0; capacity],
            len: 0,
        }
    }

    pub fn room(&self) -> usize {
        self.places.len() - self.len
    }

    #[inline(always)]
    pub fn push(&mut self, symbol: u32, place: u32) {
        self.symbols[self.len] = symbol;
        self.places[self.len] = place;
        self.len += 1;
    }

    /// Makes room for as many symbols again, for whoever needs all of a stream.
    pub(crate) fn grow(&mut self) {
        let capacity = 2 * self.places.len();
        self.symbols.resize(capacity + PADDING, 0);
        self.places.resize(capacity, 0);
        self.ends.resize(capacity, 0);
    }

    /// Drops the first n symbols.
    pub(crate) fn drop_front(&mut self, n: usize) {
        self.symbols.copy_within(n..self.len, 0);
        self.places.copy_within(n..self.len, 0);
        self.ends.copy_within(n..self.len, 0);
        self.len -= n;
    }
}

/// Where a front end puts its symbols: it fills the chunk and flushes when little room is left.
pub trait Sink {
    fn chunk(&mut self) -> &mut Chunk;
    fn flush(&mut self, source: &Source);
}
