//! A whole stream laid out: symbols, starts and ends.

use crate::machine::level::Level;
use crate::machine::pages::prefer_huge_pages;
use crate::read::chunk::{Chunk, Sink};
use crate::read::html;
use crate::read::text::{Source, utf8_length};

/// Symbols that are looked at together for being ASCII.
const BLOCK: usize = 256;

/// Gathers a stream.
pub struct Gather {
    symbols: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    chunk: Chunk,
}

/// A stream, and the bytes of each symbol.
#[derive(Clone, Copy)]
pub struct Laid<'a> {
    pub symbols: &'a [u32],
    pub starts: &'a [u32],
    pub ends: &'a [u32],
}

impl Gather {
    /// Room for a symbol a byte, of which only what is written takes up memory; where it is refused, columns grow.
    pub fn new(source: &Source) -> Self {
        let [symbols, starts, ends] = reserved(source.size()).unwrap_or_default();
        Gather { symbols, starts, ends, chunk: Chunk::new(1 << 13) }
    }

    /// The stream of a source, in the memory of the one before: symbols, starts, ends.
    pub fn lay(&mut self, source: &Source, level: Level) -> Laid<'_> {
        [&mut self.symbols, &mut self.starts, &mut self.ends].into_iter().for_each(Vec::clear);
        source.read(self, level);
        self.flush(source);
        Laid { symbols: &self.symbols, starts: &self.starts, ends: &self.ends }
    }

    /// Symbols, starts, ends.
    pub fn finish(mut self, source: &Source) -> [Vec<u32>; 3] {
        self.flush(source);
        let mut columns = [self.symbols, self.starts, self.ends];
        columns.iter_mut().for_each(Vec::shrink_to_fit);
        columns
    }
}

impl Sink for Gather {
    fn chunk(&mut self) -> &mut Chunk {
        &mut self.chunk
    }

    fn flush(&mut self, source: &Source) {
        let n = self.chunk.len;
        self.chunk.len = 0;
        let first = self.symbols.len() as u32;
        let (places, noted) = (&self.chunk.places[..n], &self.chunk.ends[..n]);
        self.symbols.extend_from_slice(&self.chunk.symbols[..n]);
        let (starts, ends) = (&mut self.starts, &mut self.ends);
        match source {
            Source::Bytes(_) | Source::Symbols(_) => {
                starts.extend(first..first + n as u32);
                ends.extend(first + 1..first + 1 + n as u32);
            }
            Source::Code(..) => {
                starts.extend_from_slice(places);
                ends.extend_from_slice(noted);
            }
            Source::Decoded(_, _, all) => {
                starts.extend(places.iter().map(|&p| all[p as usize]));
                ends.extend(places.iter().map(|&p| all[p as usize + 1]));
            }
            Source::Utf32(..) => fixed(starts, ends, places, 4),
            Source::SingleByte(..) => fixed(starts, ends, places, 1),
            Source::Utf16(..) => {
                starts.extend_from_slice(places);
                ends.extend(places.iter().map(|&p| source.range(0, p, 0).1));
            }
            Source::Utf8(bytes, _) | Source::Unknown(bytes, _) => {
                for block in places.chunks(BLOCK) {
                    if bytes[block[0] as usize..=block[block.len() - 1] as usize].is_ascii() {
                        fixed(starts, ends, block, 1);
                    } else {
                        starts.extend_from_slice(block);
                        ends.extend(block.iter().map(|&p| p + utf8_length(bytes[p as usize])));
                    }
                }
            }
            Source::Html(bytes, _, table) => {
                starts.extend_from_slice(places);
                let is_utf8 = table.is_none();
                ends.extend(places.iter().zip(noted).map(|(&p, &end)| html::end(bytes, p, end, is_utf8)));
            }
        }
    }
}

/// All three or none: one could take the room of the others.
fn reserved(size: usize) -> Option<[Vec<u32>; 3]> {
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    for column in &mut columns {
        column.try_reserve_exact(size).ok()?;
        prefer_huge_pages(column);
    }
    Some(columns)
}

/// Symbols of so many bytes each.
fn fixed(starts: &mut Vec<u32>, ends: &mut Vec<u32>, places: &[u32], size: u32) {
    starts.extend_from_slice(places);
    ends.extend(places.iter().map(|&p| p + size));
}
