//! Source code -> tokens, for any language that a table describes.
//!
//! All names have one symbol, as have all numbers and all strings. Every keyword and punctuation mark has its own.
//! Comments and white space give none. The lexer never fails; `token_end.rs` says what becomes of broken code.
//!
//! One pass serves both kinds of symbols: the named symbol of a token follows from the plain one and the bytes of the
//! token (`Language::named`), so it costs nothing unless it is asked for.

use crate::read::byte_search::{find_other, line_end};
use crate::read::chunk::Chunk;
use crate::read::language::{Class, Columns, Kind, Language};
use crate::read::symbol::{NUMBER, STRING};

/// A text, and how far it has been read.
pub(crate) struct Lexer<'a> {
    pub(super) language: &'a Language,
    pub(super) text: &'a [u8],
    at: usize,
    /// The start of the current line, and whether there is only white space on it so far.
    line: usize,
    pub(super) first: bool,
    /// Rules whose end was not found: there is none further on either.
    pub(super) endless: Vec<bool>,
    /// For every rule: up to where its string was not closed on its line.
    pub(super) unclosed: Vec<usize>,
    /// For every rule: up to where there is not even an escaped close on the line.
    pub(super) closeless: Vec<usize>,
    /// How often the closing line of a rule's string was not found.
    pub(super) failures: Vec<u8>,
}

impl<'a> Lexer<'a> {
    pub fn new(language: &'a Language, text: &'a [u8]) -> Self {
        let endless = vec![false; language.rules.len()];
        let unclosed = vec![0; language.rules.len()];
        let closeless = unclosed.clone();
        let failures = vec![0; language.rules.len()];
        let mut lexer =
            Lexer { language, text, at: 0, line: 0, first: true, endless, unclosed, closeless, failures };
        let mark = b"\xef\xbb\xbf"; // a byte order mark is not part of the program
        let start = if text.starts_with(mark) { mark.len() } else { 0 };
        lexer.at = lexer.enter_line(lexer.program(start).unwrap_or(start));
        lexer
    }

    /// Put tokens into the chunk while it has room. Return whether there are more.
    pub fn fill(&mut self, chunk: &mut Chunk) -> bool {
        let (language, text) = (self.language, self.text);
        let room = chunk.room();
        let symbols = &mut chunk.symbols[chunk.len..][..room];
        let (starts, ends) = (&mut chunk.offsets[chunk.len..][..room], &mut chunk.ends[chunk.len..][..room]);
        let mut filled = 0;
        let mut at = self.at;
        while at < text.len() && filled < room {
            let start = at;
            let byte = text[start];
            if let Some(columns) = &language.columns
                && start - self.line >= columns.last
                && byte != b'\n'
            {
                at = line_end(text, start);
                continue;
            }
            let class = language.classes[byte as usize];
            let symbol;
            if language.may_begin(byte, text.get(start + 1).copied().unwrap_or(0))
                && let Some((token, end)) = self.try_rules(start)
            {
                at = end;
                let Some(token) = token else { continue };
                symbol = token;
            } else if class == Class::Space {
                at = if byte == b'\n' {
                    self.enter_line(start + 1)
                } else if language.is_space_ruled {
                    start + 1
                } else {
                    find_other(text, start + 1, byte)
                };
                continue;
            } else if class == Class::Digit || class == Class::Point && self.is_fraction(start) {
                at = self.number_end(start);
                symbol = NUMBER;
            } else if class != Class::Name {
                at = start + 1;
                symbol = byte as u32;
            } else {
                at = self.name_end(start + 1);
                symbol = language.keywords.symbol(text, start, at);
            }
            self.first = false;
            symbols[filled] = symbol;
            starts[filled] = start as u32;
            ends[filled] = at as u32;
            filled += 1;
            // No branch: whether a space follows cannot be predicted.
            at += (text.get(at) == Some(&b' ') && !language.is_space_ruled) as usize;
        }
        self.at = at;
        chunk.len += filled;
        at < text.len()
    }

    /// Begin a line, which columns may make a comment or a continuation. Return where to continue.
    #[inline(always)]
    fn enter_line(&mut self, start: usize) -> usize {
        self.line = start;
        self.first = true;
        match &self.language.columns {
            Some(columns) => self.enter_columns(columns, start),
            None => start,
        }
    }

    fn enter_columns(&mut self, columns: &Columns, start: usize) -> usize {
        let Some(&byte) = self.text.get(start) else { return start };
        if columns.comment.contains(&byte) {
            return line_end(self.text, start);
        }
        let end = line_end(self.text, start);
        let mark = start + columns.continuation - 1;
        if mark < end
            && self.text[start..mark].iter().all(|&b| b == b' ')
            && !matches!(self.text[mark], b' ' | b'0')
        {
            self.first = false;
            return mark + 1;
        }
        start
    }

    /// Try the rules for the byte at `start`. Return the symbol, or none for a comment, and where to continue.
    #[inline(never)]
    pub(super) fn try_rules(&mut self, start: usize) -> Option<(Option<u32>, usize)> {
        let language = self.language;
        let rest = &self.text[start..];
        for &number in &language.by_byte[self.text[start] as usize] {
            let rule = &language.rules[number as usize];
            if rule.first && !self.first || !language.starts_with(rest, &rule.open) {
                continue;
            }
            let inner = start + rule.open.len();
            let last = rule.open[rule.open.len() - 1];
            let ends_word = last.is_ascii_alphanumeric() || last == b'_';
            let is_in_word = self.text.get(inner).is_some_and(|&b| language.inside[b as usize]);
            let end = match &rule.kind {
                Kind::LineComment | Kind::Ceremony if ends_word && is_in_word => None,
                Kind::LineComment => Some(self.comment_end(inner)),
                Kind::Ceremony => Some(self.ceremony_end(start, inner)),
                Kind::Outside => Some(self.program(inner).unwrap_or(self.text.len())),
                Kind::BlockComment { close, nested } => Some(
                    self.end_or_line(number, inner, |lexer| lexer.block_end(&rule.open, close, *nested, inner)),
                ),
                Kind::Text { close, escape, doubled, lines } => Some(if *lines {
                    self.end_or_line(number, inner, |lexer| {
                        lexer.text_end(close, *escape, *doubled, true, inner).ok()
                    })
                } else {
                    self.end_on_line(number, close, *escape, *doubled, inner)
                }),
                Kind::Char { escape } => self.char_end(rule.open[rule.open.len() - 1], *escape, inner),
                Kind::Fenced { fence, quote, close } => self.fenced_end(number, *fence, *quote, *close, inner),
                Kind::Literal => Some(inner),
                Kind::Pattern { after, words } => self.pattern_end(after, words, start, inner),
                Kind::Tagged => self.tagged_end(number, inner),
                Kind::Here => self.here_end(number, inner),
            };
            let Some(end) = end else { continue };
            if language.columns.is_some()
                && let Some(last) = self.text[start..end].iter().rposition(|&b| b == b'\n')
            {
                self.line = start + last + 1;
            }
            if !rule.kind.is_skipped() {
                return Some((Some(STRING), end));
            }
            let is_closed_by_line = self.text[end - 1] == b'\n';
            return Some((None, if is_closed_by_line { self.enter_line(end) } else { end }));
        }
        None
    }
}
