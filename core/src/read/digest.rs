//! Hashes of whole streams, by which equal ones are known without their texts.

use std::ops::Range;

use crate::machine::level::{Level, Task};
use crate::machine::parallel::{each_in_order, shares};
use crate::read::chunk::{Chunk, Sink};
use crate::read::source::Source;
use crate::select::hash::mix64;

/// Sums over the symbols of a stream, so that its chunks do not matter.
#[derive(Clone, Copy, Default)]
pub struct Digest {
    /// Depends on where each symbol is.
    pub in_order: u64,
    /// The same for the same symbols in any order.
    pub in_any_order: u64,
}

/// Return the hashes of each document's stream; they do not depend on the number of threads.
pub fn digests(sources: &[Source], threads: usize, level: Level) -> Vec<Digest> {
    let shares = shares(sources.iter().map(Source::size));
    let read = |range: Range<usize>| {
        let mut reader = DigestReader::new(level);
        sources[range].iter().map(|source| reader.read(source)).collect::<Vec<_>>()
    };
    let mut all = Vec::with_capacity(sources.len());
    each_in_order(shares.len(), 1, threads, |i| read(shares[i.start].clone()), |part| all.extend(part));
    all
}

struct DigestReader {
    chunk: Chunk,
    level: Level,
    digest: Digest,
    /// The position in the stream of the first symbol in the chunk.
    base: u64,
}

impl DigestReader {
    fn new(level: Level) -> Self {
        DigestReader { chunk: Chunk::new(1 << 13), level, digest: Digest::default(), base: 0 }
    }

    fn read(&mut self, source: &Source) -> Digest {
        source.read(self, self.level);
        self.flush(source);
        self.base = 0;
        std::mem::take(&mut self.digest)
    }
}

impl Sink for DigestReader {
    fn chunk(&mut self) -> &mut Chunk {
        &mut self.chunk
    }

    fn flush(&mut self, _: &Source) {
        let symbols = &self.chunk.symbols[..self.chunk.len];
        let Digest { in_order, in_any_order } = self.level.run(Add { symbols, base: self.base });
        self.digest.in_order = self.digest.in_order.wrapping_add(in_order);
        self.digest.in_any_order = self.digest.in_any_order.wrapping_add(in_any_order);
        self.base += self.chunk.len as u64;
        self.chunk.len = 0;
    }
}

/// Add up the hashes of symbols that begin at a position.
struct Add<'a> {
    symbols: &'a [u32],
    base: u64,
}

impl Task for Add<'_> {
    type Output = Digest;
    #[inline(always)]
    fn run(self) -> Digest {
        let mut digest = Digest::default();
        for (i, &symbol) in self.symbols.iter().enumerate() {
            // A document has fewer than 2^32 symbols, so position and symbol share 64 bits.
            let placed = (self.base + i as u64 + 1) << 32 | symbol as u64;
            digest.in_order = digest.in_order.wrapping_add(mix64(placed));
            digest.in_any_order = digest.in_any_order.wrapping_add(mix64(symbol as u64));
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(symbols: &[u32]) -> (u64, u64) {
        let found = digests(&[Source::Symbols(symbols)], 1, Level::best())[0];
        (found.in_order, found.in_any_order)
    }

    #[test]
    fn an_order_changes_one_hash_and_a_symbol_both() {
        let symbols: Vec<u32> = (0..20_000).map(|i| i * i % 251).collect();
        let whole = digest(&symbols);
        let mut swapped = symbols.clone();
        swapped.swap(3, 17_000);
        assert_ne!(digest(&swapped).0, whole.0);
        assert_eq!(digest(&swapped).1, whole.1);
        swapped[5] += 1;
        assert_ne!(digest(&swapped).1, whole.1);
        assert_ne!(digest(&[0, 0]), digest(&[0]));
    }

    #[test]
    fn threads_and_levels_do_not_matter() {
        let symbols: Vec<u32> = (0..300_000).map(|i| i % 1009).collect();
        let sources: Vec<Source> = symbols.chunks(70_001).map(Source::Symbols).collect();
        let pairs = |threads, level| {
            let all = digests(&sources, threads, Level::at_most(level));
            all.iter().map(|d| (d.in_order, d.in_any_order)).collect::<Vec<_>>()
        };
        assert_eq!(pairs(1, 0), pairs(3, 2));
        assert_eq!(
            pairs(1, 0),
            sources
                .iter()
                .map(|s| match s {
                    Source::Symbols(symbols) => digest(symbols),
                    _ => unreachable!(),
                })
                .collect::<Vec<_>>()
        );
    }
}
