//! Where tokens and comments end.
//!
//! What is not closed ends with its line or is a mark, so broken code loses little. A search that fails is not
//! repeated, so hostile code takes no longer than other code.

use crate::read::byte_search::{eight, find, find_line, line_end, word_length};
use crate::read::language::{Class, Outside};
use crate::read::lexer::Lexer;

/// Bytes. The longest word that closes a string of several lines.
const MAX_WORD: usize = 64;

/// Bytes. The longest regular expression: what is not closed is looked at again from every mark in it.
const MAX_PATTERN: usize = 512;

/// How often the line that closes such a string may be missing before every opening is taken for an operator: each failure
/// costs a search of the rest of the text.
const MAX_OPERATORS: u8 = 16;

impl Lexer<'_> {
    #[inline(always)]
    pub(super) fn name_end(&self, from: usize) -> usize {
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
            // Bytes that only the names of this language have, and the last bytes of the text.
            if !text.get(at).is_some_and(|&b| self.language.inside[b as usize]) {
                return at;
            }
            at += 1;
        }
    }

    /// Return whether a point begins a number: it does in .5 but not in a.5, 1..5 or f().5.
    pub(super) fn is_fraction(&self, point: usize) -> bool {
        let before = if point == 0 { b' ' } else { self.text[point - 1] };
        self.text.get(point + 1).is_some_and(u8::is_ascii_digit)
            && !self.language.inside[before as usize]
            && !matches!(before, b'.' | b')' | b']' | b'}')
    }

    /// Return the end of a number: digits, letters, points between digits, and the sign of an exponent.
    pub(super) fn number_end(&self, start: usize) -> usize {
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

    /// Return the end that `find` finds, or the end of the line if there is none or it opens something else.
    pub(super) fn end_or_line(
        &mut self,
        rule: u16,
        from: usize,
        find: impl Fn(&Self) -> Option<usize>,
    ) -> usize {
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

    /// Return the end of the line, or of the program if that comes first.
    pub(super) fn comment_end(&self, from: usize) -> usize {
        let end = line_end(self.text, from);
        let Some(Outside { close, .. }) = &self.language.outside else { return end };
        self.text[from..end].windows(close.len()).position(|w| w == close).map_or(end, |n| from + n)
    }

    /// Return the end of a ceremony: behind the mark that ends its statement, or its list, else the end of its line.
    /// What follows on the line is still the first thing on it, so that several imports may share a line.
    pub(super) fn ceremony_end(&mut self, start: usize, inner: usize) -> usize {
        let (language, text) = (self.language, self.text);
        let mut depth = 0;
        let mut at = start;
        self.first = false; // so that comments and strings are found in it, but no other ceremony
        while at < text.len() && text[at] != b'\n' {
            let (begin, byte) = (at, text[at]);
            if language.outside.as_ref().is_some_and(|outside| text[at..].starts_with(&outside.close)) {
                break;
            }
            if language.may_begin(byte, text.get(at + 1).copied().unwrap_or(0))
                && let Some((_, end)) = self.try_rules(at)
            {
                at = end;
                if text[begin..end].contains(&b'\n') {
                    break;
                }
                continue;
            }
            if text[start] == b'(' {
                depth += (byte == b'(') as isize;
                depth -= (byte == b')') as isize;
                if depth == 0 {
                    // It may be the last of the lists around it, whose other lines are ceremonies too.
                    at += text[at..].iter().take_while(|&&b| b == b')').count();
                    break;
                }
            } else if let Some(length) = self.ceremony_mark(at) {
                at += length;
                while let Some(length) = self.ceremony_mark(at) {
                    at += length;
                }
                break;
            }
            at = if language.classes[byte as usize] == Class::Name { self.name_end(at + 1) } else { at + 1 };
        }
        self.first = true;
        at.max(inner)
    }

    /// Return the length of a mark that ends a ceremony.
    fn ceremony_mark(&self, at: usize) -> Option<usize> {
        self.language.ceremony_ends.iter().find(|mark| self.text[at..].starts_with(mark)).map(Vec::len)
    }

    /// Return the offset behind the next mark that begins a program within a page.
    pub(super) fn program(&self, from: usize) -> Option<usize> {
        let outside = self.language.outside.as_ref()?;
        let behind = self.block_end(&[], &outside.open, false, from)?;
        Some(behind + outside.rest_of_mark(&self.text[behind..]))
    }

    /// Return the offset behind the close of a comment.
    pub(super) fn block_end(&self, open: &[u8], close: &[u8], nested: bool, from: usize) -> Option<usize> {
        let (text, last) = (self.text, close.len() - 1);
        if !nested {
            // By the last byte of the close: many comments are full of the first.
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

    /// Return a byte, and the same letter in the other case if case is ignored.
    pub(super) fn cases(&self, byte: u8) -> [u8; 2] {
        let letter = self.language.ignore_case && byte.is_ascii_alphabetic();
        [byte, if letter { byte ^ 0x20 } else { byte }]
    }

    /// Return the offset behind the close of a string. The error is where it breaks off: at the end of its line, unless it
    /// may have several.
    pub(super) fn text_end(
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
        // The line end that closes a string is not part of it.
        let at_line_end = |at: usize| if close == b"\n" { Ok(at) } else { Err(at) };
        let mut at = from;
        loop {
            at = find(text, at, stops);
            if at >= text.len() {
                return at_line_end(text.len());
            }
            if escape == Some(text[at]) {
                at += 2; // also an escaped line end
            } else if text[at] == b'\n' && !lines {
                return at_line_end(at);
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

    /// Return the end of a string that cannot span lines. If it is not closed on its line, what looked like an escaped
    /// or doubled close was one, because dialects differ in what a backslash means. If there is none at all, the string
    /// is only its opening, and what follows is code: it may close a string of several lines, or transpose a matrix.
    pub(super) fn end_on_line(
        &mut self,
        rule: u16,
        close: &[u8],
        escape: Option<u8>,
        doubled: bool,
        from: usize,
    ) -> usize {
        let rule = rule as usize;
        if from >= self.unclosed[rule] {
            match self.text_end(close, escape, doubled, false, from) {
                Ok(end) => return end,
                Err(stop) => self.unclosed[rule] = stop,
            }
        }
        if from < self.closeless[rule] {
            return from;
        }
        self.text_end(close, None, false, false, from).unwrap_or_else(|stop| {
            self.closeless[rule] = stop;
            from
        })
    }

    /// Return the end of a regular expression with its flags, unless the mark that would open it is an operator.
    pub(super) fn pattern_end(
        &self,
        after: &[u8],
        words: &[Vec<u8>],
        start: usize,
        inner: usize,
    ) -> Option<usize> {
        let text = self.text;
        let next = *text.get(inner)?;
        if matches!(next, b'>' | b'{') || !self.may_precede_pattern(after, words, start) {
            return None; // in <a /> the mark closes a tag, in {a}/{b} it stands in one
        }
        let is_inside = |at: &usize| self.language.inside[text[*at] as usize];
        let (mut at, mut is_in_class) = (inner, false);
        while at < text.len().min(inner + MAX_PATTERN) && text[at] != b'\n' {
            match text[at] {
                b'\\' => at += 1,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                byte if byte == text[start] && !is_in_class => {
                    return Some(at + 1 + (at + 1..text.len()).take_while(is_inside).count());
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Return whether a value may stand at `start`, rather than an operator.
    fn may_precede_pattern(&self, after: &[u8], words: &[Vec<u8>], start: usize) -> bool {
        let before = self.text[..start].trim_ascii_end();
        let Some((&last, rest)) = before.split_last() else { return true };
        if !self.language.inside[last as usize] {
            let is_step = matches!(last, b'+' | b'-') && rest.last() == Some(&last); // i++ / 2
            return after.contains(&last) && !is_step;
        }
        words.iter().any(|word| {
            let ahead = before.strip_suffix(word.as_slice());
            ahead.is_some_and(|ahead| {
                ahead.last().is_none_or(|&b| !self.language.inside[b as usize] && b != b'.')
            })
        })
    }

    /// Return the end of a character in quotes: one of up to four bytes, or an escape of up to ten.
    pub(super) fn char_end(&self, quote: u8, escape: Option<u8>, from: usize) -> Option<usize> {
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

    /// Return the end of a string between fences, if a quote follows the fence.
    pub(super) fn fenced_end(
        &mut self,
        rule: u16,
        fence: u8,
        quote: u8,
        close: u8,
        from: usize,
    ) -> Option<usize> {
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
        Some(self.end_or_line(rule, inner, find))
    }

    /// Return the end of a string that is closed by a line. If no word follows, or no line begins with it, it is an
    /// operator.
    pub(super) fn here_end(&mut self, rule: u16, from: usize) -> Option<usize> {
        let quote = self.text.get(from).filter(|b| matches!(b, b'"' | b'\'' | b'`'));
        let start = from + quote.is_some() as usize;
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let length = self.text.get(start..)?.iter().take(MAX_WORD).take_while(is_word).count();
        let word = &self.text[start..start + length];
        let closed = quote.is_none() || self.text.get(start + length) == quote;
        if !closed
            || word.first().is_none_or(u8::is_ascii_digit)
            || self.failures[rule as usize] >= MAX_OPERATORS
        {
            return None;
        }
        let end = find_line(self.text, start + length, word, &self.language.inside);
        self.failures[rule as usize] += end.is_none() as u8;
        end
    }

    /// Return the end of a string that is closed by the word before its bracket.
    pub(super) fn tagged_end(&mut self, rule: u16, from: usize) -> Option<usize> {
        let tag = self.text[from..].iter().take(17).position(|&b| b == b'(')?;
        let inner = from + tag + 1;
        let close: Vec<u8> = [b")", &self.text[from..from + tag], b"\""].concat();
        Some(self.end_or_line(rule, inner, |lexer| lexer.text_end(&close, None, false, true, inner).ok()))
    }
}
