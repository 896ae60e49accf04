//! Documents -> their streams, laid out in columns: symbols, starts, ends and, for programs, named symbols.

use std::ops::Range;

use crate::machine::huge_pages::prefer_huge_pages;
use crate::machine::level::Level;
use crate::machine::parallel::{each_in_order, shares};
use crate::read::chunk::{Chunk, Sink};
use crate::read::source::Source;
use crate::read::text::utf8_length;

/// Symbols whose bytes are tested together for being ASCII.
const BLOCK: usize = 256;

/// Streams of documents one after another.
#[derive(Default)]
pub struct Streams {
    pub symbols: Vec<u32>,
    /// The bytes of each symbol in its document.
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
    /// The same tokens with names, numbers and strings by what they say; empty unless asked for. Where the document
    /// is not a program, its symbols.
    pub named: Vec<u32>,
    /// The number of symbols of each document.
    pub lengths: Vec<u32>,
}

#[derive(Clone, Copy)]
pub struct Stream<'a> {
    pub symbols: &'a [u32],
    pub starts: &'a [u32],
    pub ends: &'a [u32],
}

impl Streams {
    /// Reserve a symbol per byte. The system gives memory only where something is written, so nothing is copied to
    /// grow and nothing is held that is not used. Most of the time for twelve bytes a symbol goes into page faults,
    /// so large columns ask for huge pages. Where the memory is refused, columns grow as they are filled.
    fn with_room(size: usize, with_names: bool) -> Self {
        let mut streams = Streams::default();
        let columns = streams.columns();
        let asked = if with_names { 4 } else { 3 };
        // All or none: one column could take the room of the others.
        if columns.into_iter().take(asked).all(|column| column.try_reserve_exact(size).is_ok()) {
            streams.columns().into_iter().for_each(prefer_huge_pages);
            streams
        } else {
            Streams::default()
        }
    }

    fn columns(&mut self) -> [&mut Vec<u32>; 4] {
        [&mut self.symbols, &mut self.starts, &mut self.ends, &mut self.named]
    }

    fn append(&mut self, mut other: Streams) {
        self.lengths.append(&mut other.lengths);
        for (column, part) in self.columns().into_iter().zip(other.columns()) {
            column.extend_from_slice(part);
        }
    }

    fn shrunk(mut self) -> Self {
        self.columns().into_iter().for_each(Vec::shrink_to_fit);
        self
    }
}

/// Read the streams of documents on several threads; the result does not depend on how many.
pub fn read_streams(sources: &[Source], with_names: bool, threads: usize, level: Level) -> Streams {
    let size = |range: Range<usize>| sources[range].iter().map(Source::size).sum::<usize>();
    let read = |range: Range<usize>| {
        let mut reader = StreamReader::new(size(range.clone()), with_names);
        sources[range].iter().for_each(|source| reader.append(source, level));
        reader.streams
    };
    let shares = shares(sources.iter().map(Source::size));
    if threads <= 1 || shares.len() <= 1 {
        return read(0..sources.len()).shrunk();
    }
    let mut all = Streams::with_room(size(0..sources.len()), with_names);
    each_in_order(shares.len(), 1, threads, |i| read(shares[i.start].clone()), |part| all.append(part));
    all.shrunk()
}

/// Lays out streams, one after another or each in the memory of the one before.
pub struct StreamReader {
    streams: Streams,
    with_names: bool,
    /// Where the current document begins in the columns.
    first: usize,
    chunk: Chunk,
}

impl StreamReader {
    /// Make a reader with room for documents of `size` bytes in all. If they are larger, the columns grow.
    pub fn new(size: usize, with_names: bool) -> Self {
        let streams = Streams::with_room(size, with_names);
        StreamReader { streams, with_names, first: 0, chunk: Chunk::new(1 << 13) }
    }

    /// Return the stream of a document, in the memory of the one before.
    pub fn read(&mut self, source: &Source, level: Level) -> Stream<'_> {
        self.streams.columns().into_iter().for_each(Vec::clear);
        self.streams.lengths.clear();
        self.append(source, level);
        let Streams { symbols, starts, ends, .. } = &self.streams;
        Stream { symbols, starts, ends }
    }

    fn append(&mut self, source: &Source, level: Level) {
        self.first = self.streams.symbols.len();
        source.read(self, level);
        self.flush(source);
        let length = u32::try_from(self.streams.symbols.len() - self.first);
        self.streams.lengths.push(length.expect("a document has more than 2^32 - 1 symbols; split it"));
    }
}

impl Sink for StreamReader {
    fn chunk(&mut self) -> &mut Chunk {
        &mut self.chunk
    }

    fn flush(&mut self, source: &Source) {
        let n = self.chunk.len;
        self.chunk.len = 0;
        let Streams { symbols, starts, ends, named, .. } = &mut self.streams;
        let position = symbols.len() - self.first;
        let tokens = &self.chunk.symbols[..n];
        let (offsets, noted) = (&self.chunk.offsets[..n], &self.chunk.ends[..n]);
        symbols.extend_from_slice(tokens);
        match source {
            Source::Bytes(_) | Source::Symbols(_) => {
                let first = position as u32; // a document has fewer bytes than 2^32
                starts.extend(first..first + n as u32);
                ends.extend(first + 1..first + 1 + n as u32);
            }
            Source::Stream(stream) => {
                starts.extend_from_slice(&stream.starts[position..position + n]);
                ends.extend_from_slice(&stream.ends[position..position + n]);
            }
            Source::Code(..) => {
                starts.extend_from_slice(offsets);
                ends.extend_from_slice(noted);
            }
            Source::Decoded(_, _, all) => {
                starts.extend(offsets.iter().map(|&p| all[p as usize]));
                ends.extend(offsets.iter().map(|&p| all[p as usize + 1]));
            }
            Source::Utf32(..) => fixed(starts, ends, offsets, 4),
            Source::SingleByte(..) => fixed(starts, ends, offsets, 1),
            Source::Utf16(..) | Source::Html(..) => {
                starts.extend_from_slice(offsets);
                ends.extend(offsets.iter().zip(noted).map(|(&p, &end)| source.range(0, p, end).1));
            }
            Source::Utf8(bytes, _) => {
                for block in offsets.chunks(BLOCK) {
                    if bytes[block[0] as usize..=block[block.len() - 1] as usize].is_ascii() {
                        fixed(starts, ends, block, 1);
                    } else {
                        starts.extend_from_slice(block);
                        ends.extend(block.iter().map(|&p| p + utf8_length(bytes[p as usize])));
                    }
                }
            }
        }
        match source {
            _ if !self.with_names => {}
            Source::Code(text, language) => {
                let spans = offsets.iter().zip(noted).map(|(&start, &end)| start as usize..end as usize);
                named.extend(tokens.iter().zip(spans).map(|(&token, span)| language.named(token, &text[span])));
            }
            _ => named.extend_from_slice(tokens),
        }
    }
}

/// Append the spans of symbols of `size` bytes each.
fn fixed(starts: &mut Vec<u32>, ends: &mut Vec<u32>, offsets: &[u32], size: u32) {
    starts.extend_from_slice(offsets);
    ends.extend(offsets.iter().map(|&p| p + size));
}
