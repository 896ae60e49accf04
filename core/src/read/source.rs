//! A document as the core receives it, and its way to symbols with byte ranges.
//!
//! A front end hands its symbols on in chunks, so the stream is never laid out whole on the way to fingerprints. Beside
//! each symbol it notes one number, its offset; the byte range is worked out for the chosen grams alone. So memory is the
//! input and 20 bytes for each fingerprint. (The schemes
//! `smallest` and `rare` are exceptions: they need the whole document.)

use crate::machine::level::{Level, Task};
use crate::read::chunk::Sink;
use crate::read::fold::{Folding, Form, MAX_EXPANSION};
use crate::read::html;
use crate::read::language::Language;
use crate::read::lexer::Lexer;
use crate::read::stream::Stream;
use crate::read::text::{Endian, read_utf8, utf8_length, utf16_at, utf32_at};

#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Each byte is a symbol.
    Bytes(&'a [u8]),
    /// Each number is a symbol; ranges count symbols.
    Symbols(&'a [u32]),
    /// A stream that was read before.
    Stream(Stream<'a>),
    Utf8(&'a [u8], Form),
    /// Two or four bytes a unit.
    Utf16(&'a [u8], Form, Endian),
    Utf32(&'a [u8], Form, Endian),
    /// One byte a character; the table gives its code point.
    SingleByte(&'a [u8], Form, &'a [u32]),
    /// A web page in UTF-8, or in a single-byte encoding with the code point of every byte.
    Html(&'a [u8], Form, Option<&'a [u32]>),
    /// A program; a symbol is a token.
    Code(&'a [u8], &'a Language),
    /// Code points, and where each starts in the original; the last start is the end of the text.
    Decoded(&'a [u32], Form, &'a [u32]),
}

impl Source<'_> {
    /// Return the bytes of memory that the document takes up, by which work is shared out.
    pub fn size(&self) -> usize {
        match self {
            Source::Bytes(b) | Source::Utf8(b, _) | Source::SingleByte(b, ..) => b.len(),
            Source::Utf16(b, ..) | Source::Utf32(b, ..) | Source::Code(b, _) | Source::Html(b, ..) => b.len(),
            Source::Symbols(symbols) | Source::Stream(Stream { symbols, .. }) => 4 * symbols.len(),
            Source::Decoded(c, ..) => 4 * c.len(),
        }
    }

    /// Return whether the symbol at a position is the byte or number at that position.
    pub fn is_plain(&self) -> bool {
        matches!(self, Source::Bytes(_) | Source::Symbols(_))
    }

    /// Return the byte range of the symbol at a position, given the offset and the end that were noted for it.
    #[inline(always)]
    pub fn range(&self, position: u32, offset: u32, end: u32) -> (u32, u32) {
        match self {
            Source::Bytes(_) | Source::Symbols(_) => (position, position + 1),
            Source::Stream(stream) => (stream.starts[position as usize], stream.ends[position as usize]),
            Source::Utf8(bytes, _) => (offset, offset + utf8_length(bytes[offset as usize])),
            Source::Utf16(bytes, _, endian) => {
                (offset, offset + utf16_at(bytes, offset as usize, *endian).1 as u32)
            }
            Source::Utf32(..) => (offset, offset + 4),
            Source::SingleByte(..) => (offset, offset + 1),
            Source::Code(..) => (offset, end),
            Source::Html(bytes, _, table) => (offset, html::end(bytes, offset, end, table.is_none())),
            Source::Decoded(_, _, starts) => (starts[offset as usize], starts[offset as usize + 1]),
        }
    }

    /// Send the document's symbols to the sink; the caller makes the last flush.
    pub fn read<S: Sink>(&self, sink: &mut S, level: Level) {
        match *self {
            Source::Bytes(bytes) => self.plain(sink, bytes, level),
            Source::Symbols(symbols) | Source::Stream(Stream { symbols, .. }) => {
                self.plain(sink, symbols, level);
            }
            Source::Utf8(bytes, form) => read_utf8(self, sink, bytes, 0, Folding::of(form), level),
            Source::Utf16(bytes, form, endian) => {
                self.folded(sink, bytes.len(), form, |at| utf16_at(bytes, at, endian));
            }
            Source::Utf32(bytes, form, endian) => {
                self.folded(sink, bytes.len(), form, |at| utf32_at(bytes, at, endian));
            }
            Source::SingleByte(bytes, form, table) => {
                self.folded(sink, bytes.len(), form, |at| (table[bytes[at] as usize], 1));
            }
            Source::Html(bytes, form, table) => html::read(self, sink, bytes, Folding::of(form), table, level),
            Source::Code(bytes, language) => self.code(sink, bytes, language),
            Source::Decoded(codes, form, _) => self.folded(sink, codes.len(), form, |at| (codes[at], 1)),
        }
    }

    fn plain<S: Sink>(&self, sink: &mut S, symbols: &[impl Copy + Into<u32>], level: Level) {
        let mut i = 0;
        while i < symbols.len() {
            let chunk = sink.chunk();
            let n = chunk.room().min(symbols.len() - i);
            level.run(Fill { slots: &mut chunk.symbols[chunk.len..][..n], symbols: &symbols[i..i + n] });
            chunk.len += n;
            i += n;
            if chunk.room() == 0 {
                sink.flush(self);
            }
        }
    }

    fn code<S: Sink>(&self, sink: &mut S, text: &[u8], language: &Language) {
        let mut lexer = Lexer::new(language, text);
        loop {
            let chunk = sink.chunk();
            let first = chunk.len;
            let is_more = lexer.fill(chunk);
            if language.keep_names {
                for i in first..chunk.len {
                    let token = &text[chunk.offsets[i] as usize..chunk.ends[i] as usize];
                    chunk.symbols[i] = language.named(chunk.symbols[i], token);
                }
            }
            if !is_more {
                return;
            }
            sink.flush(self);
        }
    }

    /// Read characters of any encoding: `character(at)` returns a code point and how many units it takes.
    fn folded<S: Sink>(&self, sink: &mut S, len: usize, form: Form, character: impl Fn(usize) -> (u32, usize)) {
        let folding = Folding::of(form);
        let mut at = 0;
        while at < len {
            let chunk = sink.chunk();
            while at < len && chunk.room() >= MAX_EXPANSION {
                let (code, size) = character(at);
                folding.fold(code, |symbol| chunk.push(symbol, at as u32));
                at += size;
            }
            if at < len {
                sink.flush(self);
            }
        }
    }
}

/// Copy symbols into a chunk, widened to 32 bits.
struct Fill<'a, T> {
    slots: &'a mut [u32],
    symbols: &'a [T],
}

impl<T: Copy + Into<u32>> Task for Fill<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (slot, &symbol) in self.slots.iter_mut().zip(self.symbols) {
            *slot = symbol.into();
        }
    }
}
