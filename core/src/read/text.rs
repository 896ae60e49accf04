//! Bytes -> symbols with their byte ranges: the text front ends.
//!
//! Bytes that are not valid in their encoding stand for nothing and are passed over one by one.

use crate::machine::level::{Level, Task};
use crate::read::chunk::{Chunk, Sink};
use crate::read::fold::{Folding, Form, MAX_EXPANSION};
use crate::read::html;
use crate::read::language::Language;
use crate::read::lexer::Lexer;
use crate::read::stream::Stream;

/// A document as it arrives.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Each byte is a symbol.
    Bytes(&'a [u8]),
    /// Each number is a symbol; ranges count symbols.
    Symbols(&'a [u32]),
    /// A stream that was read before.
    Stream(Stream<'a>),
    Utf8(&'a [u8], Form),
    /// UTF-8 unless the first bytes look like something else: then nothing is read, and `UNLIKELY` returned.
    Unknown(&'a [u8], Form),
    /// Two or four bytes a unit.
    Utf16(&'a [u8], Form, Endian),
    Utf32(&'a [u8], Form, Endian),
    /// One byte a character; the table gives its code point.
    SingleByte(&'a [u8], Form, &'a [u32]),
    /// A web page in UTF-8, or in a single-byte encoding with the code point of every byte.
    Html(&'a [u8], Form, Option<&'a [u32]>),
    /// A program; a symbol is a token.
    Code(&'a [u8], &'a Language),
    /// Code points, and where in the original each starts; the last start is the end of the text.
    Decoded(&'a [u32], Form, &'a [u32]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

impl Source<'_> {
    /// A measure of the work, for sharing it out.
    pub fn size(&self) -> usize {
        match self {
            Source::Bytes(b) | Source::Utf8(b, _) | Source::Unknown(b, _) | Source::SingleByte(b, ..) => {
                b.len()
            }
            Source::Utf16(b, ..) | Source::Utf32(b, ..) | Source::Code(b, _) => b.len(),
            Source::Html(b, ..) => b.len(),
            Source::Symbols(symbols) | Source::Stream(Stream { symbols, .. }) => 4 * symbols.len(),
            Source::Decoded(c, ..) => 4 * c.len(),
        }
    }

    /// Whether the symbol at a position is the byte or number there.
    pub fn is_plain(&self) -> bool {
        matches!(self, Source::Bytes(_) | Source::Symbols(_))
    }

    /// The byte range of the symbol at a position, from the place and end that were noted for it.
    #[inline(always)]
    pub fn range(&self, position: u32, place: u32, end: u32) -> (u32, u32) {
        match self {
            Source::Bytes(_) | Source::Symbols(_) => (position, position + 1),
            Source::Stream(stream) => (stream.starts[position as usize], stream.ends[position as usize]),
            Source::Utf8(bytes, _) | Source::Unknown(bytes, _) => {
                (place, place + utf8_length(bytes[place as usize]))
            }
            Source::Utf16(bytes, _, endian) => {
                (place, place + utf16_at(bytes, place as usize, *endian).1 as u32)
            }
            Source::Utf32(..) => (place, place + 4),
            Source::SingleByte(..) => (place, place + 1),
            Source::Code(..) => (place, end),
            Source::Html(bytes, _, table) => (place, html::end(bytes, place, end, table.is_none())),
            Source::Decoded(_, _, starts) => (starts[place as usize], starts[place as usize + 1]),
        }
    }

    /// Sends the document's symbols to the sink, but for the last flush; returns how many bytes were not valid
    /// UTF-8, for a source that should be.
    pub fn read<S: Sink>(&self, sink: &mut S, level: Level) -> u64 {
        match *self {
            Source::Bytes(bytes) => self.plain(sink, bytes, level),
            Source::Symbols(symbols) | Source::Stream(Stream { symbols, .. }) => {
                self.plain(sink, symbols, level);
            }
            Source::Unknown(bytes, _) if is_unlikely(bytes) => return UNLIKELY,
            Source::Utf8(bytes, form) | Source::Unknown(bytes, form) => {
                return self.utf8(sink, bytes, 0, Folding::of(form), level);
            }
            Source::Utf16(bytes, form, endian) => {
                self.folded(sink, bytes.len(), form, |at| utf16_at(bytes, at, endian));
            }
            Source::Utf32(bytes, form, endian) => {
                self.folded(sink, bytes.len(), form, |at| utf32_at(bytes, at, endian));
            }
            Source::SingleByte(bytes, form, table) => {
                self.folded(sink, bytes.len(), form, |at| (table[bytes[at] as usize], 1));
            }
            Source::Html(bytes, form, table) => {
                return html::read(self, sink, bytes, Folding::of(form), table, level);
            }
            Source::Code(bytes, language) => self.code(sink, bytes, language),
            Source::Decoded(codes, form, _) => self.folded(sink, codes.len(), form, |at| (codes[at], 1)),
        }
        0
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
                    let token = &text[chunk.places[i] as usize..chunk.ends[i] as usize];
                    chunk.symbols[i] = language.named(chunk.symbols[i], token);
                }
            }
            if !is_more {
                return;
            }
            sink.flush(self);
        }
    }

    /// Characters of any encoding: `character(at)` is a code point and how many places it takes up.
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

    /// The characters of bytes from `at` on; returns how many bytes are invalid.
    pub(crate) fn utf8<S: Sink>(
        &self,
        sink: &mut S,
        bytes: &[u8],
        mut at: usize,
        folding: &Folding,
        level: Level,
    ) -> u64 {
        let mut invalid = 0;
        while at < bytes.len() {
            let chunk = sink.chunk();
            if chunk.room() < ASCII_BLOCK {
                sink.flush(self);
                continue;
            }
            at += ascii(chunk, &bytes[at..], at as u32, folding, level);
            // What is not ASCII, and the short stretches of it between, character by character.
            while at < bytes.len() && chunk.room() >= MAX_EXPANSION {
                if bytes[at] >= 0x80 {
                    let (code, len) = utf8_at(bytes, at);
                    invalid += (len == 1) as u64;
                    folding.fold(code, |symbol| chunk.push(symbol, at as u32));
                    at += len;
                    continue;
                }
                let next = &bytes[at..];
                if next[..next.len().min(ASCII_BLOCK / 4)].is_ascii() {
                    break;
                }
                folding.fold(bytes[at] as u32, |symbol| chunk.push(symbol, at as u32));
                at += 1;
            }
        }
        invalid
    }
}

/// Symbols into a chunk, widened.
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

const ASCII_BLOCK: usize = 64;

/// Takes ASCII bytes while they last and the chunk has room; returns how many.
fn ascii(chunk: &mut Chunk, bytes: &[u8], at: u32, folding: &Folding, level: Level) -> usize {
    let symbols = &mut chunk.symbols[chunk.len..chunk.places.len()];
    let places = &mut chunk.places[chunk.len..];
    #[cfg(target_arch = "x86_64")]
    if level.is_avx512() {
        // SAFETY: a level is one that the machine has.
        let (taken, written) =
            unsafe { crate::machine::simd::ascii(bytes, at, &folding.ascii, symbols, places) };
        chunk.len += written;
        return taken;
    }
    let n = bytes.len().min(symbols.len());
    let (symbols, places) = (&mut symbols[..n], &mut places[..n]);
    let mut written = 0;
    let mut taken = n;
    for (i, &byte) in bytes[..n].iter().enumerate() {
        if byte >= 0x80 {
            taken = i;
            break;
        }
        // Written always, counted if it stands for something: there is no branch to mispredict.
        let symbol = folding.ascii[byte as usize];
        symbols[written] = symbol as u32;
        places[written] = at + i as u32;
        written += (symbol != 0) as usize;
    }
    chunk.len += written;
    taken
}

/// Bytes of a valid character, by its first.
pub(crate) fn utf8_length(first: u8) -> u32 {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

/// Stands for bytes that are no character; folds to nothing.
const INVALID: u32 = 0xfffd;

/// The code point at a byte and its length; an invalid byte has length 1.
#[inline(always)]
pub(crate) fn utf8_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let rest = &bytes[at..];
    let tail = |i: usize| match rest.get(i) {
        Some(&b) if b & 0xc0 == 0x80 => Some(b as u32 & 0x3f),
        _ => None,
    };
    let first = rest[0] as u32;
    let code = match first {
        0xc2..=0xdf => tail(1).map(|a| ((first & 0x1f) << 6 | a, 2)),
        0xe0..=0xef => tail(1).zip(tail(2)).map(|(a, b)| ((first & 0xf) << 12 | a << 6 | b, 3)),
        0xf0..=0xf4 => {
            tail(1).zip(tail(2)).zip(tail(3)).map(|((a, b), c)| ((first & 7) << 18 | a << 12 | b << 6 | c, 4))
        }
        _ => None,
    };
    match code {
        Some((0x800..=0xd7ff | 0xe000..=0xffff, 3) | (0x1_0000..=0x10_ffff, 4) | (_, 2)) => {
            code.unwrap_or((INVALID, 1))
        }
        _ => (INVALID, 1),
    }
}

fn utf16_at(bytes: &[u8], at: usize, endian: Endian) -> (u32, usize) {
    let unit = |at: usize| {
        let pair = bytes.get(at..at + 2)?;
        let pair = [pair[0], pair[1]];
        Some(if endian == Endian::Little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) } as u32)
    };
    match unit(at) {
        None => (INVALID, bytes.len() - at),
        Some(high @ 0xd800..=0xdbff) => match unit(at + 2) {
            Some(low @ 0xdc00..=0xdfff) => (0x1_0000 + ((high & 0x3ff) << 10 | low & 0x3ff), 4),
            _ => (INVALID, 2),
        },
        Some(code) => (code, 2),
    }
}

fn utf32_at(bytes: &[u8], at: usize, endian: Endian) -> (u32, usize) {
    match bytes.get(at..at + 4) {
        None => (INVALID, bytes.len() - at),
        Some(four) => {
            let four = [four[0], four[1], four[2], four[3]];
            (if endian == Endian::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }, 4)
        }
    }
}

/// Told instead of a number of invalid bytes.
const UNLIKELY: u64 = u64::MAX;

/// Whether a text is probably not UTF-8, or not plain: a byte order mark, zero bytes, escapes, or a start as
/// pages, notebooks, RTF, PDF, PostScript, TeX, archives and letters have it. Whoever asked looks closer then.
fn is_unlikely(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 12)];
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let word = text.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    matches!(text.first(), Some(b'<' | b'{' | b'%' | b'\\' | 0x04 | 0x1f | 0xfe | 0xff))
        || text.get(word) == Some(&b':')
        || [&b"PK"[..], b"BZh", b"From "].iter().any(|start| text.starts_with(start))
        // No early exit: all of it is looked at in vectors.
        || head.iter().fold(false, |found, &b| found | (b == 0) | (b == 0x1b))
}

/// How many multi-byte characters are valid UTF-8, and how many bytes are not: together they tell UTF-8 with a
/// few bad bytes from another encoding. A character cut by the end of the text does not count.
pub fn count_utf8(bytes: &[u8]) -> (usize, usize) {
    let (mut characters, mut invalid) = (0, 0);
    let mut rest = bytes;
    loop {
        let (valid, bad) = match std::str::from_utf8(rest) {
            Ok(_) => (rest.len(), None),
            Err(why) => (why.valid_up_to(), why.error_len()),
        };
        // Summed in bytes: wider sums take several times as long.
        let parts = rest[..valid].chunks(255);
        characters +=
            parts.map(|part| part.iter().map(|&b| (b >= 0xc0) as u8).sum::<u8>() as usize).sum::<usize>();
        let Some(bad) = bad else { return (characters, invalid) };
        invalid += bad;
        rest = &rest[valid + bad..];
    }
}
