//! Source code -> tokens, for any language that a table describes.
//!
//! Names, numbers and strings are one symbol each, whatever they say; keywords and punctuation keep theirs;
//! comments and white space are nothing. The lexer never fails: what is not closed ends with its line, so that
//! broken code loses little, and no search for an end is made twice, so that hostile code costs no more.

use crate::language::{Class, Kind, Language, NUMBER, STRING, word_hash};

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
}

impl<'a> Lexer<'a> {
    pub fn new(language: &'a Language, text: &'a [u8]) -> Self {
        let endless = vec![false; language.rules.len()];
        let mut lexer = Lexer { language, text, at: 0, line: 0, first: true, endless };
        let mark = b"\xef\xbb\xbf"; // a byte order mark is not part of the program
        lexer.enter_line(if text.starts_with(mark) { mark.len() } else { 0 });
        lexer
    }

    /// Calls `emit` with every token's symbol and bytes.
    pub fn run(mut self, mut emit: impl FnMut(u32, usize, usize)) {
        let (language, text) = (self.language, self.text);
        while self.at < text.len() {
            let start = self.at;
            let byte = text[start];
            if let Some(columns) = &language.columns
                && start - self.line >= columns.last
                && byte != b'\n'
            {
                self.at = self.line_end(start);
                continue;
            }
            if language.ruled[byte as usize]
                && let Some(found) = self.try_rules(start)
            {
                if let Some((symbol, start, end)) = found {
                    emit(symbol, start, end);
                }
                continue;
            }
            match language.classes[byte as usize] {
                Class::Space => {
                    self.at = start + 1;
                    if byte == b'\n' {
                        self.enter_line(start + 1);
                    }
                    continue;
                }
                Class::Mark => {
                    self.at = start + 1;
                    emit(byte as u32, start, start + 1);
                }
                Class::Name => {
                    let inside = text[start + 1..].iter().position(|&b| !language.inside[b as usize]);
                    self.at = inside.map_or(text.len(), |n| start + 1 + n);
                    emit(language.name(&text[start..self.at]), start, self.at);
                }
                Class::Digit => {
                    self.skip_number();
                    emit(self.kept(NUMBER, start), start, self.at);
                }
            }
            self.first = false;
        }
    }

    /// Numbers and strings: one symbol, or what they say.
    fn kept(&self, symbol: u32, start: usize) -> u32 {
        if self.language.keep_names { word_hash(&self.text[start..self.at], false) } else { symbol }
    }

    /// Digits, letters, points between digits, and the sign of an exponent.
    fn skip_number(&mut self) {
        let start = self.at;
        let digit = |at: usize| self.text.get(at).is_some_and(u8::is_ascii_digit);
        let hexadecimal = self.text[start] == b'0' && matches!(self.text.get(start + 1), Some(b'x' | b'X'));
        let exponent = if hexadecimal { b'p' } else { b'e' };
        let mut at = start + 1;
        while at < self.text.len() {
            let byte = self.text[at];
            let continues = match byte {
                b'.' => digit(at + 1),
                b'+' | b'-' => self.text[at - 1].eq_ignore_ascii_case(&exponent) && digit(at + 1),
                _ => byte.is_ascii_alphanumeric() || byte == b'_',
            };
            if !continues {
                break;
            }
            at += 1;
        }
        self.at = at;
    }

    fn line_end(&self, from: usize) -> usize {
        memchr(b'\n', &self.text[from..]).map_or(self.text.len(), |i| from + i)
    }

    /// Begins a line; columns may make it a comment or a continuation.
    fn enter_line(&mut self, start: usize) {
        self.at = start;
        self.line = start;
        self.first = true;
        let Some(columns) = &self.language.columns else { return };
        let Some(&byte) = self.text.get(start) else { return };
        if columns.comment.contains(&byte) {
            self.at = self.line_end(start);
            return;
        }
        let end = self.line_end(start);
        let mark = start + columns.continuation - 1;
        if mark < end
            && self.text[start..mark].iter().all(|&b| b == b' ')
            && !matches!(self.text[mark], b' ' | b'0')
        {
            self.at = mark + 1;
            self.first = false;
        }
    }

    /// Tries the rules for the byte at `start`. Some(token or nothing) if one applied and `at` has moved.
    fn try_rules(&mut self, start: usize) -> Option<Option<(u32, usize, usize)>> {
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
                Kind::LineComment | Kind::Ceremony => Some(self.line_end(inner)),
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
            };
            let Some(end) = end else { continue };
            let is_string =
                matches!(rule.kind, Kind::Text { .. } | Kind::Char { .. } | Kind::Fenced { .. } | Kind::Tagged);
            // Only a comment of several lines leaves the line it began on.
            if let Some(last) = self.text[start..end].iter().rposition(|&b| b == b'\n') {
                self.line = start + last + 1;
            }
            self.at = end;
            if !is_string && self.line == end {
                self.enter_line(end); // a comment that is closed by the end of its line
            }
            if is_string {
                self.first = false;
                return Some(Some((self.kept(STRING, start), start, end)));
            }
            return Some(None);
        }
        None
    }

    /// The end found, or the end of the line if there is none in the whole text.
    fn ended(&mut self, rule: u16, from: usize, find: impl Fn(&Self) -> Option<usize>) -> usize {
        if !self.endless[rule as usize] {
            match find(self) {
                Some(end) => return end,
                None => self.endless[rule as usize] = true,
            }
        }
        self.line_end(from)
    }

    fn block_end(&self, open: &[u8], close: &[u8], nested: bool, from: usize) -> Option<usize> {
        let mut depth = 1;
        let mut at = from;
        while at < self.text.len() {
            let rest = &self.text[at..];
            if self.language.starts_with(rest, close) {
                depth -= 1;
                at += close.len();
                if depth == 0 {
                    return Some(at);
                }
            } else if nested && self.language.starts_with(rest, open) {
                depth += 1;
                at += open.len();
            } else {
                at += 1;
            }
        }
        None
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
        let mut at = from;
        while at < self.text.len() {
            if escape == Some(self.text[at]) {
                at += 2; // an escaped line end too
            } else if self.text[at] == b'\n' && !lines {
                return Err(at);
            } else if self.text[at..].starts_with(close) {
                at += close.len();
                if !doubled || !self.text[at..].starts_with(close) {
                    return Ok(at);
                }
                at += close.len();
            } else {
                at += 1;
            }
        }
        Err(self.text.len())
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
            while let Some(i) = memchr(close, &lexer.text[at..]) {
                at += i + 1;
                let behind = lexer.text[at..].iter().take(fences).take_while(|&&b| b == fence).count();
                // Lua's long brackets are closed by two brackets around the fences.
                let twin = close == b']';
                if behind == fences && (!twin || lexer.text.get(at + fences) == Some(&close)) {
                    return Some(at + fences + twin as usize);
                }
            }
            None
        };
        Some(self.ended(rule, inner, find))
    }

    fn tagged_end(&mut self, rule: u16, from: usize) -> Option<usize> {
        let tag = self.text[from..].iter().take(17).position(|&b| b == b'(')?;
        let inner = from + tag + 1;
        let close: Vec<u8> = [b")", &self.text[from..from + tag], b"\""].concat();
        Some(self.ended(rule, inner, |lexer| lexer.text_end(&close, None, false, true, inner).ok()))
    }
}

fn memchr(byte: u8, text: &[u8]) -> Option<usize> {
    text.iter().position(|&b| b == byte)
}
