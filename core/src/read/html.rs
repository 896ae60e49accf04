//! Web pages -> the characters a reader sees, with the bytes of each.
//!
//! Tags, comments, scripts and styles give no characters; a character reference gives the characters it names. Like
//! the lexer of programs it never fails, and it never searches for the same end twice: what is not closed is text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::machine::level::Level;
use crate::read::byte_search::find;
use crate::read::chunk::Sink;
use crate::read::fold::{Folding, MAX_EXPANSION};
use crate::read::scan::{byte, skip_some};
use crate::read::source::Source;
use crate::read::text::{read_utf8, utf8_length};

const TABLE: &str = include_str!("entities.txt");

/// The longest name of a character, and the most that `&#...;` may hold.
const MAX_NAME: usize = 32;

/// Elements whose content no reader sees.
const HIDDEN: [&[u8]; 6] = [b"script", b"style", b"template", b"noscript", b"svg", b"math"];

fn entities() -> &'static HashMap<&'static [u8], Vec<u32>> {
    static ENTITIES: OnceLock<HashMap<&'static [u8], Vec<u32>>> = OnceLock::new();
    ENTITIES.get_or_init(|| {
        let code =
            |digits: &str| u32::from_str_radix(digits, 16).expect("entities.txt holds hexadecimal numbers");
        TABLE
            .lines()
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
            .map(|(name, codes)| (name.as_bytes(), codes.split_whitespace().map(code).collect()))
            .collect()
    })
}

/// Return the characters and the end of a reference that has its semicolon, as Markdown demands.
pub(crate) fn entity(text: &[u8], at: usize) -> Option<(Cow<'static, [u32]>, usize)> {
    let (start, radix, most) = match (text.get(at + 1)?, text.get(at + 2)) {
        (b'#', Some(b'x' | b'X')) => (at + 3, 16, 6),
        (b'#', _) => (at + 2, 10, 7),
        (b'A'..=b'Z' | b'a'..=b'z', _) => (at + 1, 36, MAX_NAME),
        _ => return None,
    };
    let end = skip_some(text, start, most, |b| (b as char).is_digit(radix));
    byte(text, end, b';')?;
    let name = std::str::from_utf8(&text[start..end]).ok()?;
    let codes = match radix {
        36 => Cow::Borrowed(entities().get(name.as_bytes())?.as_slice()),
        _ => Cow::Owned(vec![u32::from_str_radix(name, radix).ok()?]),
    };
    Some((codes, end + 1))
}

/// Send the text of a page to the sink. The table, if there is one, gives the code points of a single-byte encoding.
pub(crate) fn read<S: Sink>(
    source: &Source,
    sink: &mut S,
    bytes: &[u8],
    folding: &Folding,
    table: Option<&[u32]>,
    level: Level,
) {
    let mut page = Page::new(bytes);
    while let Some(piece) = page.next() {
        let mut emit = |code: u32, start: usize, end: usize| {
            if sink.chunk().room() < MAX_EXPANSION {
                sink.flush(source);
            }
            let chunk = sink.chunk();
            folding.fold(code, |symbol| {
                chunk.ends[chunk.len] = end as u32;
                chunk.push(symbol, start as u32);
            });
        };
        match (piece, table) {
            (Piece::Tag { .. }, _) => {}
            (Piece::Named { codes, start }, _) => codes.iter().for_each(|&code| emit(code, start, page.at)),
            (Piece::Number { code, start }, _) => emit(code, start, page.at),
            (Piece::Text { start, end }, Some(table)) => {
                (start..end).for_each(|at| emit(table[bytes[at] as usize], at, at + 1));
            }
            (Piece::Text { start, end }, None) => {
                read_utf8(source, sink, &bytes[..end], start, folding, level);
            }
        }
    }
}

/// Return where the character at `offset` ends. A '&' that gave a symbol begins a reference, whose end was noted.
#[inline(always)]
pub(crate) fn end(bytes: &[u8], offset: u32, noted: u32, utf8: bool) -> u32 {
    match bytes[offset as usize] {
        b'&' => noted,
        first => offset + if utf8 { utf8_length(first) } else { 1 },
    }
}

/// A page, and how far it has been read.
#[derive(Default)]
pub(crate) struct Page<'a> {
    text: &'a [u8],
    at: usize,
    /// What the rest of the page does not contain: a search that fails is not repeated.
    no_comment_end: bool,
    no_tag_end: bool,
    no_quote: [bool; 2],
    no_close: [bool; HIDDEN.len()],
}

/// What comes next in a page.
pub(crate) enum Piece<'a> {
    /// A tag; comments and declarations have no name.
    Tag { name: &'a [u8], is_closing: bool },
    /// Bytes that are text.
    Text { start: usize, end: usize },
    /// A character reference by name.
    Named { codes: &'static [u32], start: usize },
    /// A character reference by number.
    Number { code: u32, start: usize },
}

impl<'a> Page<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Page { text, ..Page::default() }
    }

    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    pub fn next(&mut self) -> Option<Piece<'a>> {
        let start = self.at;
        let piece = match self.text.get(start)? {
            b'<' => self.markup(),
            b'&' => self.reference(),
            _ => None,
        };
        piece.or_else(|| {
            // At least one byte, so that a '<' or '&' that means nothing is text.
            self.at = find(self.text, start + 1, [b'<', b'&']);
            Some(Piece::Text { start, end: self.at })
        })
    }

    fn find(&self, from: usize, what: &[u8]) -> Option<usize> {
        let mut at = from;
        loop {
            at = find(self.text, at, [what[0]]);
            if self.text.get(at..)?.is_empty() {
                return None;
            }
            if self.text[at..].starts_with(what) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Read the tag, comment or declaration that starts here, and skip the content of a hidden element.
    fn markup(&mut self) -> Option<Piece<'a>> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with(b"<!--") && !self.no_comment_end {
            if let Some(end) = self.find(start + 4, b"-->") {
                self.at = end + 3;
                return Some(Piece::Tag { name: &[], is_closing: false });
            }
            self.no_comment_end = true;
        }
        let is_closing = rest.get(1) == Some(&b'/');
        let name = &rest[1 + is_closing as usize..];
        let is_tag = name.first().is_some_and(u8::is_ascii_alphabetic);
        let name = &name[..name.iter().take_while(|b| is_tag && b.is_ascii_alphanumeric()).count()];
        if !is_tag && !matches!(rest.get(1), Some(b'!' | b'?' | b'/')) {
            return None;
        }
        let end = if self.no_tag_end { None } else { self.tag_end(start + 1) };
        self.no_tag_end = end.is_none();
        self.at = end?;
        if let Some(kind) = HIDDEN.iter().position(|hidden| name.eq_ignore_ascii_case(hidden))
            && !is_closing
            && self.text[self.at - 2] != b'/'
        {
            self.skip_hidden(kind);
        }
        Some(Piece::Tag { name, is_closing })
    }

    /// Return the offset behind the '>' that closes a tag; quotes hide it.
    fn tag_end(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = find(self.text, at, [b'>', b'<', b'"', b'\'']);
            let byte = *self.text.get(at)?;
            at += 1;
            match byte {
                b'>' => return Some(at),
                b'<' => return Some(at - 1), // the next tag: this one is not closed
                _ => {
                    let kind = (byte == b'"') as usize;
                    // Only the values of attributes are quoted.
                    if self.text[at - 2] != b'=' || self.no_quote[kind] {
                        continue;
                    }
                    match self.find(at, &[byte]) {
                        Some(end) => at = end + 1,
                        None => self.no_quote[kind] = true,
                    }
                }
            }
        }
    }

    fn skip_hidden(&mut self, kind: usize) {
        if self.no_close[kind] {
            return;
        }
        let name = HIDDEN[kind];
        let mut at = self.at;
        while let Some(tag) = self.find(at, b"</") {
            let close = &self.text[tag + 2..];
            if close.len() >= name.len() && close[..name.len()].eq_ignore_ascii_case(name) {
                self.at = tag;
                return;
            }
            at = tag + 2;
        }
        self.no_close[kind] = true;
    }

    /// Read a reference such as `&eacute;` or `&#233;`, which may lack its semicolon.
    fn reference(&mut self) -> Option<Piece<'a>> {
        let start = self.at;
        let body = &self.text[start + 1..];
        let number = body.first() == Some(&b'#');
        let word = &body[number as usize..];
        let length = word.iter().take(MAX_NAME).take_while(|b| b.is_ascii_alphanumeric()).count();
        let semicolon = word.get(length) == Some(&b';');
        let end = start + 1 + number as usize + length + semicolon as usize;
        let piece = if number {
            let digits = std::str::from_utf8(&word[..length]).ok()?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            Piece::Number { code, start }
        } else {
            Piece::Named { codes: entities().get(&word[..length])?, start }
        };
        self.at = end;
        Some(piece)
    }
}
