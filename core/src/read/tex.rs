//! TeX and LaTeX -> the text that is on the typeset pages, in place.
//!
//! Commands are overwritten with spaces, so offsets in the result are offsets in the file. The front end drops
//! punctuation and accents, so neither needs care: `\"o` is read as o. Letters and digits of formulas stay, including
//! Greek letters and names like `\sin`, because they are on the page too. The author's own macros are not expanded;
//! their arguments count as text.

use crate::read::byte_search::find;
use crate::read::scan::{byte, find_word, is_space, line_end, skip, skip_some, skip_space, word};
use crate::read::tex_commands::{command, is_dropped, is_verbatim, opening};

/// Searches to the end of the file without result, after which the file counts as broken.
const MAX_FAILURES: usize = 8;
const LONGEST_OPTION: usize = 1000;
const FRONT_COMMANDS: [&[u8]; 5] = [b"title", b"subtitle", b"author", b"date", b"institute"];
/// How far back a comment may begin that `\begin{document}` stands in.
const LONGEST_COMMENT: usize = 1000;
const UNITS: [&[u8]; 10] = [b"pt", b"em", b"ex", b"cm", b"mm", b"in", b"bp", b"pc", b"sp", b"mu"];

/// Return a text in UTF-8 with spaces for everything that is not on the page, as long as before.
pub fn tex_page(data: &[u8]) -> Vec<u8> {
    let mut left = data.to_vec();
    if let Some(body) = body(data) {
        let front = Page { text: &data[..body], left: Vec::new(), failures: 0 }.front();
        left[..body].copy_from_slice(&front);
    }
    let text = left.clone();
    let mut page = Page { text: &text, left, failures: 0 };
    page.read();
    page.left
}

/// Return the offset behind the `\begin{document}` that is not in a comment.
fn body(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at = find_word(text, at, b"\\begin")?;
        let end = word(text, skip_space(text, at + 6), b"{document}");
        if let Some(end) = end
            && !is_in_comment(text, at)
        {
            return Some(end);
        }
        at = end.unwrap_or(at + 6);
    }
}

fn is_in_comment(text: &[u8], at: usize) -> bool {
    let before = text[at.saturating_sub(LONGEST_COMMENT)..at].iter().rev();
    before.take_while(|&&byte| !matches!(byte, b'\r' | b'\n')).any(|&byte| byte == b'%')
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'@'
}

/// Return the end of an option in brackets, which holds no brackets.
fn option(text: &[u8], at: usize, most: usize) -> Option<usize> {
    let start = byte(text, at, b'[')?;
    byte(text, skip_some(text, start, most, |b| !matches!(b, b'[' | b']')), b']')
}

/// Return the end of a command: a name, or any other character but a line feed if that is not allowed.
fn any_command(text: &[u8], at: usize, takes_line_feed: bool) -> Option<usize> {
    let start = byte(text, at, b'\\')?;
    match *text.get(start)? {
        first if is_letter(first) => Some(skip(text, start, is_letter)),
        b'\n' if !takes_line_feed => None,
        _ => Some(start + 1),
    }
}

/// Return whether an option sets something, as in `[width=3cm]`.
fn has_keys(text: &[u8], at: usize) -> bool {
    let keys = || {
        let start = skip_space(text, byte(text, at, b'[')?);
        text.get(start).filter(|first| first.is_ascii_lowercase())?;
        let end = skip_some(text, start + 1, 40, |b| b.is_ascii_alphabetic() || matches!(b, b' ' | b'-'));
        let value = byte(text, end, b'=').filter(|_| end > start + 1)?;
        byte(text, skip_some(text, value, LONGEST_OPTION, |b| !matches!(b, b'[' | b']')), b']')
    };
    keys().is_some()
}

fn unit(text: &[u8], at: usize) -> Option<usize> {
    let start = word(text, at, b"true").unwrap_or(at);
    let end = match UNITS.iter().find_map(|unit| word(text, start, unit)) {
        Some(end) => end,
        None => {
            let first = word(text, start, b"fi")?;
            let end = skip_some(text, first, 3, |b| b == b'l');
            (end > first).then_some(end)?
        }
    };
    text.get(end).is_none_or(|next| !next.is_ascii_alphabetic()).then_some(end)
}

/// Return the end of a number or a length, such as `=-1.5pt plus 1fil`.
fn length(text: &[u8], at: usize) -> Option<usize> {
    let is_digit = |b: u8| b.is_ascii_digit() || b == b'.';
    let digits = |at: usize| Some(skip(text, at, is_digit)).filter(|&end| end > at);
    let one_space = |at: usize| at + text.get(at).is_some_and(|&b| is_space(b)) as usize;
    let mut at = skip_space(text, at);
    at = skip_space(text, byte(text, at, b'=').unwrap_or(at));
    at += matches!(text.get(at), Some(b'-' | b'+')) as usize;
    let end = match text.get(at)? {
        b'"' => skip(text, at + 1, |b| matches!(b, b'0'..=b'9' | b'A'..=b'F')),
        b'\'' => skip(text, at + 1, |b| matches!(b, b'0'..=b'7')),
        _ => {
            let mut end = digits(at)?;
            end = unit(text, one_space(end)).unwrap_or(end);
            let stretch = |at: usize| {
                let at = one_space(at);
                let number = word(text, at, b"plus").or_else(|| word(text, at, b"minus"))?;
                unit(text, one_space(digits(one_space(number))?))
            };
            while let Some(then) = stretch(end) {
                end = then;
            }
            return Some(end);
        }
    };
    (end > at + 1).then_some(end)
}

/// Return the end of the name that `\def` defines and of its parameters.
fn defined(text: &[u8], at: usize) -> Option<usize> {
    let end = any_command(text, skip_space(text, at), false)?;
    Some(skip_some(text, end, 200, |b| !matches!(b, b'{' | b'}' | b'\r' | b'\n')))
}

/// Return the end of the two commands after `\let`.
fn let_equal(text: &[u8], at: usize) -> Option<usize> {
    let end = skip_space(text, any_command(text, skip_space(text, at), false)?);
    let end = skip_space(text, byte(text, end, b'=').unwrap_or(end));
    Some(any_command(text, end, false).unwrap_or(end))
}

/// Return the end of verbatim text between two equal marks on one line.
fn verbatim(text: &[u8], at: usize) -> Option<usize> {
    let mark = *text.get(at)?;
    if mark.is_ascii_alphabetic() || is_space(mark) || matches!(mark, b'*' | b'[' | b'{') {
        return None;
    }
    let end = find(text, at + 1, [mark, b'\n', b'\r']);
    byte(text, end, mark)
}

/// A file, and the text of it that is not blanked so far.
struct Page<'a> {
    text: &'a [u8],
    left: Vec<u8>,
    failures: usize,
}

impl Page<'_> {
    fn blank(&mut self, start: usize, end: usize) {
        self.left[start..end].fill(b' ');
    }

    /// Return the preamble with spaces for everything but title and authors.
    fn front(&mut self) -> Vec<u8> {
        let text = self.text;
        let mut front = vec![b' '; text.len()];
        let (mut at, mut end) = (0, 0);
        loop {
            let start = find(text, at, [b'\\', b'%']);
            match text.get(start) {
                None => return front,
                Some(b'%') => at = line_end(text, start),
                Some(_) => match self.front_command(start + 1) {
                    Some(argument) => {
                        at = argument;
                        if start >= end {
                            end = self.argument_end(argument).unwrap_or(argument);
                            front[argument..end].copy_from_slice(&text[argument..end]);
                        }
                    }
                    None => at = start + 2,
                },
            }
        }
    }

    /// Return where the argument of a command like `\title` begins.
    fn front_command(&self, at: usize) -> Option<usize> {
        let text = self.text;
        let end = FRONT_COMMANDS.iter().find_map(|name| word(text, at, name))?;
        let end = byte(text, end, b'*').unwrap_or(end);
        let end = skip_space(text, option(text, end, usize::MAX).unwrap_or(end));
        byte(text, end, b'{').map(|_| end)
    }

    fn read(&mut self) {
        let text = self.text;
        let mut at = 0;
        loop {
            let start = find(text, at, [b'\\', b'%']);
            let Some(&first) = text.get(start) else { return };
            if first == b'%' {
                at = line_end(text, start);
                self.blank(start, at);
                continue;
            }
            at = match text.get(start + 1) {
                None => return,
                Some(b'\\') => {
                    let end = byte(text, start + 2, b'*').unwrap_or(start + 2);
                    let end = option(text, end, 99).unwrap_or(end);
                    if end > start + 2 {
                        self.blank(start, end); // a line break with its height
                    }
                    end
                }
                Some(&letter) if is_letter(letter) => self.command(start),
                Some(_) => start + 2,
            };
        }
    }

    /// Blank a command and what follows it that is not text, and return where to continue.
    fn command(&mut self, start: usize) -> usize {
        let text = self.text;
        let name_end = skip(text, start + 1, is_letter);
        let name = &text[start + 1..name_end];
        let end = byte(text, name_end, b'*').unwrap_or(name_end);
        self.blank(start, end);
        let known = command(name);
        if let Some(known) = known {
            self.left[start..start + known.text.len()].copy_from_slice(known.text.as_bytes());
        }
        let guess = || match text.get(end) {
            Some(b'{' | b'[') => guessed(text, name, end),
            _ => "",
        };
        self.skip(end, known.and_then(|command| command.skipped).unwrap_or_else(guess))
    }

    /// Blank what is not text, in the letters of `tex_commands.rs`, and return where to continue.
    fn skip(&mut self, mut at: usize, items: &str) -> usize {
        let text = self.text;
        for item in items.bytes() {
            let end = match item {
                b'd' => self.dropped_argument(at),
                b'o' => option(text, skip_space(text, at), LONGEST_OPTION),
                b'g' => length(text, at),
                b'D' => defined(text, at),
                b'l' => let_equal(text, at),
                b'v' => return verbatim(text, at).unwrap_or(at),
                _ => return self.environment(at, item == b'E'),
            };
            if let Some(end) = end {
                self.blank(at, end);
                at = end;
            }
        }
        at
    }

    /// Return the end of an argument: in braces, or a single command.
    fn dropped_argument(&mut self, at: usize) -> Option<usize> {
        let start = skip_space(self.text, at);
        match self.text.get(start)? {
            b'{' => self.argument_end(start),
            _ => any_command(self.text, start, true),
        }
    }

    /// Blank the name of an environment, or all of one that is not read, and return where to continue.
    fn environment(&mut self, start: usize, is_end: bool) -> usize {
        let text = self.text;
        let Some((name, end)) = environment_name(text, start) else { return start };
        let end = if is_end && name == b"document" { text.len() } else { end };
        self.blank(start, end);
        if is_end {
            return end;
        }
        let start = self.skip(end, opening(name));
        let is_dropped = is_dropped(name);
        if !(is_dropped || is_verbatim(name)) || self.failures >= MAX_FAILURES {
            return start;
        }
        let closing = [b"\\end{", name, b"}"].concat();
        let Some(end) = find_word(text, start, &closing) else {
            self.failures += 1;
            return start;
        };
        if is_dropped {
            self.blank(start, end);
        }
        end
    }

    /// Return the offset behind the brace that closes the one here.
    fn argument_end(&mut self, start: usize) -> Option<usize> {
        let text = self.text;
        let mut at = find(text, start + 1, [b'{', b'}', b'\\', b'%']);
        if text.get(at) == Some(&b'}') {
            return Some(at + 1);
        }
        if self.failures >= MAX_FAILURES {
            return None;
        }
        let mut depth = 1;
        while let Some(byte) = text.get(at) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'\\' => at += 1,
                _ => at = line_end(text, at) - 1,
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
            at = find(text, at, [b'{', b'}', b'\\', b'%']);
        }
        self.failures += 1;
        None
    }
}

/// Return what to skip after a command that is not listed.
fn guessed(text: &[u8], name: &[u8], end: usize) -> &'static str {
    if name.windows(4).any(|part| part == b"cite") || name.ends_with(b"ref") {
        "ood"
    } else if name.windows(5).any(|part| part == b"index") {
        "d"
    } else if has_keys(text, end) {
        "o"
    } else {
        ""
    }
}

fn environment_name(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let start = skip_space(text, byte(text, skip_space(text, at), b'{')?);
    let end = Some(skip(text, start, is_letter)).filter(|&end| end > start)?;
    let end = byte(text, end, b'*').unwrap_or(end);
    Some((&text[start..end], byte(text, skip_space(text, end), b'}')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_arguments_are_searched_for_a_few_times_only() {
        let text = b"\\label{".repeat(1000);
        let mut page = Page { text: &text, left: text.clone(), failures: 0 };
        page.read();
        assert_eq!(page.failures, MAX_FAILURES);
    }
}
