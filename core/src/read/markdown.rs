//! Markdown -> what a reader of the rendered page sees, in place.
//!
//! Markup is overwritten with spaces, so offsets in the result are offsets in the file. The front end drops
//! punctuation, so only letters and digits need care: emphasis, tables and escapes stay. Nothing is searched for
//! again where a search has failed, so every text takes linear time.

use std::collections::HashSet;

use crate::read::byte_search::find;
use crate::read::code_spans::{Closing, blank_lines, lines};
use crate::read::html::entity;
use crate::read::scan::{byte, find_word, is_space, skip, skip_some, skip_space, word};

/// Longer runs are decoration, not code: the search for the end reads the text once for each length.
const MAX_BACKTICKS: usize = 32;
const LONGEST_TITLE: usize = 999;
const LONGEST_ATTRIBUTES: usize = 200;
/// Elements whose content is not shown.
const RAW: [&[u8]; 2] = [b"script", b"style"];

/// Return a text in UTF-8 with spaces for everything a reader does not see, as long as before.
pub fn markdown_page(data: &[u8]) -> Vec<u8> {
    let text = [b"\n", data].concat(); // so that every line begins behind a line feed
    let labels =
        HashSet::from_iter(lines(&text).filter_map(|line| label(&text, line)).map(|(label, _)| folded(label)));
    let mut page = Page {
        text: &text,
        left: data.to_vec(),
        labels,
        numbered: None,
        is_endless: [false; RAW.len() + 1],
        closings: [Closing::default(); MAX_BACKTICKS + 1],
    };
    let mut at = 0;
    if let Some(end) = front_matter(&text) {
        at = page.blank(1, end);
    }
    while at < text.len() {
        at = page.read(at);
        at = find_markup(&text, at);
    }
    page.left
}

/// Return the next byte that may be markup.
fn find_markup(text: &[u8], at: usize) -> usize {
    skip(text, at, |b| !matches!(b, b'\\' | b'\n' | b'`' | b'[' | b']' | b'<' | b'&' | b'{'))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Return the offset behind white space within a line and one line break.
fn skip_break(text: &[u8], at: usize) -> usize {
    let at = skip(text, at, is_blank);
    let line_feed = byte(text, at, b'\r').unwrap_or(at);
    byte(text, line_feed, b'\n').map_or(at, |then| skip(text, then, is_blank))
}

/// Return whether a line or the text ends here.
fn is_line_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|&byte| byte == b'\n')
}

/// Return the end of text between marks that are not in it.
fn between(text: &[u8], at: usize, open: u8, close: u8, most: usize) -> Option<usize> {
    let start = byte(text, at, open)?;
    byte(text, skip_some(text, start, most, |b| b != open && b != close), close)
}

/// Return the end of the title of a link.
fn title(text: &[u8], at: usize) -> Option<usize> {
    let (open, close) = match text.get(at)? {
        b'(' => (b'(', b')'),
        &quote @ (b'"' | b'\'') => (quote, quote),
        _ => return None,
    };
    between(text, at, open, close, LONGEST_TITLE)
}

/// Return the end of an address in angle brackets.
fn angle_address(text: &[u8], at: usize) -> Option<usize> {
    let start = byte(text, at, b'<')?;
    byte(text, skip(text, start, |b| !matches!(b, b'<' | b'>' | b'\n')), b'>')
}

/// Return the label that a line defines, as in `[label]: address`, and the offset behind the colon.
fn label(text: &[u8], line: usize) -> Option<(&[u8], usize)> {
    let start = byte(text, skip_some(text, line + 1, 3, |b| b == b' '), b'[')?;
    if text.get(start) == Some(&b'^') {
        return None;
    }
    let (mut at, mut count) = (start, 0);
    while count < 999 {
        at += match text.get(at) {
            None | Some(b'[' | b']' | b'\n') => break,
            Some(b'\\') if text.get(at + 1).is_none_or(|&next| next == b'\n') => break,
            Some(b'\\') => 2,
            Some(_) => 1,
        };
        count += 1;
    }
    word(text, at, b"]:").filter(|_| count > 0).map(|end| (&text[start..at], end))
}

/// Return the end of the definition of a label, whose address begins here, perhaps on the next line.
fn definition(text: &[u8], at: usize) -> Option<usize> {
    let start = skip_break(text, at);
    let end = match text.get(start)? {
        b'<' => angle_address(text, start)?,
        &first if is_space(first) => return None,
        _ => skip(text, start, |b| !is_space(b)),
    };
    let close = |end: usize| {
        let end = skip(text, end, is_blank);
        text.get(end).is_none_or(|b| matches!(b, b'\r' | b'\n')).then_some(end)
    };
    title(text, skip_break(text, end)).and_then(close).or_else(|| close(end))
}

/// Return the end of the address and title of a link, with the parentheses around them.
fn destination(text: &[u8], at: usize) -> Option<usize> {
    let is_address = |b: u8| !is_space(b) && !matches!(b, b'(' | b')');
    let start = skip_space(text, byte(text, at, b'(')?);
    let mut end = match text.get(start)? {
        b'<' => angle_address(text, start)?,
        _ => skip(text, start, |b| is_address(b) && b != b'<'),
    };
    while text[start] != b'<'
        && let Some(inner) = byte(text, end, b'(')
        && let Some(closed) = byte(text, skip(text, inner, is_address), b')')
    {
        end = skip(text, closed, is_address);
    }
    let spaced = skip_space(text, end);
    let titled = if spaced > end { title(text, spaced) } else { None };
    byte(text, skip_space(text, titled.unwrap_or(end)), b')')
}

/// Return the end of the front matter, which begins on the first line.
fn front_matter(text: &[u8]) -> Option<usize> {
    let start = word(text, 1, b"\xef\xbb\xbf").unwrap_or(1);
    let is_yaml = text.get(start) == Some(&b'-');
    let fence: &[u8] = if is_yaml { b"---" } else { b"+++" };
    let end = skip(text, word(text, start, fence)?, is_blank);
    let body = byte(text, byte(text, end, b'\r').unwrap_or(end), b'\n')?;
    if is_yaml && text.get(body) != Some(&b'#') {
        let is_key = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'"' | b'\'' | b'.' | b' ' | b'-');
        byte(text, skip(text, body, is_key), b':').filter(|&colon| colon > body + 1)?;
    }
    lines(&text[body..]).map(|line| body + line + 1).find_map(|line| {
        let end = word(text, line, fence).or_else(|| word(text, line, b"...").filter(|_| is_yaml))?;
        let end = skip(text, end, |b| matches!(b, b' ' | b'\t' | b'\r'));
        is_line_end(text, end).then_some(end)
    })
}

/// Return the label as it is compared: in small letters, with single spaces.
fn folded(label: &[u8]) -> Vec<u8> {
    let words: Vec<_> = label.split(|&b| is_space(b)).filter(|word| !word.is_empty()).collect();
    words.join(&b' ').to_ascii_lowercase()
}

/// A file that begins with a line feed, and the text of it, without that, that is not blanked so far.
struct Page<'a> {
    text: &'a [u8],
    left: Vec<u8>,
    /// Labels of links that the file defines.
    labels: HashSet<Vec<u8>>,
    /// The end of the number of the last list item, if no paragraph has begun since.
    numbered: Option<usize>,
    /// Whether the rest has no end of a raw element, or of a comment.
    is_endless: [bool; RAW.len() + 1],
    /// For every number of backticks, what was found last.
    closings: [Closing; MAX_BACKTICKS + 1],
}

impl Page<'_> {
    /// Overwrite a range and return its end.
    fn blank(&mut self, start: usize, end: usize) -> usize {
        self.left[start - 1..end - 1].fill(b' ');
        end
    }

    /// Read what begins here, and return where to continue.
    fn read(&mut self, at: usize) -> usize {
        let text = self.text;
        let next = at + 1;
        let end = match text[at] {
            b'\n' => self.line(at),
            b'\\' => text.get(next).filter(|b| b.is_ascii_punctuation()).map(|_| at + 2),
            b'`' => Some(self.code(at)),
            b'[' => footnote(text, next).map(|end| self.blank(next, end)),
            b']' => self.link(next),
            b'<' => self.tag(next),
            b'&' => self.character(at),
            b'{' => attributes(text, next).map(|end| self.blank(next, end)),
            _ => None,
        };
        end.unwrap_or(next)
    }

    /// Read what may begin a line: a fence, a number or a task of a list, or a definition.
    fn line(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        let start = skip(text, at + 1, |b| matches!(b, b' ' | b'\t' | b'>'));
        let number = skip_some(text, start, 9, |b| b.is_ascii_digit());
        let dot = match text.get(number) {
            Some(b'.' | b')') if number > start => Some(number + 1),
            _ => None,
        };
        let bullet = text.get(start).filter(|b| matches!(b, b'-' | b'*' | b'+')).map(|_| start + 1);
        let item = dot.or(bullet).map(|marker| (marker, skip(text, marker, is_blank)));
        let item = item.filter(|(marker, end)| end > marker).map(|(_, end)| end);
        if let Some(end) = self.fence(at, item.unwrap_or(start)) {
            return Some(end);
        }
        if let Some(dot) = dot
            && text.get(dot).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
        {
            let is_item = self.is_item(at, &text[start..number]);
            self.numbered = is_item.then(|| self.blank(start, number));
            return Some(dot);
        }
        if let (Some(_), Some(item)) = (bullet, item)
            && let Some([b'[', b'x' | b'X', b']', b' ' | b'\t']) = text.get(item..item + 4)
        {
            self.blank(item + 1, item + 2);
            return Some(item + 3);
        }
        let (_, colon) = label(text, at)?;
        definition(text, colon).map(|end| self.blank(at + 1, end))
    }

    /// Blank the first line of a block of code, which may name its language, and return the block's end.
    fn fence(&mut self, line: usize, start: usize) -> Option<usize> {
        let text = self.text;
        let mark = *text.get(start).filter(|b| matches!(b, b'`' | b'~'))?;
        let end = skip(text, start, |b| b == mark);
        let length = end - start;
        let line_end = find(text, end, [b'\n']);
        if length < 3 || (mark == b'`' && text[end..line_end].contains(&b'`')) {
            return None;
        }
        self.blank(line + 1, line_end);
        let closing = lines(&text[line_end..]).find_map(|next| {
            let start = skip(text, line_end + next + 1, |b| matches!(b, b' ' | b'\t' | b'>'));
            let end = skip(text, start, |b| b == mark);
            let then = skip(text, end, |b| matches!(b, b' ' | b'\t' | b'\r'));
            (end - start >= length && is_line_end(text, then)).then_some(then)
        });
        Some(closing.unwrap_or(text.len()))
    }

    /// Return the end of code within a line, if as many backticks close it in the same paragraph.
    fn code(&mut self, at: usize) -> usize {
        let text = self.text;
        let start = skip(text, at, |b| b == b'`');
        let length = start - at;
        let Some(closing) = self.closings.get_mut(length) else { return start };
        // Behind an escape, a part of a run may open code that the whole run does not close.
        if closing.start < start {
            *closing = Closing::find(text, start, length);
        }
        let is_code = closing.start < text.len() && closing.blank_line.is_none_or(|line| line < start);
        if is_code { closing.start + length } else { start }
    }

    /// Blank the address behind the text of a link, or the label that stands for it.
    fn link(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        if let Some(end) = destination(text, at) {
            return Some(self.blank(at, end));
        }
        let start = byte(text, at, b'[').filter(|&start| text.get(start) != Some(&b'^'))?;
        let end = skip_some(text, start, 999, |b| !matches!(b, b'[' | b']'));
        let then = byte(text, end, b']').filter(|_| end > start)?;
        if self.labels.contains(&folded(&text[start..end])) {
            self.blank(start, end);
        }
        Some(then)
    }

    /// Blank a tag, a comment or a declaration, and all of what is not shown.
    fn tag(&mut self, start: usize) -> Option<usize> {
        let text = self.text;
        if let Some(end) = word(text, start, b"!--") {
            return Some(self.raw(start, end, RAW.len()));
        }
        let Some((name, end)) = tag(text, start) else {
            return declaration(text, start).map(|end| self.blank(start, end));
        };
        Some(match RAW.iter().position(|raw| name.eq_ignore_ascii_case(raw)) {
            Some(kind) => self.raw(start, end, kind),
            None => self.blank(start, end),
        })
    }

    /// Blank something that is not shown, up to its end. An end that does not occur is searched for once.
    fn raw(&mut self, start: usize, end: usize, kind: usize) -> usize {
        let closing = if self.is_endless[kind] { None } else { self.raw_end(end, kind) };
        self.is_endless[kind] = closing.is_none();
        self.blank(start, closing.unwrap_or(end))
    }

    fn raw_end(&self, at: usize, kind: usize) -> Option<usize> {
        let text = self.text;
        let Some(name) = RAW.get(kind) else { return find_word(text, at, b"-->").map(|at| at + 3) };
        let mut at = at;
        loop {
            at = find_word(text, at, b"</")? + 2;
            let found = text.get(at..at + name.len()).is_some_and(|close| close.eq_ignore_ascii_case(name));
            if found && let Some(end) = byte(text, skip_space(text, at + name.len()), b'>') {
                return Some(end);
            }
        }
    }

    /// Write the character that a reference such as `&eacute;` stands for in its place.
    fn character(&mut self, at: usize) -> Option<usize> {
        let (codes, end) = entity(self.text, at)?;
        let shown: String = codes.iter().map(|&code| shown_character(code)).collect();
        self.blank(at, end);
        // A character that does not fit is a sign with a mark, not a letter, and is not read anyway.
        if shown.len() <= end - at {
            self.left[at - 1..at - 1 + shown.len()].copy_from_slice(shown.as_bytes());
        }
        Some(end)
    }

    /// Return whether a number at the start of a line begins a list item: in a paragraph, only 1 does.
    fn is_item(&self, line: usize, number: &[u8]) -> bool {
        let before = &self.text[..line];
        let is_one = number.last() == Some(&b'1') && number[..number.len() - 1].iter().all(|&b| b == b'0');
        let is_first = line == 0 || before.ends_with(b"\n") || before.ends_with(b"\n\r");
        is_one
            || is_first
            || self.numbered.is_some_and(|end| blank_lines(self.text, end, line).next().is_none())
    }
}

/// Return the character of a code point, or a replacement for those that have none or may not be shown.
fn shown_character(code: u32) -> char {
    char::from_u32(code).filter(|&shown| shown != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Return the end of a mark for a footnote, such as `^1]`.
fn footnote(text: &[u8], at: usize) -> Option<usize> {
    let start = byte(text, at, b'^')?;
    let end = skip_some(text, start, 999, |b| !is_space(b) && !matches!(b, b'[' | b']'));
    byte(text, end, b']').filter(|_| end > start)
}

/// Return the end of the attributes of a block, such as `#name .class}` at the end of a line.
fn attributes(text: &[u8], at: usize) -> Option<usize> {
    text.get(at).filter(|b| matches!(b, b':' | b'#' | b'.'))?;
    let end = skip_some(text, at + 1, LONGEST_ATTRIBUTES, |b| !matches!(b, b'{' | b'}' | b'\n'));
    let closed = byte(text, end, b'}').filter(|_| end > at + 1)?;
    is_line_end(text, skip(text, closed, |b| matches!(b, b' ' | b'\t' | b'\r'))).then_some(closed)
}

/// Return the name and the end of a tag. Quotes hide what would end it.
fn tag(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let start = byte(text, at, b'/').unwrap_or(at);
    text.get(start).filter(|first| first.is_ascii_alphabetic())?;
    let name_end = skip(text, start, |b| b.is_ascii_alphanumeric() || b == b'-');
    text.get(name_end).filter(|&&b| is_space(b) || matches!(b, b'/' | b'>'))?;
    let mut end = name_end;
    loop {
        end = find(text, end, [b'<', b'>', b'"', b'\'']);
        match *text.get(end)? {
            b'>' => return Some((&text[start..name_end], end + 1)),
            b'<' => return None,
            quote => end = byte(text, find(text, end + 1, [quote]), quote)?,
        }
    }
}

fn declaration(text: &[u8], at: usize) -> Option<usize> {
    text.get(at).filter(|b| matches!(b, b'!' | b'?'))?;
    text.get(at + 1).filter(|b| b.is_ascii_alphabetic() || **b == b'[')?;
    byte(text, find(text, at + 2, [b'<', b'>']), b'>')
}
