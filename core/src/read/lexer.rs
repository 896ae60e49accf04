//! Source code -> tokens, for any language that a table describes.
//!
//! Names, numbers and strings are one symbol each, whatever they say; keywords and punctuation keep theirs;
//! comments and white space are nothing. The lexer never fails: what is not closed ends with its line, so that
//! broken code loses little, and no search for an end is made twice, so that hostile code costs no more.

use crate::read::byte_search::{eight, find, find_line, find_other, line_end, word_length};
use crate::read::chunk::Chunk;
use crate::read::language::{Class, Columns, Kind, Language, Outside};
use crate::read::symbol::{NUMBER, STRING};

/// The longest word that closes a text of several lines, and how often none may be found before all are operators:
/// every failure costs a look at the rest of the text.
const MAX_WORD: usize = 64;
const MAX_OPERATORS: u8 = 16;

/// Where in a text the lexer is.
pub(crate) struct Lexer<'a> {
    language: &'a Language,
    text: &'a [u8],
    at: usize,
    /// Start of the current line, and whether nothing but white space has been seen on it.
    line: usize,
    first: bool,
    /// Rules whose end was sought up to the end of the text, in vain: there is none further on either.
    endless: Vec<bool>,
    /// How often the line that closes a rule's text was not found.
    failed: Vec<u8>,
}

impl<'a> Lexer<'a> {
    pub fn new(language: &'a Language, text: &'a [u8]) -> Self {
        let endless = vec![false; language.rules.len()];
        let failed = vec![0; language.rules.len()];
        let mut lexer = Lexer { language, text, at: 0, line: 0, first: true, endless, failed };
        let mark = b"\xef\xbb\xbf"; // a byte order mark is not part of the program
        let start = if text.starts_with(mark) { mark.len() } else { 0 };
        lexer.at = lexer.enter_line(lexer.program(start).unwrap_or(start));
        lexer
    }

    /// Puts tokens into the chunk while it has room; false when there are no more.
    pub fn fill(&mut self, chunk: &mut Chunk) -> bool {
        let (language, text) = (self.language, self.text);
        let room = chunk.room();
        let symbols = &mut chunk.symbols[chunk.len..][..room];
        let (starts, ends) = (&mut chunk.places[chunk.len..][..room], &mut chunk.ends[chunk.len..][..room]);
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
                && let Some((found, end)) = self.try_rules(start)
            {
                at = end;
                let Some(found) = found else { continue };
                symbol = found;
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
            // No branch: whether a space follows cannot be foretold.
            at += (text.get(at) == Some(&b' ') && !language.is_space_ruled) as usize;
        }
        self.at = at;
        chunk.len += filled;
        at < text.len()
    }

    #[inline(always)]
    fn name_end(&self, from: usize) -> usize {
        let text = self.text;
        let mut at = from;
        loop {
            if let Some(word) = eight(text, at) {
                let length = word_length(word);
                at += length;
                if length == 8 {
                    continue;
                }
            }
            // What only this language has in its names, and the last bytes of the text.
            if !text.get(at).is_some_and(|&b| self.language.inside[b as usize]) {
                return at;
            }
            at += 1;
        }
    }

    /// A number without the digit before its point: .5 but neither a.5 nor 1..5 nor f().5.
    fn is_fraction(&self, point: usize) -> bool {
        let before = if point == 0 { b' ' } else { self.text[point - 1] };
        self.text.get(point + 1).is_some_and(u8::is_ascii_digit)
            && !self.language.inside[before as usize]
            && !matches!(before, b'.' | b')' | b']' | b'}')
    }

    /// Digits, letters, points between digits, and the sign of an exponent.
    fn number_end(&self, start: usize) -> usize {
        let digit = |at: usize| self.text.get(at).is_some_and(u8::is_ascii_digit);
        let hexadecimal = self.text[start] == b'0' && matches!(self.text.get(start + 1), Some(b'x' | b'X'));
        let exponent = if hexadecimal { b'p' } else { b'e' };
        let mut at = start + 1;
        while at < self.text.len() {
            let byte = self.text[at];
            let continues = match byte {
                b'.' => digit(at + 1),
                _ if self.language.inside_number[byte as usize] => {
                    self.text.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
                }
                b'+' | b'-' => self.text[at - 1].eq_ignore_ascii_case(&exponent) && digit(at + 1),
                _ => byte.is_ascii_alphanumeric() || byte == b'_',
            };
            if !continues {
                break;
            }
            at += 1;
        }
        at
    }

    /// Begins a line; columns may make it a comment or a continuation. Returns where to go on.
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

    /// Tries the rules for the byte at `start`. The symbol, or none for a comment, and where to go on.
    #[inline(never)]
    fn try_rules(&mut self, start: usize) -> Option<(Option<u32>, usize)> {
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
            let follows = self.text.get(inner).is_some_and(|&b| language.inside[b as usize]);
            let end = match &rule.kind {
                Kind::LineComment | Kind::Ceremony if ends_word && follows => None,
                Kind::LineComment | Kind::Ceremony => Some(self.comment_end(inner)),
                Kind::Outside => Some(self.program(inner).unwrap_or(self.text.len())),
                Kind::BlockComment { close, nested } => {
                    Some(self.ended(number, inner, |lexer| lexer.block_end(&rule.open, close, *nested, inner)))
                }
                Kind::Text { close, escape, doubled, lines } => Some(if *lines {
                    self.ended(number, inner, |lexer| {
                        lexer.text_end(close, *escape, *doubled, true, inner).ok()
                    })
                } else {
                    self.text_end(close, *escape, *doubled, false, inner).unwrap_or_else(|stop| stop)
                }),
                Kind::Char { escape } => self.char_end(rule.open[rule.open.len() - 1], *escape, inner),
                Kind::Fenced { fence, quote, close } => self.fenced_end(number, *fence, *quote, *close, inner),
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
            let closed_by_line_end = self.text[end - 1] == b'\n';
            return Some((None, if closed_by_line_end { self.enter_line(end) } else { end }));
        }
        None
    }

    /// The end found, or the end of the line if there is none in the whole text or it opens something else.
    fn ended(&mut self, rule: u16, from: usize, find: impl Fn(&Self) -> Option<usize>) -> usize {
        if !self.endless[rule as usize] {
            let before_word =
                |end: usize| self.text.get(end).is_some_and(|&b| self.language.inside[b as usize]);
            match find(self) {
                Some(end) if self.language.rules[rule as usize].reopens && before_word(end) => {}
                Some(end) => return end,
                None => self.endless[rule as usize] = true,
            }
        }
        line_end(self.text, from)
    }

    /// The end of the line, or of the program.
    fn comment_end(&self, from: usize) -> usize {
        let end = line_end(self.text, from);
        let Some(Outside { close, .. }) = &self.language.outside else { return end };
        self.text[from..end].windows(close.len()).position(|w| w == close).map_or(end, |n| from + n)
    }

    /// Behind the next mark that begins a program within a page.
    fn program(&self, from: usize) -> Option<usize> {
        let outside = self.language.outside.as_ref()?;
        let behind = self.block_end(&[], &outside.open, false, from)?;
        Some(behind + outside.rest_of_mark(&self.text[behind..]))
    }

    fn block_end(&self, open: &[u8], close: &[u8], nested: bool, from: usize) -> Option<usize> {
        let (text, last) = (self.text, close.len() - 1);
        if !nested {
            // By its last byte: many a comment is full of the first.
            let mut at = from + last;
            loop {
                at = find(text, at, self.cases(close[last]));
                if at >= text.len() {
                    return None;
                }
                at += 1;
                if self.language.starts_with(&text[at - close.len()..], close) {
                    return Some(at);
                }
            }
        }
        let ([a, b], [c, d]) = (self.cases(open[0]), self.cases(close[0]));
        let mut depth = 1;
        let mut at = from;
        loop {
            at = find(text, at, [a, b, c, d]);
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            if self.language.starts_with(rest, close) {
                depth -= 1;
                at += close.len();
                if depth == 0 {
                    return Some(at);
                }
            } else if self.language.starts_with(rest, open) {
                depth += 1;
                at += open.len();
            } else {
                at += 1;
            }
        }
    }

    /// A byte, and in the other case where that means the same.
    fn cases(&self, byte: u8) -> [u8; 2] {
        let letter = self.language.ignore_case && byte.is_ascii_alphabetic();
        [byte, if letter { byte ^ 0x20 } else { byte }]
    }

    /// Behind the close of a string, or where it breaks off: at its line's end, unless it may go on to the next.
    fn text_end(
        &self,
        close: &[u8],
        escape: Option<u8>,
        doubled: bool,
        lines: bool,
        from: usize,
    ) -> Result<usize, usize> {
        let text = self.text;
        let stops = [close[0], escape.unwrap_or(close[0]), if lines { close[0] } else { b'\n' }];
        let closes = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(close));
        let mut at = from;
        loop {
            at = find(text, at, stops);
            if at >= text.len() {
                return Err(text.len());
            }
            if escape == Some(text[at]) {
                at += 2; // an escaped line end too
            } else if text[at] == b'\n' && !lines {
                return Err(at);
            } else if closes(at) {
                at += close.len();
                if !doubled || !closes(at) {
                    return Ok(at);
                }
                at += close.len();
            } else {
                at += 1;
            }
        }
    }

    /// 'x' or an escape of up to ten bytes; the character may take several bytes.
    fn char_end(&self, quote: u8, escape: Option<u8>, from: usize) -> Option<usize> {
        let first = *self.text.get(from)?;
        let limit = self.text.len().min(from + 12);
        let content = if escape == Some(first) {
            let end = self.text.get(from + 2..)?.iter().take(10).position(|&b| quote == b)?;
            from + 2 + end
        } else if first < 0x80 {
            from + 1
        } else {
            from + 1 + self.text[from + 1..limit].iter().take_while(|&&b| b & 0xc0 == 0x80).count()
        };
        (first != b'\n' && first != quote && self.text.get(content) == Some(&quote)).then_some(content + 1)
    }

    fn fenced_end(&mut self, rule: u16, fence: u8, quote: u8, close: u8, from: usize) -> Option<usize> {
        let fences = self.text[from..].iter().take_while(|&&b| b == fence).count();
        if self.text.get(from + fences) != Some(&quote) {
            return None;
        }
        let inner = from + fences + 1;
        let find = |lexer: &Self| {
            let mut at = inner;
            loop {
                at = find(lexer.text, at, [close]) + 1;
                if at > lexer.text.len() {
                    return None;
                }
                let behind = lexer.text[at..].iter().take(fences).take_while(|&&b| b == fence).count();
                // Lua's long brackets are closed by two brackets around the fences.
                let twin = close == b']';
                if behind == fences && (!twin || lexer.text.get(at + fences) == Some(&close)) {
                    return Some(at + fences + twin as usize);
                }
            }
        };
        Some(self.ended(rule, inner, find))
    }

    /// None if no word follows, or no line begins with it: then it was an operator.
    fn here_end(&mut self, rule: u16, from: usize) -> Option<usize> {
        let quote = self.text.get(from).filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        let start = from + quote.is_some() as usize;
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let length = self.text.get(start..)?.iter().take(MAX_WORD).take_while(is_word).count();
        let word = &self.text[start..start + length];
        let closed = quote.is_none() || self.text.get(start + length) == quote;
        if !closed || word.first().is_none_or(u8::is_ascii_digit) || self.failed[rule as usize] >= MAX_OPERATORS
        {
            return None;
        }
        let end = find_line(self.text, start + length, word, &self.language.inside);
        self.failed[rule as usize] += end.is_none() as u8;
        end
    }

    fn tagged_end(&mut self, rule: u16, from: usize) -> Option<usize> {
        let tag = self.text[from..].iter().take(17).position(|&b| b == b'(')?;
        let inner = from + tag + 1;
        let close: Vec<u8> = [b")", &self.text[from..from + tag], b"\""].concat();
        Some(self.ended(rule, inner, |lexer| lexer.text_end(&close, None, false, true, inner).ok()))
    }
}
