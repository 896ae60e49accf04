//! Encodings of text -> code points -> symbols.
//!
//! Bytes that are not valid in their encoding give no symbol and are skipped one by one.

use crate::machine::level::Level;
use crate::read::chunk::{Chunk, Sink};
use crate::read::fold::{Folding, MAX_EXPANSION};
use crate::read::source::Source;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

/// Read the characters of UTF-8 from `at` on.
pub(crate) fn read_utf8<S: Sink>(
    source: &Source,
    sink: &mut S,
    bytes: &[u8],
    mut at: usize,
    folding: &Folding,
    level: Level,
) {
    while at < bytes.len() {
        let chunk = sink.chunk();
        if chunk.room() < ASCII_BLOCK {
            sink.flush(source);
            continue;
        }
        at += ascii(chunk, &bytes[at..], at as u32, folding, level);
        // Other characters, and the short stretches of ASCII between them, one by one.
        while at < bytes.len() && chunk.room() >= MAX_EXPANSION {
            if bytes[at] >= 0x80 {
                let (code, len) = utf8_at(bytes, at);
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
}

const ASCII_BLOCK: usize = 64;

/// Read ASCII bytes while they last and the chunk has room. Return how many.
fn ascii(chunk: &mut Chunk, bytes: &[u8], at: u32, folding: &Folding, level: Level) -> usize {
    let symbols = &mut chunk.symbols[chunk.len..chunk.offsets.len()];
    let offsets = &mut chunk.offsets[chunk.len..];
    #[cfg(target_arch = "x86_64")]
    if level.is_avx512() {
        // SAFETY: a level is one that the machine has.
        let (taken, written) =
            unsafe { crate::machine::avx512::ascii(bytes, at, &folding.ascii, symbols, offsets) };
        chunk.len += written;
        return taken;
    }
    let n = bytes.len().min(symbols.len());
    let (symbols, offsets) = (&mut symbols[..n], &mut offsets[..n]);
    let mut written = 0;
    let mut taken = n;
    for (i, &byte) in bytes[..n].iter().enumerate() {
        if byte >= 0x80 {
            taken = i;
            break;
        }
        // Always written, and counted only if the byte has a symbol: there is no branch to mispredict.
        let symbol = folding.ascii[byte as usize];
        symbols[written] = symbol as u32;
        offsets[written] = at + i as u32;
        written += (symbol != 0) as usize;
    }
    chunk.len += written;
    taken
}

/// Return the number of bytes of a valid character, given the first.
pub(crate) fn utf8_length(first: u8) -> u32 {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

/// Stands for invalid bytes; folds to nothing.
const INVALID: u32 = 0xfffd;

/// Return the code point at a byte and its length; an invalid byte has length 1.
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
    let is_valid =
        |code: &_| matches!(code, (0x800..=0xd7ff | 0xe000..=0xffff, 3) | (0x1_0000..=0x10_ffff, 4) | (_, 2));
    code.filter(is_valid).unwrap_or((INVALID, 1))
}

pub(crate) fn utf16_at(bytes: &[u8], at: usize, endian: Endian) -> (u32, usize) {
    let unit = |at: usize| {
        let pair = *bytes.get(at..)?.first_chunk()?;
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

pub(crate) fn utf32_at(bytes: &[u8], at: usize, endian: Endian) -> (u32, usize) {
    match bytes[at..].first_chunk() {
        None => (INVALID, bytes.len() - at),
        Some(&four) if endian == Endian::Little => (u32::from_le_bytes(four), 4),
        Some(&four) => (u32::from_be_bytes(four), 4),
    }
}

/// Return how many characters of more than one byte are valid UTF-8, and how many bytes are not. The two numbers tell
/// UTF-8 with a few bad bytes from another encoding. A character cut off by the end of the text does not count.
pub fn count_utf8(bytes: &[u8]) -> (usize, usize) {
    let (mut characters, mut invalid) = (0, 0);
    let mut rest = bytes;
    loop {
        let (valid, bad) = match std::str::from_utf8(rest) {
            Ok(_) => (rest.len(), None),
            Err(why) => (why.valid_up_to(), why.error_len()),
        };
        // Summed in bytes, because wider sums take several times as long.
        let parts = rest[..valid].chunks(255);
        characters +=
            parts.map(|part| part.iter().map(|&b| (b >= 0xc0) as u8).sum::<u8>() as usize).sum::<usize>();
        let Some(bad) = bad else { return (characters, invalid) };
        invalid += bad;
        rest = &rest[valid + bad..];
    }
}
