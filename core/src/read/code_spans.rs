//! Where code between backticks ends in Markdown: at a run of as many backticks in the same paragraph.

use crate::read::byte_search::find;
use crate::read::scan::{byte, skip};

/// Yield the offset of every line feed that begins a line.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = usize> {
    let next = |at: usize| Some(find(text, at, [b'\n'])).filter(|&at| at < text.len());
    std::iter::successors(next(0), move |&at| next(at + 1))
}

/// Yield the lines that begin in a range, end there, and have at most white space.
pub(crate) fn blank_lines(text: &[u8], start: usize, end: usize) -> impl Iterator<Item = usize> {
    let text = &text[..end];
    let is_blank = move |line: usize| {
        byte(text, skip(text, line + 1, |b| matches!(b, b' ' | b'\t' | b'\r')), b'\n').is_some()
    };
    lines(&text[start..]).map(move |line| start + line).filter(move |&line| is_blank(line))
}

/// The next run of this many backticks, or the end of the text if there is none, and the last blank line before it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Closing {
    pub(crate) start: usize,
    pub(crate) blank_line: Option<usize>,
}

impl Closing {
    pub(crate) fn find(text: &[u8], from: usize, length: usize) -> Self {
        let mut start = find(text, from, [b'`']);
        while start < text.len() {
            let end = skip(text, start, |b| b == b'`');
            if end - start == length {
                break;
            }
            start = find(text, end, [b'`']);
        }
        Closing { start, blank_line: blank_lines(text, from, start).last() }
    }
}
