//! Chunks: how a front end passes its symbols on.

use crate::read::source::Source;
use crate::select::hash::PADDING;

/// A stretch of a stream: symbols, and where each is in its source.
pub struct Chunk {
    pub symbols: Vec<u32>,
    /// The offset of each symbol in its source, which `Source::range` turns into a byte range. Not set by sources whose
    /// offsets are the positions in the stream.
    pub offsets: Vec<u32>,
    /// The offset where each symbol ends. Set only by sources that cannot tell it from the start.
    pub ends: Vec<u32>,
    pub len: usize,
}

impl Chunk {
    pub fn new(capacity: usize) -> Self {
        Chunk {
            symbols: vec![0; capacity + PADDING],
            offsets: vec![0; capacity],
            ends: vec![0; capacity],
            len: 0,
        }
    }

    pub fn room(&self) -> usize {
        self.offsets.len() - self.len
    }

    #[inline(always)]
    pub fn push(&mut self, symbol: u32, offset: u32) {
        self.symbols[self.len] = symbol;
        self.offsets[self.len] = offset;
        self.len += 1;
    }

    /// Double the room, for a sink that needs the whole stream.
    pub(crate) fn grow(&mut self) {
        let capacity = 2 * self.offsets.len();
        self.symbols.resize(capacity + PADDING, 0);
        self.offsets.resize(capacity, 0);
        self.ends.resize(capacity, 0);
    }

    /// Drop the first n symbols.
    pub(crate) fn drop_front(&mut self, n: usize) {
        self.symbols.copy_within(n..self.len, 0);
        self.offsets.copy_within(n..self.len, 0);
        self.ends.copy_within(n..self.len, 0);
        self.len -= n;
    }
}

/// Where a front end puts its symbols: it fills the chunk and flushes it when little room is left.
pub trait Sink {
    fn chunk(&mut self) -> &mut Chunk;
    fn flush(&mut self, source: &Source);
}
